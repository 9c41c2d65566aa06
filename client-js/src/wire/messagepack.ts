import { FarsideError } from "../errors.ts";

/*
 * The part of MessagePack that the data model needs. Libraries read more than that, and less strictly: ill-formed
 * UTF-8 as if it were well-formed, number keys as strings, extension types; and some lose a leading U+FEFF.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Writes a checked value. */
export function write(value: unknown): Uint8Array<ArrayBuffer> {
  const writer = new Writer();
  writer.write(value);
  return writer.written();
}

/** Reads one value. Throws `malformed_frame`, or `invalid_value` or `too_deep` for what no check could see later. */
export function read(frame: Uint8Array, depth: number): unknown {
  const reader = new Reader(frame);
  try {
    const value = reader.read(depth);
    if (reader.hasMore) throw malformed("one value, got more bytes after it");
    return value;
  } catch (error) {
    throw error instanceof RangeError ? malformed("a whole value, got a part of one") : error;
  }
}

type Kind =
  | "Float32"
  | "Float64"
  | "Uint8"
  | "Uint16"
  | "Uint32"
  | "BigUint64"
  | "Int8"
  | "Int16"
  | "Int32"
  | "BigInt64";

/** The kinds of numbers in the order of their heads, from 0xca on, and how many bytes they take. */
const KINDS = Object.entries<number>({
  Float32: 4,
  Float64: 8,
  Uint8: 1,
  Uint16: 2,
  Uint32: 4,
  BigUint64: 8,
  Int8: 1,
  Int16: 2,
  Int32: 4,
  BigInt64: 8,
} satisfies Record<Kind, number>).map(([kind, size]) => {
  return { get: `get${kind as Kind}`, set: `set${kind as Kind}`, size } as const;
});
const NUMBER = 0xca;
const UINT8 = 2;

/** The heads with 8 bits of length; those with 16 and 32 follow. */
const BYTES = 0xc4;
const TEXT = 0xd9;
/** There is none with 8 bits. */
const ARRAY = 0xdb;
const OBJECT = 0xdd;

class Writer {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;

  written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#end);
  }

  write(value: unknown): void {
    if (value === null) this.#head(0xc0);
    else if (typeof value === "boolean") this.#head(value ? 0xc3 : 0xc2);
    else if (typeof value === "number") this.#number(value);
    else if (typeof value === "string") this.#text(value);
    else if (value instanceof Uint8Array) {
      this.#sized(value.length, BYTES);
      this.#raw(value);
    } else if (Array.isArray(value)) {
      if (value.length < 16) this.#head(0x90 | value.length);
      else this.#sized(value.length, ARRAY);
      for (const item of value) this.write(item);
    } else {
      const entries = Object.entries(value as object);
      if (entries.length < 16) this.#head(0x80 | entries.length);
      else this.#sized(entries.length, OBJECT);
      for (const [key, item] of entries) {
        this.write(key);
        this.write(item);
      }
    }
  }

  #text(value: string): void {
    const { length } = value;
    if (length < 32) {
      // Most strings are short and ASCII: for them an encoder costs more than it does.
      const at = this.#head(0xa0 | length, length);
      let index = 0;
      for (; index < length; index++) {
        const code = value.charCodeAt(index);
        if (code >= 0x80) break;
        this.#bytes[at + index] = code;
      }
      if (index === length) return;
      this.#end = at - 1;
    }
    const text = encoder.encode(value);
    if (text.length < 32) this.#head(0xa0 | text.length);
    else this.#sized(text.length, TEXT);
    this.#raw(text);
  }

  #number(value: number): void {
    if (!Number.isInteger(value)) this.#put(0xcb, value);
    else if (value >= 0) {
      if (value < 0x80) this.#head(value);
      else if (value <= 0xffff_ffff) this.#sized(value, NUMBER + UINT8);
      else this.#put(0xcf, BigInt(value));
    } else if (value >= -0x20) this.#head(value & 0xff);
    // Negative ones are rare: not worth the heads with fewer bits.
    else if (value >= -0x8000_0000) this.#put(0xd2, value);
    else this.#put(0xd3, BigInt(value));
  }

  /** Writes a head with a length, or a number, in as few bytes as it takes. */
  #sized(size: number, head: number): void {
    const power = size > 0xffff ? 2 : size > 0xff || head === ARRAY || head === OBJECT ? 1 : 0;
    this.#put(head + power, size, UINT8 + power);
  }

  /** Writes a head and a number. */
  #put(head: number, value: number | bigint, kind = head - NUMBER): void {
    const { set, size } = KINDS[kind] as (typeof KINDS)[number];
    // Making room may replace the view.
    const at = this.#head(head, size);
    this.#view[set](at, value as never);
  }

  /** Writes a head byte and makes room for what belongs to it; returns where that begins. */
  #head(byte: number, room = 0): number {
    const at = this.#reserve(1 + room);
    this.#bytes[at] = byte;
    return at + 1;
  }

  #raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #reserve(size: number): number {
    const at = this.#end;
    this.#end += size;
    if (this.#end > this.#bytes.length) {
      const bytes = new Uint8Array(Math.max(this.#end, 2 * this.#bytes.length));
      bytes.set(this.#bytes);
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer);
    }
    return at;
  }
}

