import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { check, DEFAULT_LIMITS, escapeBytes, isObject, plain, unescapeBytes } from "../src/wire/values.ts";

const nested = (levels: number): unknown => (levels === 0 ? [] : [nested(levels - 1)]);

describe("check accepts", () => {
  test.each([
    null,
    true,
    0,
    -0,
    1.5,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    Number.MIN_VALUE,
    "",
    "😀",
    "\uFEFF",
    "\u0000",
    [],
    [[]],
    {},
    { "": 1 },
    { constructor: 1, toString: 2 },
    new Uint8Array([1]),
    Object.create(null),
    nested(63),
  ])("%j", (value) => {
    expect(() => check(value)).not.toThrow();
  });

  test("plain objects of another realm", () => {
    expect(() => check(runInNewContext("({ a: [1] })"))).not.toThrow();
  });

  test("what needs escaping, and says so", () => {
    expect(check({ a: [new Uint8Array()] })).toBe(true);
    expect(check({ a: { $bytes: 1 } })).toBe(true);
    expect(check({ a: { $$$bytes: 1 } })).toBe(true);
    expect(check({ a: { $bytes: 1, b: 2 } })).toBe(false);
    expect(check({ a: { bytes: 1 } })).toBe(false);
  });
});

describe("check refuses", () => {
  class Point {
    x = 1;
  }
  test.each([
    [{ a: [Number.NaN] }, "invalid_value", "at $.a[0]: expected a number within ±(2^53-1), got NaN"],
    [Number.POSITIVE_INFINITY, "invalid_value", "at $: expected a number within ±(2^53-1), got Infinity"],
    [2 ** 53, "invalid_value", "expected a number within ±(2^53-1), got 9007199254740992"],
    [-(2 ** 53), "invalid_value", "expected a number within"],
    [1e300, "invalid_value", "expected a number within"],
    [10n, "invalid_value", "got bigint"],
    [undefined, "invalid_value", "got undefined"],
    [[undefined], "invalid_value", "at $[0]: "],
    [{ a: undefined }, "invalid_value", "at $.a: "],
    [() => 1, "invalid_value", "got function"],
    [Symbol("x"), "invalid_value", "got symbol"],
    [{ when: new Date(0) }, "invalid_value", "at $.when: expected what JSON has, or bytes, got Date"],
    [new Map(), "invalid_value", "got Map"],
    [new Point(), "invalid_value", "got Point"],
    [new Uint16Array(1), "invalid_value", "got Uint16Array"],
    [new ArrayBuffer(1), "invalid_value", "got ArrayBuffer"],
    ["\uD800", "invalid_value", "lone surrogate"],
    [{ "\uDC00": 1 }, "invalid_value", "lone surrogate"],
    [JSON.parse('{"a": {"__proto__": 1}}'), "invalid_value", "at $.a: the key __proto__ is refused"],
    [nested(64), "too_deep", "nested too deeply"],
  ])("%o", (value, code, message) => {
    expect(() => check(value)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  test("too many elements", () => {
    const limits = { ...DEFAULT_LIMITS, items: 3 };
    expect(() => check([1, [2]], limits)).not.toThrow();
    expect(() => check([1, [2, 3]], limits)).toThrow(expect.objectContaining({ code: "too_large" }));
  });

  test("with a place that fits on a line", () => {
    const value = { ["k".repeat(500)]: { ["l".repeat(500)]: Number.NaN } };
    expect(() => check(value)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,300}$/) }),
    );
  });
});

describe("plain", () => {
  test("drops what is undefined and makes bytes of buffers", () => {
    const buffer = new Uint8Array([1, 2]).buffer;
    expect(plain({ a: undefined, b: [{ c: undefined }], d: buffer })).toEqual({
      b: [{}],
      d: new Uint8Array([1, 2]),
    });
  });

  test("copies, so that later changes do not matter", () => {
    const bytes = new Uint8Array([1]);
    const value = { list: [1], bytes };
    const copy = plain(value);
    value.list.push(2);
    bytes[0] = 9;
    expect(copy).toEqual({ list: [1], bytes: new Uint8Array([1]) });
  });

  test("refuses a value that contains itself", () => {
    const value: Record<string, unknown> = { a: [] };
    (value["a"] as unknown[]).push(value);
    expect(() => plain(value)).toThrow(
      expect.objectContaining({ code: "invalid_value", message: expect.stringContaining("contains itself") }),
    );
  });

  test("accepts the same object twice", () => {
    const point = { x: 1 };
    expect(plain([point, point])).toEqual([{ x: 1 }, { x: 1 }]);
  });

  test("refuses what is nested too deeply", () => {
    expect(() => plain(nested(63))).not.toThrow();
    expect(() => plain(nested(64))).toThrow(expect.objectContaining({ code: "too_deep" }));
    expect(() => plain(nested(5_000))).toThrow(expect.objectContaining({ code: "too_deep" }));
  });

  test("refuses holes in arrays", () => {
    expect(() => plain(new Array(2))).toThrow(
      expect.objectContaining({ message: expect.stringContaining("$[0]") }),
    );
  });
});

describe("bytes in JSON", () => {
  test.each([
    [new Uint8Array([]), { $bytes: "" }],
    [new Uint8Array([0xfb, 0xff]), { $bytes: "-_8" }],
    [{ $bytes: "AA" }, { $$bytes: "AA" }],
    [{ $$bytes: new Uint8Array([0]) }, { $$$bytes: { $bytes: "AA" } }],
    [
      { $bytes: 1, b: 2 },
      { $bytes: 1, b: 2 },
    ],
    [[{ a: new Uint8Array([0]) }], [{ a: { $bytes: "AA" } }]],
  ])("%o is written as %j, and read again", (value, written) => {
    expect(escapeBytes(value)).toEqual(written);
    expect(unescapeBytes(structuredClone(written))).toEqual(value);
  });

  test.each(["A", "AA==", "A A", "A+A", "A/A", "é", 1, null])("refuses %j", (text) => {
    expect(() => unescapeBytes({ $bytes: text })).toThrow(expect.objectContaining({ code: "invalid_value" }));
  });

  test("many bytes", () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    expect(unescapeBytes(escapeBytes(bytes))).toEqual(bytes);
  });
});

test("isObject knows plain objects", () => {
  expect([{}, Object.create(null)].every(isObject)).toBe(true);
  expect([null, undefined, [], "", new Date(0), new Uint8Array(), () => {}].some(isObject)).toBe(false);
});
