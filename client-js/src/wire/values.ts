import { FarsideError } from "../errors.ts";

/** What may travel: the data model of protocol/README.md, section 2. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Value[]
  | { readonly [key: string]: Value };

/** How large one message may be: the frame in bytes, the nesting, and all elements together. */
export interface Limits {
  readonly frame_bytes: number;
  readonly depth: number;
  readonly items: number;
}

export const DEFAULT_LIMITS: Limits = { frame_bytes: 48 * 1024 * 1024, depth: 64, items: 1_000_000 };

/** What a client takes from a server: room for what the server once took, inside a larger message. */
export const INCOMING_LIMITS: Limits = {
  frame_bytes: Number.POSITIVE_INFINITY,
  depth: 128,
  items: Number.POSITIVE_INFINITY,
};

const ESCAPED = /^\$+bytes$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether `value` is a plain object, of this realm or of another one. */
export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Checks that `value` lies in the data model. Returns true if it holds bytes, or what looks like escaped bytes: as JSON
 * it needs {@link escapeBytes}, or {@link unescapeBytes}. `fromJson` says that it was read from JSON, where a lone
 * surrogate makes the frame malformed and `{"$bytes": ...}` is no level of nesting.
 * Throws `invalid_value`, `too_deep` or `too_large`; the message names the place.
 */
export function check(value: unknown, limits: Limits = DEFAULT_LIMITS, fromJson = false): boolean {
  let items = limits.items;
  let escapes = false;

  const path: (string | number)[] = [];
  const refuse = (code: string, reason: string): never => {
    throw new FarsideError(code, `at ${placeOf(path)}: ${reason}`);
  };
  const text = (string: string) => {
    if (LONE_SURROGATE.test(string)) {
      const code = fromJson ? "malformed_frame" : "invalid_value";
      refuse(code, "expected a well-formed string, got one with a lone surrogate");
    }
  };
  const enter = (size: number, depth: number) => {
    if (depth <= 0) refuse("too_deep", "arrays and objects are nested too deeply; flatten the value");
    items -= size;
    if (items < 0) refuse("too_large", "the value has too many elements; send less, or bytes");
  };
  const member = (item: unknown, key: string | number, depth: number) => {
    path.push(key);
    if (typeof key === "string") text(key);
    visit(item, depth);
    path.pop();
  };
  const visit = (item: unknown, depth: number): void => {
    if (item === null || typeof item === "boolean") return;
    if (typeof item === "string") {
      text(item);
    } else if (typeof item === "number") {
      if (Math.abs(item) <= Number.MAX_SAFE_INTEGER) return;
      refuse("invalid_value", `expected a number within ±(2^53-1), got ${item}; send a string`);
    } else if (Array.isArray(item)) {
      enter(item.length, depth);
      for (let index = 0; index < item.length; index++) member(item[index], index, depth - 1);
    } else if (item instanceof Uint8Array) {
      escapes = true;
    } else if (isObject(item)) {
      const keys = Object.keys(item);
      if (keys.length === 1 && ESCAPED.test(keys[0] as string)) {
        escapes = true;
        if (fromJson && keys[0] === "$bytes") return;
      }
      enter(keys.length, depth);
      for (const key of keys) {
        if (key === "__proto__") refuse("invalid_value", "the key __proto__ is refused; rename it");
        member(item[key], key, depth - 1);
      }
    } else {
      refuse("invalid_value", `expected what JSON has, or bytes, got ${nameOf(item)}`);
    }
  };

  visit(value, limits.depth);
  return escapes;
}

/**
 * Brings what an application hands over into the data model, as a copy: members that are undefined are dropped, and
 * an ArrayBuffer or a view of one becomes bytes, an item that has another form in `carried` that form; nothing at all is
 * null. Throws like {@link check}; a value that contains itself is refused too.
 */
export function plain(value: unknown, carried?: ReadonlyMap<unknown, unknown>): Value {
  const above: unknown[] = [];

  const copy = (given: unknown): unknown => {
    const item = carried?.get(given) ?? given;
    if (ArrayBuffer.isView(item))
      return new Uint8Array(item.buffer, item.byteOffset, item.byteLength).slice();
    if (item instanceof ArrayBuffer) return new Uint8Array(item.slice(0));
    const isArray = Array.isArray(item);
    if (!isArray && !isObject(item)) return item;
    if (above.includes(item)) {
      throw new FarsideError("invalid_value", "expected a tree, got a value that contains itself");
    }
    if (above.length > DEFAULT_LIMITS.depth) return null; // The check says so better, and it comes next.
    above.push(item);
    const copied = isArray
      ? Array.from(item, copy)
      : Object.fromEntries(
          Object.entries(item).flatMap(([key, child]) => (child === undefined ? [] : [[key, copy(child)]])),
        );
    above.pop();
    return copied;
  };

  const copied = copy(value ?? null);
  check(copied);
  return copied as Value;
}

/**
 * Rewrites a checked value for JSON: bytes become `{"$bytes": "<base64url>"}`, and a real object whose only key is
 * `$bytes` (or `$$bytes` ...) gets one more `$`.
 */
export function escapeBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: toBase64Url(value) };
  if (Array.isArray(value)) return value.map(escapeBytes);
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const isEscaped = entries.length === 1 && ESCAPED.test(entries[0]?.[0] ?? "");
  return Object.fromEntries(entries.map(([key, item]) => [isEscaped ? `$${key}` : key, escapeBytes(item)]));
}

/** Undoes {@link escapeBytes} on a value read from JSON, in place where nothing changes. */
export function unescapeBytes(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = unescapeBytes(value[index]);
  } else if (isObject(value)) {
    const keys = Object.keys(value);
    const key = keys[0];
    if (keys.length === 1 && key !== undefined && ESCAPED.test(key)) {
      return key === "$bytes" ? fromBase64Url(value[key]) : { [key.slice(1)]: unescapeBytes(value[key]) };
    }
    for (const name of keys) value[name] = unescapeBytes(value[name]);
  }
  return value;
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: unknown): Uint8Array {
  if (typeof text !== "string" || !BASE64URL.test(text) || text.length % 4 === 1) {
    throw new FarsideError("invalid_value", "expected unpadded base64url text in $bytes");
  }
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

function placeOf(path: readonly (string | number)[]): string {
  const place = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key.slice(0, 100)}`)).join("");
  return place.length > 200 ? `$${place.slice(0, 100)}...${place.slice(-100)}` : `$${place}`;
}

function nameOf(value: unknown): string {
  if (typeof value !== "object") return typeof value;
  return value?.constructor?.name || "an object with its own prototype";
}
