import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type as arktype } from "arktype";
import * as v from "valibot";
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import type { Waiting } from "../src/core/waiting.ts";
import {
  FarsideError,
  hasConsent,
  revokeConsent,
  type ToolContext,
  tool,
  withOptions,
} from "../src/index.ts";
import { quiet } from "../src/testing/index.ts";
import { resultOfBody } from "../src/tool/body.ts";
import { adopt } from "../src/tool/tool.ts";

const description = "";

function context(controller = new AbortController()): ToolContext {
  return { signal: controller.signal, progress: () => {}, toolCallId: "c1", threadId: "t" };
}

/** The result of executing a tool with these arguments. */
function result(implemented: Parameters<typeof adopt>[0], args: unknown = {}, given = context()) {
  return resultOfBody(adopt(implemented), args, given, () => {});
}

/** Executes a tool; what the user is asked meanwhile is in `asked`. */
function asking(
  implemented: Parameters<typeof adopt>[0],
  args: unknown = {},
  controller = new AbortController(),
) {
  const asked: Waiting[] = [];
  const ask = (waiting: Waiting) => void asked.push(waiting);
  return { asked, outcome: resultOfBody(adopt(implemented), args, context(controller), ask) };
}

/** A body that throws this. */
function throwing(thrown: unknown) {
  return tool({ name: "throw", description }).implement(() => {
    throw thrown;
  });
}

const SCHEMAS: Record<string, StandardSchemaV1<unknown, { text: string; times: number }>> = {
  zod: z.object({ text: z.string().trim(), times: z.number().default(1) }),
  "zod, async": z.object({
    text: z.string().trim(),
    times: z
      .number()
      .default(1)
      .refine(async (times) => (await Promise.resolve(times)) < 10),
  }),
  valibot: v.object({ text: v.pipe(v.string(), v.trim()), times: v.optional(v.number(), 1) }),
  "valibot, async": v.objectAsync({
    text: v.pipeAsync(
      v.string(),
      v.trim(),
      v.checkAsync(async () => true),
    ),
    times: v.optional(v.number(), 1),
  }),
  arktype: arktype({ text: "string.trim", times: "number = 1", "+": "delete" }),
};

describe.each(Object.entries(SCHEMAS))("arguments checked with %s", (_name, schema) => {
  const seen: unknown[] = [];
  const echo = tool({ name: "echo", description, schema }).implement((args) => {
    seen.push(args);
    return args;
  });
  afterEach(() => void seen.splice(0));

  test("reach the body parsed: with defaults, trimmed, without extras", async () => {
    const value = { text: "hi", times: 1 };
    expect(await result(echo, { text: "  hi ", extra: true })).toEqual({ status: "success", value });
    expect(seen).toEqual([value]);
  });

  test.each([
    ["wrong", { text: 1 }, "text"],
    ["missing", {}, "text"],
    ["truncated", "{", ""],
    ["absent", null, ""],
  ])("do not reach it when they are %s", async (_what, args, place) => {
    expect(await result(echo, args)).toEqual({
      status: "error",
      error: { code: "invalid_args", message: expect.stringContaining(place) },
    });
    expect(seen).toEqual([]);
  });
});

