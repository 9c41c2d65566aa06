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

type Setter = "setUint8" | "setUint16" | "setUint32" | "setInt8" | "setInt16" | "setInt32" | "setFloat64";

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
      this.#sized(value.length, 0xc4, 0xc5, 0xc6);
      this.#raw(value);
    } else if (Array.isArray(value)) {
      if (value.length < 16) this.#head(0x90 | value.length);
      else this.#sized(value.length, undefined, 0xdc, 0xdd);
      for (const item of value) this.write(item);
    } else {
      const entries = Object.entries(value as object);
      if (entries.length < 16) this.#head(0x80 | entries.length);
      else this.#sized(entries.length, undefined, 0xde, 0xdf);
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
    else this.#sized(text.length, 0xd9, 0xda, 0xdb);
    this.#raw(text);
  }

  #number(value: number): void {
    if (!Number.isInteger(value)) this.#put(0xcb, 8, "setFloat64", value);
    else if (value >= 0) {
      if (value < 0x80) this.#head(value);
      else if (value <= 0xffff_ffff) this.#sized(value, 0xcc, 0xcd, 0xce);
      else this.#long(0xcf, value);
    } else if (value >= -0x20) this.#head(value & 0xff);
    else if (value >= -0x80) this.#put(0xd0, 1, "setInt8", value);
    else if (value >= -0x8000) this.#put(0xd1, 2, "setInt16", value);
    else if (value >= -0x8000_0000) this.#put(0xd2, 4, "setInt32", value);
    else this.#long(0xd3, value);
  }

  #long(head: number, value: number): void {
    const at = this.#head(head, 8);
    this.#view.setInt32(at, Math.floor(value / 0x1_0000_0000));
    this.#view.setUint32(at + 4, value >>> 0);
  }

  /** Writes a head with a length, or a number, in as few bytes as it takes. */
  #sized(size: number, head8: number | undefined, head16: number, head32: number): void {
    if (size <= 0xff && head8 !== undefined) this.#put(head8, 1, "setUint8", size);
    else if (size <= 0xffff) this.#put(head16, 2, "setUint16", size);
    else this.#put(head32, 4, "setUint32", size);
  }

  #put(head: number, size: number, set: Setter, value: number): void {
    // Making room may replace the view.
    const at = this.#head(head, size);
    this.#view[set](at, value);
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
        return this.#raw(this.#size(head - 0xc4)).slice();
      case 0xca:
        return this.#view.getFloat32(this.#skip(4));
      case 0xcb:
        return this.#view.getFloat64(this.#skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#size(head - 0xcc);
      case 0xcf:
        return this.#size(2) * 0x1_0000_0000 + this.#size(2);
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return this.#view.getInt32(this.#skip(4)) * 0x1_0000_0000 + this.#size(2);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#size(head - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#size(head - 0xdb), depth);
      case 0xde:
      case 0xdf:
        return this.#object(this.#size(head - 0xdd), depth);
      case 0xc1:
        throw malformed("a value, got the byte 0xc1");
      default: {
        // An extension: its type and its content are still to come.
        this.#raw(1 + (head < 0xca ? this.#size(head - 0xc7) : 2 ** (head - 0xd4)));
        throw new FarsideError("invalid_value", "expected no extension types (timestamps and the like)");
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
      throw new FarsideError("invalid_value", "expected well-formed UTF-8 in every string");
    }
  }

  #raw(size: number): Uint8Array {
    const at = this.#skip(size);
    if (this.#at > this.#frame.length) throw new RangeError();
    return this.#frame.subarray(at, this.#at);
  }

  /** Reads an unsigned number of 1, 2 or 4 bytes. */
  #size(power: number): number {
    if (power === 0) return this.#view.getUint8(this.#skip(1));
    return power === 1 ? this.#view.getUint16(this.#skip(2)) : this.#view.getUint32(this.#skip(4));
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
