import { FarsideError } from "../errors.ts";
import { read, write } from "./messagepack.ts";
import { check, DEFAULT_LIMITS, escapeBytes, type Limits, unescapeBytes } from "./values.ts";

/** What one WebSocket frame carries: text or binary. */
export type Frame = string | Uint8Array<ArrayBuffer>;

/** Turns a message into a frame and back. */
export interface Codec {
  /** The WebSocket subprotocol that asks for this encoding. */
  readonly protocol: string;
  /** Throws `invalid_value`, `too_deep` or `too_large`. */
  encode(message: unknown, limits?: Limits): Frame;
  /** Throws `malformed_frame`, `invalid_value`, `too_deep` or `too_large`. */
  decode(frame: Frame, limits?: Limits): unknown;
}

/** JSON in text frames; bytes travel as `{"$bytes": "<base64url>"}`. */
export const JSON_CODEC: Codec = {
  protocol: "farside.v1.json",

  encode(message, limits = DEFAULT_LIMITS) {
    const needsEscape = check(message, limits);
    const text = JSON.stringify(needsEscape ? escapeBytes(message) : message);
    fits(byteLength(text, limits), limits);
    return text;
  },

  decode(frame, limits = DEFAULT_LIMITS) {
    if (typeof frame !== "string") {
      throw new FarsideError("malformed_frame", "expected a text frame, got a binary one");
    }
    fits(byteLength(frame, limits), limits);
    let value: unknown;
    try {
      value = JSON.parse(frame);
    } catch (cause) {
      throw new FarsideError("malformed_frame", "expected JSON", { cause });
    }
    return check(value, limits, true) ? unescapeBytes(value) : value;
  },
};

/** MessagePack in binary frames; bytes travel as bytes. */
export const MESSAGEPACK_CODEC: Codec = {
  protocol: "farside.v1.msgpack",

  encode(message, limits = DEFAULT_LIMITS) {
    check(message, limits);
    const frame = write(message);
    fits(frame.length, limits);
    return frame;
  },

  decode(frame, limits = DEFAULT_LIMITS) {
    if (typeof frame === "string") {
      throw new FarsideError("malformed_frame", "expected a binary frame, got a text one");
    }
    fits(frame.length, limits);
    const value = read(frame, limits.depth);
    check(value, limits);
    return value;
  },
};

/** The length as UTF-8, counted only where it may matter: a UTF-16 unit becomes at most three bytes. */
function byteLength(text: string, limits: Limits): number {
  return text.length * 3 > limits.frame_bytes ? new TextEncoder().encode(text).length : text.length;
}

function fits(size: number, limits: Limits): void {
  if (size > limits.frame_bytes) {
    throw new FarsideError(
      "too_large",
      `expected a frame of at most ${limits.frame_bytes} bytes, got ${size}`,
    );
  }
}