class Reader {
  readonly #frame: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(frame: Uint8Array) {
    this.#frame = frame;
    this.#view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  }

  get hasMore(): boolean {
    return this.#at < this.#frame.length;
  }

  read(depth: number): unknown {
    const head = this.#view.getUint8(this.#skip(1));
    if (head < 0x80) return head;
    if (head < 0x90) return this.#object(head & 0x0f, depth);
    if (head < 0xa0) return this.#array(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    if (head >= NUMBER && head < NUMBER + KINDS.length) return this.#number(head - NUMBER);
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#raw(this.#size(head, BYTES)).slice();
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#size(head, TEXT));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#size(head, ARRAY), depth);
      case 0xde:
      case 0xdf:
        return this.#object(this.#size(head, OBJECT), depth);
      case 0xc1:
        throw malformed("one value, got the byte 0xc1");
      default: {
        // An extension: its type and its content are still to come.
        this.#raw(1 + (head < NUMBER ? this.#size(head, 0xc7) : 2 ** (head - 0xd4)));
        throw new FarsideError("invalid_value", "expected no extension types");
      }
    }
  }

  #object(size: number, depth: number): unknown {
    const object: Record<string, unknown> = {};
    enter(depth);
    for (let index = 0; index < size; index++) {
      const key = this.read(depth - 1);
      if (typeof key !== "string") {
        const isTree = typeof key === "object" && key !== null && !(key instanceof Uint8Array);
        throw isTree ? malformed("string keys") : new FarsideError("invalid_value", "expected string keys");
      }
      if (key === "__proto__")
        throw new FarsideError("invalid_value", "the key __proto__ is refused; rename it");
      object[key] = this.read(depth - 1);
    }
    return object;
  }

  #array(size: number, depth: number): unknown {
    const array: unknown[] = [];
    enter(depth);
    for (let index = 0; index < size; index++) array.push(this.read(depth - 1));
    return array;
  }

  #text(size: number): string {
    const bytes = this.#raw(size);
    if (size < 32) {
      // As when writing.
      let text = "";
      let index = 0;
      for (; index < size; index++) {
        const code = bytes[index] as number;
        if (code >= 0x80) break;
        text += String.fromCharCode(code);
      }
      if (index === size) return text;
    }
    try {
      return decoder.decode(bytes);
    } catch {
      throw new FarsideError("invalid_value", "expected well-formed UTF-8");
    }
  }

  #raw(size: number): Uint8Array {
    const at = this.#skip(size);
    if (this.#at > this.#frame.length) throw new RangeError();
    return this.#frame.subarray(at, this.#at);
  }

  /** Reads the length that belongs to a head of a group. */
  #size(head: number, first: number): number {
    return this.#number(head - first + UINT8);
  }

  #number(kind: number): number {
    const { get, size } = KINDS[kind] as (typeof KINDS)[number];
    return Number(this.#view[get](this.#skip(size)));
  }

  #skip(size: number): number {
    const at = this.#at;
    this.#at += size;
    return at;
  }
}

function enter(depth: number): void {
  if (depth <= 0)
    throw new FarsideError("too_deep", "arrays and objects are nested too deeply; flatten the value");
}

function malformed(expected: string): FarsideError {
  return new FarsideError("malformed_frame", `expected ${expected}`);
}
