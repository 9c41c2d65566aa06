import { attempt } from "../attempt.ts";
import { hasGesture } from "../tool/gesture.ts";
import { CONSUMES_CLICK } from "./activation.ts";
import * as declarations from "./declarations.gen.ts";
import { asking, refused } from "./refusal.ts";
import { until } from "./waiting.ts";

/** The pickers, where the browser has them. */
interface Pickers {
  showOpenFilePicker?(options: object): Promise<{ getFile(): Promise<File> }[]>;
  showSaveFilePicker?(options: object): Promise<FileSystemFileHandle>;
}

/** Options of {@link openFile}. */
export interface OpenFileOptions {
  /** How many bytes all chosen files may have together. By default 8 MiB. */
  readonly maxBytes?: number;
  /** The only types that are taken: MIME types (`"text/csv"`, `"image/*"`) and extensions (`".csv"`). By default all. */
  readonly accept?: readonly string[];
}

/** Options of {@link saveFile}. */
export interface SaveFileOptions {
  /** How many bytes a file may have. By default 32 MiB. */
  readonly maxBytes?: number;
  /**
   * Whether the user chooses where to, in browsers that can ask, apart from frames of other origins. Without it, it is a download,
   * which needs no click.
   */
  readonly picker?: boolean;
}

/**
 * `open_file`: the user chooses a file of the device, and the agent reads it.
 *
 * Permission: none, the user chooses. Click: required, and used up. Idempotent: the user is asked again. A picker that the
 * user closes is `dismissed`.
 */
export const openFile = ({ maxBytes = 8 * 1024 * 1024, accept: taken = [] }: OpenFileOptions = {}) =>
  declarations.open_file.implement(async ({ accept, multiple, read_as }, { signal }) => {
    needClick();
    const files = await until(signal, choose(accept.length > 0 ? accept : taken, multiple));
    const other = files.find((file) => !isOfType(file, taken));
    if (other) throw refused("failed", `Expected a file of ${taken.join(", ")}, got ${other.name}.`);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    if (size > maxBytes) {
      throw refused("failed", `Expected at most ${maxBytes} bytes, got ${size}: choose smaller files.`);
    }
    return { files: read_as === "bytes" ? files : await until(signal, Promise.all(files.map(textOf))) };
  }, CONSUMES_CLICK);

/**
 * `save_file`: the agent hands the user a file.
 *
 * Permission: none. Click: required, and used up, where the user is asked where to; a download needs none. Not idempotent.
 * A picker that the user closes is `dismissed`; of a download nobody knows whether the user keeps it.
 */
export const saveFile = ({ maxBytes = 32 * 1024 * 1024, picker = true }: SaveFileOptions = {}) => {
  const { showSaveFilePicker } = globalThis as Pickers;
  const asks = picker && showSaveFilePicker !== undefined && isOfTopOrigin();
  return declarations.save_file.implement(
    async (args, { signal }) => {
      const { name } = args;
      const blob = blobOf(args);
      const { size } = blob;
      if (size > maxBytes) {
        throw refused("invalid_args", `Expected at most ${maxBytes} bytes, got ${size}: save less.`);
      }
      if (!asks) {
        download(blob, name);
        return { name, size, how: "downloaded" as const };
      }
      needClick();
      const asked = asking(() => showSaveFilePicker({ suggestedName: name }));
      const handle = await until(signal, asked);
      await blob.stream().pipeTo(await handle.createWritable(), { signal });
      return { name: handle.name, size, how: "picked" as const };
    },
    asks ? CONSUMES_CLICK : {},
  );
};

/** Without a click a picker throws, and a click on an input does nothing at all, for ever. */
function needClick(): void {
  if (!hasGesture()) throw refused("needs_gesture", "A file picker opens only right after a click or a key.");
}

/** Whether a file is of one of the types: MIME types, families of them (`image/*`), extensions. No types are all. */
function isOfType({ name, type }: Pick<File, "name" | "type">, types: readonly string[]): boolean {
  const isOf = (each: string) => {
    if (each.startsWith(".")) return name.toLowerCase().endsWith(each.toLowerCase());
    return each.endsWith("/*") ? type.startsWith(each.slice(0, -1)) : type === each;
  };
  return types.length === 0 || types.some(isOf);
}

async function choose(accept: readonly string[], multiple: boolean): Promise<File[]> {
  const { showOpenFilePicker } = globalThis as Pickers;
  if (showOpenFilePicker && isOfTopOrigin()) {
    const types = accept.length > 0 ? { types: [{ accept: pickerTypes(accept) }] } : {};
    const handles = await asking(() => showOpenFilePicker({ multiple, ...types }));
    return Promise.all(handles.map((handle) => handle.getFile()));
  }
  const input = document.createElement("input");
  Object.assign(input, { type: "file", hidden: true, multiple, accept: accept.join() });
  // Some browsers forget an input that is nowhere in the document.
  document.body.append(input);
  try {
    return await new Promise((resolve, reject) => {
      input.onchange = () => resolve([...(input.files ?? [])]);
      input.oncancel = () => reject(refused("dismissed", "The user has not chosen a file."));
      input.click();
    });
  } finally {
    input.remove();
  }
}

/** Whether the page is of the tab's own origin: frames of others have no pickers, but inputs and downloads. */
function isOfTopOrigin(): boolean {
  return attempt(() => globalThis.origin === globalThis.top?.origin) ?? false;
}

function pickerTypes(accept: readonly string[]): Record<string, readonly string[]> {
  const extensions = accept.filter((each) => each.startsWith("."));
  const types = accept.filter((each) => !each.startsWith(".")).map((each) => [each, []]);
  // An extension needs a type to stand under; the type then does not matter.
  if (extensions.length > 0) types.push(["application/octet-stream", extensions as never[]]);
  return Object.fromEntries(types);
}

async function textOf(file: File) {
  const { name, type: mime_type } = file;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return { name, mime_type, text: decoder.decode(await file.arrayBuffer()) };
  } catch (error) {
    throw refused("failed", `${name} is no UTF-8 text: read it as bytes.`, error);
  }
}

/** The bytes. Their kind is in the file's name alone: as a document, HTML of the agent's would be of the page's origin. */
function blobOf({ text, base64 }: declarations.SaveFileArgs): Blob {
  const type = "application/octet-stream";
  if (typeof text === typeof base64) throw refused("invalid_args", "Expected either text or base64.");
  if (typeof text === "string") return new Blob([text], { type });
  try {
    return new Blob([Uint8Array.from(atob(base64 as string), (byte) => byte.charCodeAt(0))], { type });
  } catch {
    throw refused("invalid_args", "Expected base64: give a text as text.");
  }
}

function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  // The browser reads it after the click, and does not say when it has.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
