import { readFileSync } from "node:fs";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, test } from "vitest";
import { declare, FarsideError, type JsonSchema, jsonSchema } from "../src/index.ts";
import { resultOfBody } from "../src/tool/body.ts";
import { adopt } from "../src/tool/tool.ts";
import { JSON_CODEC } from "../src/wire/codec.ts";

interface Vector {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly fit?: unknown[];
  readonly unfit: unknown[];
}

const file = new URL("../../protocol/vectors/schemas.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Record<
  "schemas" | "random" | "unchecked",
  Vector[]
>;
/** The value with bytes for `{ $bytes }`. */
const read = (value: unknown) => JSON_CODEC.decode(JSON.stringify(value));

function complaints(schema: JsonSchema, value: unknown): string[] {
  const outcome = jsonSchema(schema)["~standard"].validate(value) as StandardSchemaV1.Result<unknown>;
  return (outcome.issues ?? []).map(({ message, path = [] }) => `${path.join(".")}: ${message}`);
}

const fits = (schema: JsonSchema, value: unknown) => complaints(schema, read(value)).length === 0;

describe("schemas.json", () => {
  test.each([...vectors.schemas, ...vectors.random])("$name", ({ schema, fit = [], unfit }) => {
    expect(fit.filter((value) => !fits(schema, value))).toEqual([]);
    expect(unfit.filter((value) => fits(schema, value))).toEqual([]);
  });

  test.each(vectors.unchecked)("$name is left to the server", ({ schema, unfit }) => {
    expect(unfit.filter((value) => !fits(schema, value))).toEqual([]);
  });
});

describe("a JSON Schema", () => {
  test("says where, what was expected and what came", () => {
    const schema = {
      type: "object",
      properties: {
        place: { type: "object", properties: { latitude: { type: "number", minimum: -90 } } },
        accuracy: { enum: ["high", "low"] },
        tags: { type: "array", items: { type: "string" } },
        name: { anyOf: [{ type: "string" }, { type: "null" }] },
        end: { anyOf: [{ type: "null" }, { type: "object", properties: { at: { type: "integer" } } }] },
      },
      required: ["place", "when"],
      additionalProperties: false,
    };
    const value = {
      place: { latitude: -100 },
      accuracy: "best",
      tags: ["a", 1, new Uint8Array(2)],
      name: [],
      end: { at: "x".repeat(1000) },
      colour: undefined,
      color: null,
    };
    expect(complaints(schema, value)).toEqual([
      ": expected the member when, got an object",
      "place.latitude: expected minimum -90, got -100",
      'accuracy: expected "high" or "low", got "best"',
      "tags.1: expected string, got 1",
      "tags.2: expected string, got bytes",
      "name: expected string or null, got an array",
      `end.at: expected integer, got "${"x".repeat(99)}`,
      "color: expected nothing, got null",
    ]);
    expect(complaints({ items: { type: "null" } }, new Array(1000).fill(1)).length).toBe(8);
  });

  test("is no schema for what JSON does not have: that is refused, or given a form, when it is sent", () => {
    for (const value of [new Blob([]), new Date(0), () => 1, Symbol("x"), 1n]) {
      expect(complaints({ type: "string" }, value)).toEqual([]);
      expect(
        complaints({ oneOf: [{ type: "null" }, { properties: { a: { type: "object" } } }] }, { a: value }),
      ).toEqual([]);
    }
    expect(complaints({ type: "object", required: ["$bytes"] }, new ArrayBuffer(1))).toEqual([]);
    expect(complaints({ type: "null" }, undefined)).toEqual([]);
  });

  test("takes a member that is undefined for one that is not there, as it is sent", () => {
    expect(complaints({ required: ["a"] }, { a: undefined })).toEqual([
      ": expected the member a, got an object",
    ]);
    expect(complaints({ additionalProperties: false }, { a: undefined })).toEqual([]);
  });

  test("ignores a pattern that JavaScript does not understand", () => {
    expect(complaints({ pattern: "(?i)^a$" }, "b")).toEqual([]);
    expect(
      complaints({ patternProperties: { "(?i)^a$": false }, additionalProperties: false }, { b: 1 }),
    ).toEqual([]);
  });
});

test("a schema tells its JSON Schema to whoever asks (Standard JSON Schema)", () => {
  const options = { target: "draft-2020-12" } as const;
  const written = [{ type: "string" }, true, false].map((root) => {
    const { jsonSchema: told } = jsonSchema(root)["~standard"];
    expect(told.output(options)).toEqual(told.input(options));
    return told.input(options);
  });
  expect(written).toEqual([{ type: "string" }, {}, { not: {} }]);
});

describe("a tool as Python declares it", () => {
  const locate = declare<{ high: boolean }, { latitude: number }>({
    name: "locate",
    description: "Where the user is.",
    fingerprint: "0123456789abcdef",
    args: { type: "object", properties: { high: { type: "boolean" } }, required: ["high"] },
    result: { type: "object", properties: { latitude: { type: "number" } }, required: ["latitude"] },
  });
  const context = {
    signal: new AbortController().signal,
    progress: () => {},
    toolCallId: "c",
    threadId: "t",
  };

  test("has the types that were written for it", () => {
    const tool = locate.implement((args) => {
      expectTypeOf(args).toEqualTypeOf<{ high: boolean }>();
      return { latitude: 1 };
    });
    expectTypeOf(tool.execute).returns.resolves.toEqualTypeOf<{ latitude: number }>();
    // @ts-expect-error the result has no such member
    locate.implement(() => ({ longitude: 1 }));
    expect(tool.tool).toMatchObject({ name: "locate", fingerprint: "0123456789abcdef" });
  });

  test("checks what comes in and what goes out", async () => {
    const tool = locate.implement(({ high }) => (high ? { latitude: 1 } : ({} as never)));
    await expect(tool.execute({ high: true })).resolves.toEqual({ latitude: 1 });
    const refused = new FarsideError(
      "invalid_args",
      "The arguments do not fit the tool's schema: high: expected boolean, got 1",
    );
    await expect(tool.execute({ high: 1 } as never)).rejects.toEqual(refused);
    expect(await resultOfBody(adopt(tool), { high: false }, context, () => {})).toMatchObject({
      error: { code: "invalid_result", message: expect.stringContaining("latitude") },
    });
  });

  test("may return what its schema does not say", async () => {
    const bare = declare<Record<string, never>, unknown>({
      name: "b",
      description: "",
      fingerprint: "",
      args: {},
    });
    await expect(bare.implement(() => new Date(0)).execute({})).resolves.toEqual(new Date(0));
  });
});