describe("arguments", () => {
  test("of a tool without a schema are none", async () => {
    const body = vi.fn((args: object) => args);
    await result(tool({ name: "now", description }).implement(body), { surprise: 1 });
    expect(body).toHaveBeenCalledWith({}, expect.anything());
  });

  test("are the body's own", async () => {
    const schema = arktype({ list: "number[]" });
    const args = { list: [1] };
    await result(
      tool({ name: "grow", description, schema }).implement(({ list }) => list.push(2)),
      args,
    );
    expect(args).toEqual({ list: [1] });
  });

  test("are named in what is complained about", async () => {
    const schema = z.strictObject({ at: z.object({ lat: z.number() }) });
    const locate = tool({ name: "locate", description, schema }).implement(() => 1);
    const { error } = (await result(locate, { at: { lat: "x" }, more: 1 })) as { error: { message: string } };
    expect(error.message).toMatch(/^The arguments do not fit the tool's schema: /);
    expect(error.message).toContain("at.lat: ");
    expect(error.message).toContain("more");
  });

  test("come with the call's context", async () => {
    const body = vi.fn(() => 1);
    const given = context();
    await result(tool({ name: "look", description }).implement(body), {}, given);
    expect(body).toHaveBeenCalledWith({}, given);
  });
});

describe("a result", () => {
  const returning = (value: unknown) => tool({ name: "give", description }).implement(() => value);

  test.each([
    [undefined, null],
    [null, null],
    [{ a: undefined, b: [1] }, { b: [1] }],
    [new Uint8Array([1]).buffer, new Uint8Array([1])],
    [Promise.resolve(1), 1],
  ])("%o is sent as %o", async (value, sent) => {
    expect(await result(returning(value))).toEqual({ status: "success", value: sent });
  });

  test("a value that contains itself cannot be sent", async () => {
    const cycle: unknown[] = [];
    cycle.push({ cycle });
    expect(await result(returning(cycle))).toMatchObject({
      error: { code: "invalid_result", message: expect.stringContaining("contains itself") },
    });
  });

  test.each([
    [{ a: [1n] }, "$.a[0]", "bigint"],
    [{ a: Number.NaN }, "$.a", "NaN"],
    [[() => 1], "$[0]", "function"],
    [{ at: new Date(0) }, "$.at", "Date"],
    [new Map(), "$", "Map"],
    [{ n: 2 ** 60 }, "$.n", "2^53-1"],
  ])("%o cannot be sent: the message names %s", async (value, place, reason) => {
    const { error } = (await result(returning(value))) as { error: { code: string; message: string } };
    expect(error.code).toBe("invalid_result");
    expect(error.message).toContain(`at ${place}: `);
    expect(error.message).toContain(reason);
  });

  test("fits its schema, and is sent as the schema makes it", async () => {
    const schema = z.object({
      at: z.date().transform((date) => date.toISOString()),
      n: z.number().optional(),
    });
    const when = (value: unknown) =>
      tool({ name: "when", description, result: schema }).implement(() => value as { at: Date });
    expect(await result(when({ at: new Date(0) }))).toEqual({
      status: "success",
      value: { at: "1970-01-01T00:00:00.000Z" },
    });
    expect(await result(when({ at: "now" }))).toMatchObject({
      status: "error",
      error: { code: "invalid_result" },
    });
  });
});

describe("what a body throws", () => {
  class GeolocationPositionError {
    readonly message = "position";
    readonly [Symbol.toStringTag] = "GeolocationPositionError";
    constructor(readonly code: number) {}
  }

  test.each([
    [new FarsideError("dismissed", "no, thanks"), "dismissed"],
    [{ code: "needs_gesture", message: "click" }, "needs_gesture"],
    [Object.assign(new Error("no"), { code: "timed_out" }), "timed_out"],
    [new FarsideError("run_active", "not a tool's"), "failed"],
    [new GeolocationPositionError(1), "permission_denied"],
    [new GeolocationPositionError(2), "failed"],
    [new GeolocationPositionError(3), "timed_out"],
    [{ code: 1, message: "just a number" }, "failed"],
    [new DOMException("no", "NotAllowedError"), "permission_denied"],
    [new DOMException("no", "NotSupportedError"), "unsupported"],
    [new DOMException("no", "AbortError"), "failed"],
    [new TypeError("oops"), "failed"],
    ["a text", "failed"],
    [null, "failed"],
  ])("%o has a code", async (thrown, code) => {
    const message = (thrown as { message?: string } | null)?.message ?? String(thrown);
    expect(await result(throwing(thrown))).toEqual({ status: "error", error: { code, message } });
  });

  test("may carry details, where they can be sent", async () => {
    const detailed = (details: Record<string, unknown>) =>
      throwing(new FarsideError("failed", "no", { details }));
    expect(await result(detailed({ tried: 3 }))).toMatchObject({ error: { details: { tried: 3 } } });
    expect(await result(detailed({ when: new Date(0) }))).toEqual({
      status: "error",
      error: { code: "failed", message: "no" },
    });
  });

  test("is well-formed text", async () => {
    expect(await result(throwing(new Error("a\uD800b")))).toMatchObject({ error: { message: "a\uFFFDb" } });
  });
});

describe("gestures", () => {
  const activation = { isActive: false };
  const listeners = new EventTarget();
  afterEach(() => vi.unstubAllGlobals());
  const stub = () => {
    activation.isActive = false;
    vi.stubGlobal("navigator", { userActivation: activation });
    vi.stubGlobal("addEventListener", listeners.addEventListener.bind(listeners));
  };

  test("a denial without a click needs one", async () => {
    stub();
    expect(await result(throwing(new DOMException("no", "NotAllowedError")))).toMatchObject({
      error: { code: "needs_gesture" },
    });
    activation.isActive = true;
    expect(await result(throwing(new DOMException("no", "NotAllowedError")))).toMatchObject({
      error: { code: "permission_denied" },
    });
  });

  test("a body that needs one waits for it, with good arguments only", async () => {
    stub();
    const body = vi.fn(() => activation.isActive);
    const schema = z.object({ text: z.string() });
    const copy = tool({ name: "copy", description, schema }).implement(body, { activation: "required" });
    expect(await asking(copy, {}).outcome).toMatchObject({ error: { code: "invalid_args" } });

    const { outcome, asked } = asking(copy, { text: "x" });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    expect(asked.map(({ reason }) => reason)).toEqual(["activation"]);
    activation.isActive = true;
    await quiet();
    expect(body).not.toHaveBeenCalled();
    asked[0]?.proceed();
    expect(await outcome).toEqual({ status: "success", value: true });
  });

  test("a body is asked about again where there was no click after all", async () => {
    stub();
    const copy = tool({ name: "copy", description }).implement(() => 1, { activation: "required" });
    const { outcome, asked } = asking(copy);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    asked[0]?.proceed();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    activation.isActive = true;
    asked[1]?.proceed();
    expect(await outcome).toMatchObject({ status: "success" });
  });

  test("a body does not wait when there was one just now", async () => {
    stub();
    activation.isActive = true;
    const copy = tool({ name: "copy", description }).implement(() => 1, { activation: "required" });
    const { outcome, asked } = asking(copy);
    expect(await outcome).toEqual({ status: "success", value: 1 });
    expect(asked).toEqual([]);
  });

  test("a body that the user does not want is dismissed", async () => {
    stub();
    const body = vi.fn();
    const copy = tool({ name: "copy", description }).implement(body, { activation: "required" });
    const { outcome, asked } = asking(copy);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    asked[0]?.dismiss();
    activation.isActive = true;
    asked[0]?.proceed();
    expect(await outcome).toMatchObject({ error: { code: "dismissed" } });
    expect(body).not.toHaveBeenCalled();
  });

  test("a body that waits is aborted like any other", async () => {
    stub();
    const body = vi.fn();
    const controller = new AbortController();
    const copy = tool({ name: "copy", description }).implement(body, { activation: "required" });
    const { outcome, asked } = asking(copy, {}, controller);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    controller.abort(new FarsideError("cancelled", "stop"));
    expect(asked[0]?.signal.aborted).toBe(true);
    activation.isActive = true;
    asked[0]?.proceed();
    expect(await outcome).toMatchObject({ error: { code: "cancelled" } });
    expect(body).not.toHaveBeenCalled();
  });

  test("a page that proceeds by itself, without a click, holds up nothing", async () => {
    stub();
    const copy = tool({ name: "copy", description }).implement(() => 1, { activation: "required" });
    const controller = new AbortController();
    let count = 0;
    const outcome = resultOfBody(adopt(copy), {}, context(controller), ({ proceed }) => {
      count += 1;
      proceed();
    });
    await new Promise<void>((resolve) => setTimeout(resolve));
    controller.abort(new FarsideError("cancelled", "stop"));
    expect(await outcome).toMatchObject({ error: { code: "cancelled" } });
    expect(count).toBeGreaterThan(0);
  });

  test("one click is enough for one body that uses it up, after all others", async () => {
    stub();
    const order: string[] = [];
    const named = (name: string, activation: "required" | "consumed") =>
      tool({ name, description }).implement(() => void order.push(name), { activation });
    const calls = [named("first", "consumed"), named("second", "consumed"), named("other", "required")].map(
      (each) => asking(each),
    );
    await vi.waitFor(() => expect(calls.map(({ asked }) => asked.length)).toEqual([1, 1, 1]));
    const click = () => {
      activation.isActive = true;
      listeners.dispatchEvent(new Event("click"));
      for (const { asked } of calls) asked.at(-1)?.proceed();
    };
    click();
    await Promise.all([calls[0]?.outcome, calls[2]?.outcome]);
    expect(order).toEqual(["other", "first"]);
    await vi.waitFor(() => expect(calls.map(({ asked }) => asked.length)).toEqual([1, 2, 1]));
    // The browser may go on to say that there was a click.
    calls[1]?.asked.at(-1)?.proceed();
    await vi.waitFor(() => expect(calls[1]?.asked).toHaveLength(3));
    expect(order).toEqual(["other", "first"]);
    click();
    await calls[1]?.outcome;
    expect(order).toEqual(["other", "first", "second"]);
  });
});

describe("consent", () => {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
  afterEach(() => {
    stored.clear();
    vi.unstubAllGlobals();
  });
  const photo = (consent: "never" | "once" | "always") =>
    tool({ name: "photo", description }).implement(() => 1, { consent });
  /** Calls it and lets the user agree; returns how often the user was asked. */
  const agreed = async (consent: "never" | "once" | "always") => {
    const { outcome, asked } = asking(photo(consent));
    await quiet();
    for (const { reason, proceed } of asked) {
      expect(reason).toBe("consent");
      proceed();
    }
    expect(await outcome).toEqual({ status: "success", value: 1 });
    return asked.length;
  };

  test("once is remembered until it is taken back, always is asked for each time", async () => {
    vi.stubGlobal("localStorage", storage);
    expect([await agreed("never"), await agreed("once"), await agreed("once")]).toEqual([0, 1, 0]);
    expect(hasConsent("photo")).toBe(true);
    expect([await agreed("always"), await agreed("always")]).toEqual([1, 1]);
    revokeConsent("photo");
    expect(hasConsent("photo")).toBe(false);
    expect(await agreed("once")).toBe(1);
    stored.clear();
    expect(await agreed("always")).toBe(1);
    expect(stored.size).toBe(0);
  });

  test("that is refused runs nothing and is not remembered", async () => {
    vi.stubGlobal("localStorage", storage);
    const { outcome, asked } = asking(photo("once"));
    await quiet();
    asked[0]?.dismiss();
    expect(await outcome).toMatchObject({ error: { code: "dismissed" } });
    expect(hasConsent("photo")).toBe(false);
  });

  test("of a call that was withdrawn is not remembered", async () => {
    vi.stubGlobal("localStorage", storage);
    const controller = new AbortController();
    const { outcome, asked } = asking(photo("once"), {}, controller);
    await quiet();
    controller.abort(new FarsideError("cancelled", "stop"));
    asked[0]?.proceed();
    expect(await outcome).toMatchObject({ error: { code: "cancelled" } });
    expect(hasConsent("photo")).toBe(false);
  });

  test("is asked for a tool that somebody has wrapped", async () => {
    const wrapped = { ...photo("always"), execute: vi.fn(async () => 2) };
    const { outcome, asked } = asking(wrapped);
    await quiet();
    expect(wrapped.execute).not.toHaveBeenCalled();
    asked[0]?.proceed();
    expect(await outcome).toEqual({ status: "success", value: 2 });
    expect(wrapped.execute).toHaveBeenCalledWith({}, expect.objectContaining({ toolCallId: "c1" }));
  });

  test("is asked for each time where a page may store nothing", async () => {
    expect([await agreed("once"), await agreed("once")]).toEqual([1, 1]);
  });

  test("is asked for a tool that somebody else has written", async () => {
    const ready = tool({ name: "photo", description }).implement(() => 1, { activation: "required" });
    const careful = withOptions(ready, { consent: "always" });
    expect(careful.options).toEqual({ activation: "required", consent: "always" });
    const { outcome, asked } = asking(careful);
    await quiet();
    expect(asked).toMatchObject([{ reason: "consent" }]);
    asked[0]?.proceed();
    expect(await outcome).toEqual({ status: "success", value: 1 });
    expect(await result(ready)).toEqual({ status: "success", value: 1 });
  });

  test("that comes with a click is that click too", async () => {
    vi.stubGlobal("navigator", { userActivation: { isActive: true } });
    const options = { consent: "always", activation: "required" } as const;
    const { outcome, asked } = asking(tool({ name: "photo", description }).implement(() => 1, options));
    await quiet();
    asked[0]?.proceed();
    expect(await outcome).toMatchObject({ status: "success" });
    expect(asked).toHaveLength(1);
  });
});

describe("a name", () => {
  test.each(["get_location", "a", "A-1", "x".repeat(64)])("may be %s", (name) => {
    expect(tool({ name, description }).name).toBe(name);
  });

  test.each(["", "a b", "a.b", "é", "x".repeat(65), "a\n", undefined, 1])("may not be %j", (name) => {
    expect(() => tool({ name: name as string, description })).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringContaining("letters, digits, _ and -"),
      }),
    );
  });
});

