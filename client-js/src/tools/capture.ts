import { tool } from "../tool/tool.ts";
import * as declarations from "./declarations.gen.ts";
import { refused, stateOf, unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

/** Options of {@link takePhoto}. */
export interface TakePhotoOptions {
  /** How long the camera adapts to the light, in milliseconds: its first pictures are dark. By default 300. */
  readonly warmUpMs?: number;
}

/** Options of {@link recordAudio}. */
export interface RecordAudioOptions {
  /** How long a clip may be. By default 60. */
  readonly maxSeconds?: number;
}

/**
 * `take_photo`: the agent takes a photo, and gets it as a JPEG image.
 *
 * Permission: `camera`, the browser asks. Click: none. Not idempotent. However the call ends, the camera is off afterwards.
 */
export const takePhoto = ({ warmUpMs = 300 }: TakePhotoOptions = {}) =>
  tool({ ...declarations.take_photo, permissions: ["camera"] }).implement(
    ({ facing, max_width }, { signal }) => {
      const video = { facingMode: facing, width: { ideal: max_width } };
      return capture("camera", { video }, signal, (stream) => photograph(stream, max_width, warmUpMs));
    },
  );

/**
 * `record_audio`: the agent hears a clip of the microphone. When the recording begins the call's progress is
 * `{ recording: true }`.
 *
 * Permission: `microphone`, the browser asks. Click: none. Not idempotent. However the call ends, the microphone is off
 * afterwards.
 */
export const recordAudio = ({ maxSeconds = 60 }: RecordAudioOptions = {}) =>
  tool({ ...declarations.record_audio, permissions: ["microphone"] }).implement(
    ({ seconds }, { signal, progress }) => {
      if (!(seconds > 0 && seconds <= maxSeconds)) {
        throw refused("invalid_args", `Expected at most ${maxSeconds} seconds, got ${seconds}.`);
      }
      if (!("MediaRecorder" in globalThis)) throw unsupported("MediaRecorder");
      const begun = () => progress({ recording: true });
      return capture("microphone", { audio: true }, signal, (stream) => record(stream, seconds, begun));
    },
  );

/** Does something with a device, which is off afterwards. */
async function capture<T>(
  device: "camera" | "microphone",
  wanted: MediaStreamConstraints,
  signal: AbortSignal,
  use: (stream: MediaStream) => Promise<T>,
): Promise<T> {
  const { mediaDevices } = navigator as Partial<Navigator>;
  if (!mediaDevices)
    throw refused("unsupported", `A page has a ${device} only where it is served over https.`);
  signal.throwIfAborted();
  const asked = mediaDevices.getUserMedia(wanted);
  const stop = (stream: MediaStream) => {
    for (const track of stream.getTracks()) track.stop();
  };
  try {
    return await until(
      signal,
      asked.then(use, (error) => refuse(device, error)),
    );
  } finally {
    // Also the stream that is still to come, where the browser is asking the user: nobody waits for it any more.
    asked.then(stop, () => {});
  }
}

/** Neither device needs a click: a browser that does not allow it was told so, or its question was closed. */
async function refuse(device: string, error: unknown): Promise<never> {
  const { name, message } = Object(error) as Error;
  if (name === "NotFoundError" || name === "OverconstrainedError") {
    throw refused("unsupported", `There is no such ${device}: ${message}`, error);
  }
  if (name !== "NotAllowedError") throw error;
  throw refused((await stateOf(device)) === "prompt" ? "dismissed" : "permission_denied", message, error);
}

async function photograph(stream: MediaStream, maxWidth: number, warmUpMs: number) {
  const video = document.createElement("video");
  Object.assign(video, { muted: true, playsInline: true, srcObject: stream });
  await video.play();
  await new Promise((done) => setTimeout(done, warmUpMs));
  const scale = Math.min(1, maxWidth / video.videoWidth);
  const canvas = new OffscreenCanvas(video.videoWidth * scale, video.videoHeight * scale);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  context.drawImage(video, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.9 });
}

/** It ends by itself when the stream does: when the call is withdrawn, or the microphone is gone. */
async function record(stream: MediaStream, seconds: number, begun: () => void) {
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => void parts.push(data);
  const ended = new Promise((resolve, reject) => {
    recorder.onstop = resolve;
    recorder.onerror = (event) => reject((event as Event & { readonly error?: unknown }).error);
  });
  recorder.start();
  begun();
  const timer = setTimeout(() => recorder.stop(), seconds * 1000);
  await ended.finally(() => clearTimeout(timer));
  return new Blob(parts, { type: recorder.mimeType });
}
