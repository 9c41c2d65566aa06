import { tool } from "../tool/tool.ts";
import { NEEDS_CLICK } from "./activation.ts";
import * as declarations from "./declarations.gen.ts";
import { asking, refused, unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

const READ = "clipboard-read";
const WRITE = "clipboard-write";
/** What all browsers can draw; a small SVG document may claim to be far larger. */
const MAX_PIXELS = 4096 * 4096;

/**
 * `read_clipboard_text`: the text on the clipboard; empty where there is none.
 *
 * Permission: `clipboard-read`, the browser asks. Click: needed, not used up. Idempotent.
 */
export const readClipboardText = () =>
  tool({ ...declarations.read_clipboard_text, permissions: [READ] }).implement(async (_, { signal }) => {
    const clipboard = clipboardHere("readText");
    return {
      text: await until(
        signal,
        asking(() => clipboard.readText(), READ),
      ),
    };
  }, NEEDS_CLICK);

/**
 * `write_clipboard_text`: replaces what is on the clipboard.
 *
 * Permission: `clipboard-write`, which browsers grant with the click. Click: needed, not used up. Idempotent.
 */
export const writeClipboardText = () =>
  tool({ ...declarations.write_clipboard_text, permissions: [WRITE] }).implement(
    async ({ text }, { signal }) => {
      const clipboard = clipboardHere("writeText");
      await until(
        signal,
        asking(() => clipboard.writeText(text), WRITE),
      );
      return { copied: true };
    },
    NEEDS_CLICK,
  );

/**
 * `read_clipboard_image`: the image on the clipboard, mostly as PNG.
 *
 * Permission: `clipboard-read`, the browser asks. Click: needed, not used up. Idempotent.
 */
export const readClipboardImage = () =>
  tool({ ...declarations.read_clipboard_image, permissions: [READ] }).implement(async (_, { signal }) => {
    const clipboard = clipboardHere("read");
    for (const item of await until(
      signal,
      asking(() => clipboard.read(), READ),
    )) {
      const type = item.types.find((type) => type.startsWith("image/"));
      if (type !== undefined) return item.getType(type);
    }
    throw refused("failed", "There is no image on the clipboard.");
  }, NEEDS_CLICK);

/**
 * `write_clipboard_image`: replaces what is on the clipboard by an image, given as SVG or as a data: URL, in PNG.
 *
 * Permission: `clipboard-write`, which browsers grant with the click. Click: needed, not used up. Idempotent.
 */
export const writeClipboardImage = () =>
  tool({ ...declarations.write_clipboard_image, permissions: [WRITE] }).implement(
    async ({ image }, { signal }) => {
      const clipboard = clipboardHere("write");
      // A promise, so that the browser is asked within the click.
      const png = pngOf(image);
      // It may fail before the browser has looked at it.
      png.catch(() => {});
      const write = () => clipboard.write([new ClipboardItem({ "image/png": png })]);
      try {
        await until(signal, asking(write, WRITE));
      } catch (error) {
        await png;
        throw error;
      }
      return { copied: true };
    },
    NEEDS_CLICK,
  );

function clipboardHere(method: keyof Clipboard): Clipboard {
  const { clipboard } = navigator;
  if (!clipboard?.[method]) throw unsupported("clipboard");
  return clipboard;
}

/** An image as PNG. In an image, SVG runs no script and loads nothing. */
async function pngOf(image: string): Promise<Blob> {
  const picture = new Image();
  picture.src = /^data:image\//i.test(image) ? image : `data:image/svg+xml,${encodeURIComponent(image)}`;
  const canvas = document.createElement("canvas");
  try {
    await picture.decode();
    const { naturalWidth: width, naturalHeight: height } = picture;
    if (width * height > MAX_PIXELS) {
      throw new RangeError(`at most ${MAX_PIXELS} pixels (4096 x 4096), got ${width} x ${height}`);
    }
    Object.assign(canvas, { width, height });
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
  } catch (error) {
    const expected =
      "expected an SVG document or a data: URL of an image, got something that cannot be drawn";
    throw refused("invalid_args", `image: ${expected}: ${error}`, error);
  }
  const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (png === null)
    throw refused("invalid_args", "image: expected one of a size, got one without, or too large");
  return png;
}