describe("the official clients", () => {
  test("can execute our tools", async () => {
    const echo = tool({ name: "echo", description, schema: z.object({ text: z.string().trim() }) }).implement(
      ({ text }) => text,
    );
    expect(echo.tool.name).toBe("echo");
    expect(await echo.execute({ text: " hi " })).toBe("hi");
    await expect(echo.execute({} as never)).rejects.toMatchObject({ code: "invalid_args" });
  });

  test("have tools that we can execute", async () => {
    const theirs = { tool: { name: "add" }, execute: async ({ a, b }: { a: number; b: number }) => a + b };
    expect(await result(theirs, { a: 1, b: 2 })).toEqual({ status: "success", value: 3 });
  });

  test("have tools whose schema holds, where it is a Standard Schema", async () => {
    const execute = vi.fn((args: { a: number }) => args.a);
    const theirs = { tool: { name: "add", schema: z.object({ a: z.number() }) }, execute };
    expect(await result(theirs, { a: "1" })).toMatchObject({ error: { code: "invalid_args" } });
    expect(execute).not.toHaveBeenCalled();
    const loose = { tool: { name: "add", schema: { type: "object" } }, execute };
    expect(await result(loose, { a: 1 })).toEqual({ status: "success", value: 1 });
  });
});

test("types follow the schemas", () => {
  const schema = z.object({ text: z.string().trim(), times: z.number().default(1) });
  const repeat = tool({ name: "repeat", description, schema }).implement((args, given) => {
    expectTypeOf(args).toEqualTypeOf<{ text: string; times: number }>();
    expectTypeOf(given).toEqualTypeOf<ToolContext>();
    return args.text.repeat(args.times);
  });
  expectTypeOf(repeat.execute).parameter(0).toEqualTypeOf<{ text: string; times?: number | undefined }>();

  tool({ name: "valibot", description, schema: v.object({ n: v.optional(v.number(), 1) }) }).implement(
    ({ n }) => {
      expectTypeOf(n).toEqualTypeOf<number>();
    },
  );
  tool({ name: "arktype", description, schema: arktype({ n: "number" }) }).implement(({ n }) => {
    expectTypeOf(n).toEqualTypeOf<number>();
  });
  tool({ name: "none", description }).implement((args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, never>>();
  });

  const position = tool({ name: "position", description, result: z.object({ lat: z.number() }) });
  position.implement(async () => ({ lat: 1 }));
  // @ts-expect-error: the result's schema wants a number
  position.implement(() => ({ lat: "1" }));
  // @ts-expect-error: a schema is a Standard Schema
  tool({ name: "wrong", description, schema: { type: "object" } });
});
