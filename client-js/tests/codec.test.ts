import { isDeepStrictEqual } from "node:util";
import { decode, ExtensionCodec, encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";
import { JSON_CODEC, MESSAGEPACK_CODEC } from "../src/wire/codec.ts";
import { DEFAULT_LIMITS } from "../src/wire/values.ts";

const codecs = [JSON_CODEC, MESSAGEPACK_CODEC];
const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const code = (code: string) => expect.objectContaining({ name: "FarsideError", code });

/** Values around every border of MessagePack's formats. */
const VALUES: unknown[] = [
  null,
  true,
  false,
  ...[
    1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0xffff,
    0x1_0000,
    0xffff_ffff,
    0x1_0000_0000,
    Number.MAX_SAFE_INTEGER,
  ].flatMap((number) => [number, -number, number / 2]),
  0,
  ...[-0x20, -0x21, -0x80, -0x81, -0x8000, -0x8001, -0x8000_0000, -0x8000_0001, 1e-300, -1.5e15],
  ...[0, 1, 31, 32, 255, 256, 65_535, 65_536].flatMap((length) => [
    "x".repeat(length),
    "é".repeat(length),
    new Uint8Array(length).fill(7),
    new Array(length).fill(1),
    Object.fromEntries(Array.from({ length }, (_, index) => [`key ${index}`, index])),
  ]),
  "\uFEFF".repeat(300),
  "😀",
  "\u0000",
  { $bytes: "AA" },
  { $$bytes: [new Uint8Array([1])] },
  { a: { b: [{ c: null }] } },
];

describe.each(codecs)("$protocol", (codec) => {
  test("reads what it writes", () => {
    for (const value of VALUES)
      expect(isDeepStrictEqual(codec.decode(codec.encode(value)), value)).toBe(true);
  });

  test("refuses to write what lies outside of the data model", () => {
    for (const value of [Number.NaN, 2 ** 53, 1n, undefined, new Date(0), "\uD800"]) {
      expect(() => codec.encode(value)).toThrow(code("invalid_value"));
    }
  });

  test("holds frames to their limit, both ways", () => {
    const value = "é".repeat(100);
    const limits = { ...DEFAULT_LIMITS, frame_bytes: 150 };
    expect(() => codec.encode(value, limits)).toThrow(code("too_large"));
    expect(() => codec.decode(codec.encode(value), limits)).toThrow(code("too_large"));
    expect(codec.decode(codec.encode("x".repeat(100), limits), limits)).toBe("x".repeat(100));
  });

  test("reads 64 levels and no more, however many come", () => {
    const nested = (levels: number): unknown => (levels === 0 ? [] : [nested(levels - 1)]);
    expect(codec.decode(codec.encode(nested(63)))).toEqual(nested(63));
    const deep =
      codec === JSON_CODEC
        ? "[".repeat(100_000) + "]".repeat(100_000)
        : new Uint8Array(100_000).fill(0x91, 0, 99_999);
    expect(() => codec.decode(deep)).toThrow(code("too_deep"));
  });
});

describe("JSON", () => {
  test.each(["", "nul", "[1,]", "NaN", "01", '"\t"', "[1]x", "\uFEFF1", '"\\uD800"', '{"\\uDC00": 1}'])(
    "%j is malformed",
    (frame) => {
      expect(() => JSON_CODEC.decode(frame)).toThrow(code("malformed_frame"));
    },
  );

  test.each([
    "1e400",
    "9007199254740992",
    "9007199254740993",
    '{"__proto__": 1}',
    '{"$bytes": "A"}',
    '{"$bytes": 1}',
  ])("%j is no value", (frame) => {
    expect(() => JSON_CODEC.decode(frame)).toThrow(code("invalid_value"));
  });

  test("the last of equal keys counts", () => {
    expect(JSON_CODEC.decode('{"a": 1, "a": 2}')).toEqual({ a: 2 });
  });

  test("bytes are no level of nesting", () => {
    const frame = `${"[".repeat(64)}{"$bytes": "AA"}${"]".repeat(64)}`;
    expect(() => JSON_CODEC.decode(frame)).not.toThrow();
  });

  test("needs text", () => {
    expect(() => JSON_CODEC.decode(new Uint8Array([0x31]))).toThrow(code("malformed_frame"));
  });
});

describe("MessagePack", () => {
  test.each([
    ["c1", "malformed_frame"],
    ["", "malformed_frame"],
    ["c0 c0", "malformed_frame"],
    ["d9 05 61", "malformed_frame"],
    ["dd ffffffff 01", "malformed_frame"],
    ["cd 01", "malformed_frame"],
    ["81 90 01", "malformed_frame"],
    ["81 01 01", "invalid_value"],
    ["81 c0 01", "invalid_value"],
    ["81 c4 01 61 01", "invalid_value"],
    ["81 a9 5f5f70726f746f5f5f c0", "invalid_value"],
    ["a1 ff", "invalid_value"],
    ["a2 c0 80", "invalid_value"],
    ["a3 ed a0 80", "invalid_value"],
    ["81 a1 ff 01", "invalid_value"],
    [`d9 ff ${"ff".repeat(255)}`, "invalid_value"],
    ["d6 ff 00000000", "invalid_value"],
    ["c7 01 05 00", "invalid_value"],
    ["cf 0020000000000000", "invalid_value"],
    ["cf 0020000000000001", "invalid_value"],
    ["d3 ffe0000000000000", "invalid_value"],
    ["cb 7ff8000000000000", "invalid_value"],
    ["ca 7f800000", "invalid_value"],
  ])("%s is refused as %s", (frame, expected) => {
    expect(() => MESSAGEPACK_CODEC.decode(hex(frame))).toThrow(code(expected));
  });

  test.each([
    ["cf 001fffffffffffff", Number.MAX_SAFE_INTEGER],
    ["d3 ffe0000000000001", Number.MIN_SAFE_INTEGER],
    ["ca 3fc00000", 1.5],
    ["c6 00000001 07", new Uint8Array([7])],
    ["db 00000001 61", "a"],
    ["82 a161 01 a161 02", { a: 2 }],
  ])("%s is %o", (frame, value) => {
    expect(MESSAGEPACK_CODEC.decode(hex(frame))).toEqual(value);
  });

  test("reads a frame that lies within a larger buffer", () => {
    const buffer = hex("ff ff a1 61 ff").subarray(2, 4);
    expect(MESSAGEPACK_CODEC.decode(buffer as Uint8Array<ArrayBuffer>)).toBe("a");
  });

  test("hands out bytes of its own", () => {
    const frame = hex("c4 02 01 02");
    const bytes = MESSAGEPACK_CODEC.decode(frame);
    frame.fill(0);
    expect(bytes).toEqual(new Uint8Array([1, 2]));
  });

  test("needs bytes", () => {
    expect(() => MESSAGEPACK_CODEC.decode("1")).toThrow(code("malformed_frame"));
  });

  describe("another implementation", () => {
    const extensionCodec = new ExtensionCodec();
    const theirs = (value: unknown) => encode(value, { extensionCodec }).slice();

    test("reads what ours writes, and writes what ours reads", () => {
      // It loses a leading U+FEFF of long strings.
      for (const value of VALUES.filter((value) => !String(value).startsWith("\uFEFF"))) {
        const ours = MESSAGEPACK_CODEC.encode(value);
        expect(isDeepStrictEqual(decode(ours as Uint8Array), value)).toBe(true);
        expect(isDeepStrictEqual(MESSAGEPACK_CODEC.decode(theirs(value)), value)).toBe(true);
      }
    });

    test("writes random values in the same bytes", () => {
      let state = 12_345;
      const random = (below: number) => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return state % below;
      };
      const value = (depth: number): unknown => {
        switch (random(depth > 0 ? 8 : 5)) {
          case 0:
            return [null, true, false][random(3)];
          case 1:
            return random(2 ** 20) * random(2 ** 20) * (random(2) === 0 ? 1 : -1);
          case 2:
            return random(1_000) / 7;
          case 3:
            return "aé😀"[random(2)]?.repeat(random(50));
          case 4:
            return new Uint8Array(random(300)).fill(random(256));
          case 5:
          case 6:
            return Array.from({ length: random(20) }, () => value(depth - 1));
          default:
            return Object.fromEntries(
              Array.from({ length: random(20) }, (_, key) => [`k${key}`, value(depth - 1)]),
            );
        }
      };
      for (let round = 0; round < 300; round++) {
        const one = value(4);
        expect(
          Buffer.from(MESSAGEPACK_CODEC.encode(one) as Uint8Array).equals(Buffer.from(theirs(one))),
        ).toBe(true);
      }
    });
  });
});
