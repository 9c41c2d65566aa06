import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Session } from "../src/core/session.ts";
import { TOOL_ERROR_CODES } from "../src/errors.ts";
import { playTranscript, type Transcript } from "../src/testing/index.ts";
import { JSON_CODEC, MESSAGEPACK_CODEC } from "../src/wire/codec.ts";
import { isServerMessage } from "../src/wire/messages.ts";
import { DEFAULT_LIMITS, isObject, type Limits } from "../src/wire/values.ts";

const protocol = new URL("../../protocol/", import.meta.url);
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, protocol), "utf8"));
const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));

interface Value {
  readonly name: string;
  readonly json: string;
  readonly json_also?: string[];
  readonly msgpack: string;
  readonly msgpack_also?: string[];
}

interface Refused {
  readonly name: string;
  readonly json?: string;
  readonly msgpack?: string;
  readonly limits?: { readonly frame_bytes?: number; readonly depth?: number; readonly items?: number };
  readonly code: string;
}

interface Unencodable {
  readonly name: string;
  readonly make: Recipe;
  readonly code: string;
}

/** How to make a value that no frame can hold. */
type Recipe =
  | { readonly number: string }
  | { readonly utf16: number[] }
  | { readonly key: string | { readonly utf16: number[] } }
  | { readonly foreign: true }
  | { readonly levels: number; readonly of: "arrays" | "objects" }
  | { readonly elements: number };

function make(recipe: Recipe): unknown[] {
  return "foreign" in recipe
    ? [new Date(0), new Map(), () => 1, Symbol("x"), 1n, undefined]
    : [makeOne(recipe)];
}

function makeOne(recipe: Exclude<Recipe, { foreign: true }>): unknown {
  if ("number" in recipe) return Number(recipe.number);
  if ("utf16" in recipe) return String.fromCharCode(...recipe.utf16);
  if ("key" in recipe) {
    const key = typeof recipe.key === "string" ? recipe.key : String(makeOne(recipe.key));
    return Object.fromEntries([[key, 1]]);
  }
  if ("elements" in recipe) return new Array(recipe.elements).fill(null);
  let value: unknown = recipe.of === "arrays" ? [] : {};
  for (let level = 1; level < recipe.levels; level++) value = recipe.of === "arrays" ? [value] : { a: value };
  return value;
}

/** -0 equals 0, which the assertions do not know. */
function withoutMinusZero(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMinusZero);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutMinusZero(item)]));
  return value === 0 ? 0 : value;
}

const codecs = [JSON_CODEC, MESSAGEPACK_CODEC];

describe("values.json", () => {
  const { values, refused, unencodable } = read("vectors/values.json") as {
    values: Value[];
    refused: Refused[];
    unencodable: Unencodable[];
  };

  test.each(values)("$name", ({ json, json_also = [], msgpack, msgpack_also = [] }) => {
    const value = withoutMinusZero(JSON_CODEC.decode(json));
    for (const text of json_also) expect(withoutMinusZero(JSON_CODEC.decode(text))).toEqual(value);
    for (const bytes of [msgpack, ...msgpack_also]) {
      expect(withoutMinusZero(MESSAGEPACK_CODEC.decode(hex(bytes)))).toEqual(value);
    }
    for (const codec of codecs) expect(codec.decode(codec.encode(value))).toEqual(value);
  });

  test.each(refused)("$name is refused", ({ json, msgpack, limits, code }) => {
    const held: Limits = {
      frame_bytes: limits?.frame_bytes ?? DEFAULT_LIMITS.frame_bytes,
      depth: limits?.depth ?? DEFAULT_LIMITS.depth,
      items: limits?.items ?? DEFAULT_LIMITS.items,
    };
    const error = expect.objectContaining({ code });
    if (json !== undefined) expect(() => JSON_CODEC.decode(json, held)).toThrow(error);
    if (msgpack !== undefined) expect(() => MESSAGEPACK_CODEC.decode(hex(msgpack), held)).toThrow(error);
  });

  test.each(unencodable)("$name cannot be written", ({ make: recipe, code }) => {
    for (const value of make(recipe)) {
      for (const codec of codecs) {
        for (const whole of [value, [value], { member: value }]) {
          expect(() => codec.encode(whole)).toThrow(expect.objectContaining({ code }));
        }
      }
    }
  });
});

describe("messages.json", () => {
  const { valid, invalid, server } = read("vectors/messages.json") as Record<
    "valid" | "invalid" | "server",
    { name: string; message: unknown }[]
  >;

  test.each([...valid, ...invalid, ...server])("$name survives both encodings", ({ message }) => {
    const value = JSON_CODEC.decode(JSON.stringify(message));
    for (const codec of codecs) expect(codec.decode(codec.encode(value))).toEqual(value);
  });

  test.each(server)("$name is a message that a session takes", ({ message }) => {
    const read = JSON_CODEC.decode(JSON.stringify(message));
    if (!isServerMessage(read)) throw new Error("it is not");
    const presence = { tools: [], visible: true, focused: false, permissions: {} };
    const session = new Session({ threadId: "t", agent: "a", presence, newId: (kind) => kind });
    session.opened(0);
    // Replies belong to commands, which nobody has sent here.
    session.receive("id" in read ? { ...read, id: 1_000 } : read, 0);
    expect(session.snapshot().error?.code).not.toBe("malformed_frame");
  });
});

describe.each(["json", "msgpack"] as const)("transcripts in %s", (encoding) => {
  const files = readdirSync(new URL("vectors/transcripts/", protocol)).filter((file) =>
    file.endsWith(".json"),
  );

  test.each(files)("%s", async (file) => {
    await playTranscript(read(`vectors/transcripts/${file}`) as Transcript, encoding);
  });
});

test("errors.json has the same tool codes", () => {
  const errors = read("errors.json") as Record<string, { family: string }>;
  const codes = Object.keys(errors).filter((code) => errors[code]?.family === "tool");
  expect([...TOOL_ERROR_CODES].sort()).toEqual(codes.sort());
});
