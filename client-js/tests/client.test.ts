import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import {
  type Client,
  createClient,
  declare,
  FarsideError,
  type Message,
  type Snapshot,
  type Thread,
  type ToolCall,
  type ToolEvent,
  type ToolWaiting,
  tool,
} from "../src/index.ts";
import { FakeServer, ManualClock, quiet } from "../src/testing/index.ts";
import { claimOf, openCall, SUCCESS, WELCOME } from "./messages.ts";
import { grant, held, page } from "./page.ts";

const description = "";
const getLocation = tool({ name: "get_location", description }).implement(() => ({
  lat: 1,
  photo: new Uint8Array([7]),
}));

afterEach(() => vi.unstubAllGlobals());

describe.each(["msgpack", "json"] as const)("with %s", (encoding) => {
  test("a tool is executed and its answer stored, bytes and all", async () => {
    const schema = z.object({ photo: z.instanceof(Uint8Array) });
    const show = tool({ name: "get_location", description, schema }).implement(({ photo }) => [
      photo,
      photo.length,
    ]);
    const { connection, thread, heard } = await page({ tools: [show], encoding });
    expect(connection.protocol).toBe(`farside.v1.${encoding}`);
    const claim_id = await grant(connection, { args: { photo: new Uint8Array([1, 2]) } });
    expect(claim_id).toMatch(/^[0-9a-f]{32}$/);
    const settle = await connection.take("call.settle");
    const value = [new Uint8Array([1, 2]), 2];
    expect(settle.params).toEqual({
      interrupt_id: "i1",
      claim_id,
      result: { status: "success", value },
    });
    connection.reply(settle, { result: { status: "success", value } });
    expect(thread.getSnapshot().toolCalls).toMatchObject([{ state: "answered", result: value }]);
    expect(heard.map(({ phase }) => phase)).toEqual(["start", "success"]);
  });

  test("what the user says starts a run", async () => {
    const { connection, thread } = await page({ encoding });
    const accepted = thread.submit("Where am I?");
    expect(thread.getSnapshot()).toMatchObject({ status: "running", messages: [{ text: "Where am I?" }] });
    const { params, ...command } = await connection.take("run.start");
    const id = thread.getSnapshot().messages[0]?.id;
    expect(params).toEqual({
      assistant_id: "assistant",
      input: { messages: [{ type: "human", content: "Where am I?", id }] },
      run_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    connection.reply({ params, ...command }, { run_id: String(params.run_id) });
    await expect(accepted).resolves.toBeUndefined();
  });
});

describe("a tool that was made for other schemas than the server's", () => {
  const old = declare({ name: "get_location", description, fingerprint: "old", args: {} }).implement(() => 1);
  const mismatches = [{ name: "get_location", fingerprint: "old", expected: "new" }];

  test("is announced with its fingerprint, and the console says what the server's is", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const server = new FakeServer();
    const options = { url: "ws://server", agent: "assistant", WebSocket: server.WebSocket };
    const client = createClient({
      ...options,
      tools: [old, tool({ name: "other", description }).implement(() => 1)],
      clock: new ManualClock(),
    });
    client.thread("t");
    const connection = await server.connection();
    const announced = await connection.take("client.announce");
    expect(announced.params.tools).toEqual([{ name: "get_location", fingerprint: "old" }, { name: "other" }]);
    connection.reply(announced, { ...WELCOME, mismatches });
    await quiet();
    expect(warn.mock.calls).toEqual([["farside: schema_mismatch", mismatches]]);
    client.close();
    warn.mockRestore();
  });

  test("is an error of the thread where it gets no calls for it", async () => {
    const { connection, thread } = await page({ tools: [old] });
    connection.send({
      type: "error",
      id: null,
      error: "schema_mismatch",
      message: "load the page anew",
      details: { mismatches },
    });
    const { error } = thread.getSnapshot();
    expect(error).toBeInstanceOf(FarsideError);
    expect(error).toMatchObject({ code: "schema_mismatch", details: { mismatches } });
  });
});

describe("executing", () => {
  test("a body that answers at once is heard (F20)", async () => {
    const { connection } = await page({ tools: [getLocation] });
    await grant(connection);
    expect((await connection.take("call.settle")).params.result).toMatchObject({ status: "success" });
  });

  test("a call that is opened twice runs once", async () => {
    const body = vi.fn(() => 1);
    const { connection } = await page({
      tools: [tool({ name: "get_location", description }).implement(body)],
    });
    connection.event("calls", { event: "opened", ...openCall() });
    await grant(connection);
    connection.event("calls", { event: "opened", ...openCall() });
    await connection.take("call.settle");
    connection.event("calls", { event: "opened", ...openCall() });
    await quiet();
    expect(body).toHaveBeenCalledOnce();
    expect(connection.unread).toEqual([]);
  });

  test("messages that the network doubles count once", async () => {
    const body = vi.fn(() => 1);
    const { connection } = await page({
      tools: [tool({ name: "get_location", description }).implement(body)],
    });
    connection.event("calls", { event: "opened", ...openCall() });
    connection.repeat();
    const claim = await connection.take("call.claim");
    expect(connection.unread).toEqual([]);
    connection.reply(claim, claimOf(openCall()));
    connection.repeat();
    await quiet();
    expect(body).toHaveBeenCalledOnce();
  });

  test("two calls run at the same time and are answered in reverse order", async () => {
    const a = held("a");
    const b = held("b");
    const { connection } = await page({ tools: [a.tool, b.tool] });
    await grant(connection, { interrupt_id: "ia", name: "a" });
    await grant(connection, { interrupt_id: "ib", name: "b" });
    b.end("B");
    await quiet();
    a.end("A");
    expect((await connection.take("call.settle")).params).toMatchObject({
      interrupt_id: "ib",
      result: { value: "B" },
    });
    expect((await connection.take("call.settle")).params).toMatchObject({
      interrupt_id: "ia",
      result: { value: "A" },
    });
  });

  test("arguments that do not fit never reach the body (F22)", async () => {
    const body = vi.fn();
    const schema = z.object({ high: z.string() });
    const { connection, heard } = await page({
      tools: [tool({ name: "get_location", description, schema }).implement(body)],
    });
    await grant(connection);
    expect((await connection.take("call.settle")).params.result).toMatchObject({
      error: { code: "invalid_args" },
    });
    expect(body).not.toHaveBeenCalled();
    expect(heard).toMatchObject([{ phase: "start" }, { phase: "error", error: { code: "invalid_args" } }]);
  });

  test("onTool hears each step, and may throw", async () => {
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
    const events: ToolEvent[] = [];
    const body = held();
    const { connection, clock } = await page({
      tools: [body.tool],
      onTool: (event) => {
        events.push(event);
        throw new Error("listener");
      },
    });
    await grant(connection);
    body.started[0]?.progress({ half: true });
    await clock.advance(250);
    body.end("done");
    await quiet();
    const shared = { name: "get_location", args: { high: true }, toolCallId: "c1", threadId: "t" };
    expect(events).toEqual([
      { ...shared, phase: "start" },
      { ...shared, phase: "progress", result: { half: true } },
      { ...shared, phase: "success", result: "done", duration: 250 },
    ]);
    expect(await connection.take("call.progress")).toMatchObject({ params: { value: { half: true } } });
    expect(await connection.take("call.settle")).toMatchObject({ params: { result: { value: "done" } } });
    expect(complaints).toHaveBeenCalledTimes(3);
    complaints.mockRestore();
  });

  test("onTool hears what a body throws", async () => {
    const thrower = tool({ name: "get_location", description }).implement(() => {
      throw new FarsideError("dismissed", "no, thanks");
    });
    const { connection, heard } = await page({ tools: [thrower] });
    await grant(connection);
    expect(heard.at(-1)).toMatchObject({
      phase: "error",
      duration: 0,
      error: { code: "dismissed", message: "no, thanks" },
    });
    expect(heard.at(-1)?.error).toBeInstanceOf(FarsideError);
  });

  test("stop aborts the body at once, and its answer is not sent (F16)", async () => {
    const body = held();
    const { connection, thread, heard } = await page({ tools: [body.tool] });
    await grant(connection);
    const stopped = thread.stop();
    expect(body.started[0]?.signal.aborted).toBe(true);
    expect(body.started[0]?.signal.reason).toMatchObject({ name: "FarsideError", code: "cancelled" });
    body.end("too late");
    connection.reply(await connection.take("run.cancel"), {});
    await stopped;
    await quiet();
    expect(connection.unread).toEqual([]);
    expect(heard.at(-1)).toMatchObject({ phase: "cancelled", error: { code: "cancelled" } });
  });

  test("a call that expires aborts the body", async () => {
    const body = held();
    const { connection } = await page({ tools: [body.tool] });
    await grant(connection);
    const result = { status: "error", error: { code: "timed_out", message: "too late" } };
    connection.event("calls", { event: "expired", ...claimOf(openCall()), result });
    expect(body.started[0]?.signal.reason).toMatchObject({ code: "timed_out", message: "too late" });
  });

  test("status says running while a tool works (F28)", async () => {
    const body = held();
    const { connection, thread, clock } = await page({ tools: [body.tool] });
    connection.event("lifecycle", { event: "running", run_id: "run-1" });
    await grant(connection);
    await clock.advance(10_000);
    expect(thread.getSnapshot()).toMatchObject({ status: "running", toolCalls: [{ state: "running" }] });
  });

  test("a result that is too large for the server becomes an error that says so (F26)", async () => {
    const large = tool({ name: "get_location", description }).implement(() => "x".repeat(50 * 1024 * 1024));
    const { connection, thread } = await page({ tools: [large] });
    await grant(connection);
    const { result } = (await connection.take("call.settle")).params;
    expect(result).toMatchObject({
      error: { code: "invalid_result", message: expect.stringContaining("too_large") },
    });
    expect(thread.getSnapshot().connection).toBe("open");
  });

  test("progress is sent in its own time, and at the latest then", async () => {
    const body = held();
    const { connection, clock, thread } = await page({ tools: [body.tool] });
    await grant(connection);
    for (const value of [1, 2, 3]) body.started[0]?.progress(value);
    expect(thread.getSnapshot().toolCalls).toMatchObject([{ progress: 3 }]);
    connection.reply(await connection.take("call.progress"), { lease_ms: 30_000 });
    await quiet();
    expect(connection.unread).toEqual([]);
    await clock.advance(100);
    expect((await connection.take("call.progress")).params).toMatchObject({ value: 3 });
  });

  test("progress that cannot be sent is the body's fault", async () => {
    const bad = tool({ name: "get_location", description }).implement((_args, { progress }) => progress(1n));
    const { connection } = await page({ tools: [bad] });
    await grant(connection);
    expect((await connection.take("call.settle")).params.result).toMatchObject({
      error: { code: "failed", message: expect.stringContaining("bigint") },
    });
  });

  test("progress after the end is nobody's", async () => {
    const body = held();
    const { connection, heard } = await page({ tools: [body.tool] });
    await grant(connection);
    body.end(1);
    await quiet();
    body.started[0]?.progress(1);
    expect(heard.map(({ phase }) => phase)).toEqual(["start", "success"]);
  });

  test("a body may submit, stop and report before it returns", async () => {
    const thread: { current?: Thread } = {};
    const eager = tool({ name: "get_location", description }).implement((_args, { progress }) => {
      progress(1);
      thread.current?.submit("and then?");
      return 2;
    });
    const opened = await page({ tools: [eager] });
    thread.current = opened.thread;
    await grant(opened.connection);
    expect(opened.connection.unread.map(({ method }) => method)).toEqual([
      "call.progress",
      "run.start",
      "call.settle",
    ]);
  });
});

describe("a lost connection", () => {
  test("does not stop the body, whose answer is sent when there is a new one (F12, F17)", async () => {
    const body = held();
    const { server, connection, thread, clock } = await page({ tools: [body.tool], random: () => 0.5 });
    await grant(connection);
    connection.drop();
    body.end("done");
    await quiet();
    expect(thread.getSnapshot().connection).toBe("connecting");
    await clock.advance(250);
    const next = await server.connection();
    expect((await next.take("client.announce")).params).toMatchObject({ client_id: expect.any(String) });
    expect((await next.take("subscription.subscribe")).params).toMatchObject({ since: connection.seq });
    expect((await next.take("call.settle")).params).toMatchObject({ result: { value: "done" } });
    expect(body.started).toHaveLength(1);
  });

  test("that swallowed the answer is noticed by the silence, and the answer sent again", async () => {
    const body = held();
    const { server, connection, clock } = await page({ tools: [body.tool] });
    await grant(connection);
    connection.silence();
    body.end("done");
    await clock.advance(60_000);
    expect(connection.isOpen).toBe(false);
    const next = await server.connection();
    await next.welcome({ seq: connection.seq, subscription: { calls: [openCall({ state: "claimed" })] } });
    const settle = next.received.find(({ method }) => method === "call.settle");
    expect(settle?.params).toMatchObject({ interrupt_id: "i1", result: { value: "done" } });
    expect(body.started).toHaveLength(1);
  });

  test("is tried again with growing pauses, and at once when the network is back", async () => {
    const network = new EventTarget();
    vi.stubGlobal("addEventListener", network.addEventListener.bind(network));
    const clock = new ManualClock();
    const server = new FakeServer({ accepts: false });
    const client = createClient({
      url: "ws://server",
      agent: "a",
      WebSocket: server.WebSocket,
      clock,
      random: () => 0.5,
    });
    client.thread("t");
    await quiet();
    for (const pause of [250, 500, 1_000, 2_000]) {
      server.refuse();
      expect(clock.next).toBe(clock.now() + pause);
      await clock.advance(pause - 1);
      expect(server.knocking).toEqual([]);
      await clock.advance(1);
      expect(server.knocking).toHaveLength(1);
    }
    server.refuse();
    network.dispatchEvent(new Event("online"));
    await quiet();
    expect(server.knocking).toHaveLength(1);
    network.dispatchEvent(new Event("online"));
    await quiet();
    expect(server.knocking).toHaveLength(1);
    client.close();
    expect(clock.next).toBeUndefined();
  });

  test("does not lose what is submitted meanwhile", async () => {
    const { server, connection, thread } = await page();
    connection.drop();
    thread.submit("still there?");
    const next = await server.connection();
    await next.take("client.announce");
    await next.take("subscription.subscribe");
    expect((await next.take("run.start")).params).toMatchObject({
      input: { messages: [{ content: "still there?" }] },
    });
  });

  test("frames that are delayed arrive in order", async () => {
    const { connection, thread } = await page();
    connection.hold();
    connection.event("lifecycle", { event: "running", run_id: "r" });
    connection.event("lifecycle", { event: "completed", run_id: "r" });
    expect(thread.getSnapshot().status).toBe("idle");
    connection.release();
    await quiet();
    expect(thread.getSnapshot().status).toBe("idle");
    expect(connection.seq).toBe(2);
  });
});

describe("subscribers", () => {
  test("are told once for all that came together", async () => {
    const { connection, thread } = await page();
    const listener = vi.fn();
    const unsubscribe = thread.subscribe(listener);
    const before = thread.getSnapshot();
    for (const text of ["a", "b", "c"]) {
      const delta = { type: "text-delta", text };
      connection.event("messages", { event: "content-block-delta", index: 0, delta, message_id: "m" });
    }
    expect(listener).not.toHaveBeenCalled();
    await quiet();
    expect(listener).toHaveBeenCalledOnce();
    expect(thread.getSnapshot()).not.toBe(before);
    expect(thread.getSnapshot()).toBe(thread.getSnapshot());
    expect(thread.getSnapshot().messages[0]?.text).toBe("abc");
    unsubscribe();
    connection.event("lifecycle", { event: "running", run_id: "r" });
    await quiet();
    expect(listener).toHaveBeenCalledOnce();
  });

  test("do not disturb each other", async () => {
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
    const { connection, thread } = await page();
    const listener = vi.fn();
    const throwing = () => {
      throw new Error("listener");
    };
    const one = thread.subscribe(throwing);
    thread.subscribe(throwing);
    thread.subscribe(listener);
    one();
    connection.event("lifecycle", { event: "running", run_id: "r" });
    await quiet();
    expect(listener).toHaveBeenCalledOnce();
    expect(complaints).toHaveBeenCalledOnce();
    complaints.mockRestore();
  });

  test("hear custom events", async () => {
    const onCustom = vi.fn();
    const { connection } = await page({ onCustom });
    connection.event("custom", { payload: 1, name: "step" });
    expect(onCustom).toHaveBeenCalledWith({ payload: 1, name: "step", threadId: "t" });
  });
});

describe("submit", () => {
  test("takes messages, and gives each an id", async () => {
    const { connection, thread } = await page({ newId: (kind) => `new-${kind}` });
    const image = { type: "image", data: new Uint8Array([1]) };
    thread.submit({
      messages: [{ type: "human", content: [image] }, "text", { role: "user", content: "x", id: "own" }],
      more: 1,
    });
    expect((await connection.take("run.start")).params.input).toEqual({
      messages: [
        { type: "human", content: [image], id: "new-message" },
        { type: "human", content: "text", id: "new-message" },
        { role: "user", content: "x", id: "own" },
      ],
      more: 1,
    });
    expect(thread.getSnapshot().messages.map(({ id }) => id)).toEqual(["new-message", "own"]);
  });

  test("takes any other input", async () => {
    const { connection, thread } = await page();
    thread.submit({ topic: "weather", since: undefined });
    expect((await connection.take("run.start")).params.input).toEqual({ topic: "weather" });
  });

  test("tells when the server refuses it", async () => {
    const { connection, thread } = await page();
    const accepted = thread.submit("hi");
    connection.refuse(await connection.take("run.start"), "run_active", "busy");
    await expect(accepted).rejects.toMatchObject({ code: "run_active", message: "busy" });
    expect(thread.getSnapshot()).toMatchObject({ messages: [], error: { code: "run_active" } });
  });

  test("tells when the input cannot be sent", async () => {
    const { connection, thread } = await page();
    await expect(thread.submit({ when: new Date(0) })).rejects.toMatchObject({ code: "invalid_value" });
    expect(thread.getSnapshot().error).toMatchObject({ code: "invalid_value" });
    await quiet();
    expect(connection.unread).toEqual([]);
  });

  test("may be ignored: nothing is left unhandled", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const { connection, thread, client } = await page();
    thread.submit("hi");
    connection.refuse(await connection.take("run.start"), "run_active");
    thread.stop();
    thread.respond("q", 1);
    client.close();
    await quiet();
    await quiet();
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

test("respond answers an interrupt", async () => {
  const { connection, thread } = await page({
    welcome: { subscription: { interrupts: [{ interrupt_id: "q", payload: "Really?" }] } },
  });
  expect(thread.getSnapshot().interrupts).toEqual([{ id: "q", payload: "Really?" }]);
  const stored = thread.respond("q", undefined);
  const respond = await connection.take("input.respond");
  expect(respond.params.responses).toEqual([{ interrupt_id: "q", response: null, namespace: [] }]);
  connection.reply(respond, {});
  await stored;
  expect(thread.getSnapshot().interrupts).toEqual([]);
});

describe("tools", () => {
  test("can be replaced", async () => {
    const { connection, client, thread } = await page();
    connection.event("calls", { event: "opened", ...openCall() });
    expect((await connection.take("call.release")).params).toEqual({
      interrupt_id: "i1",
      reason: "not_implemented",
    });
    client.setTools([getLocation]);
    expect((await connection.take("client.announce")).params.tools).toEqual([{ name: "get_location" }]);
    connection.event("calls", { event: "offered", interrupt_id: "i1", client_id: "me" });
    connection.reply(await connection.take("call.claim"), { ...claimOf(openCall()), lease_ms: 1 });
    await connection.take("call.settle");
    expect(thread.getSnapshot().toolCalls).toMatchObject([{ state: "running" }]);
  });

  test("of the official clients fit", async () => {
    const theirs = { tool: { name: "get_location" }, execute: async (args: { high: boolean }) => args.high };
    const { connection } = await page({ tools: [theirs] });
    await grant(connection);
    expect((await connection.take("call.settle")).params.result).toEqual({ status: "success", value: true });
  });

  test("need names of their own", () => {
    expect(() => createClient({ url: "ws://server", agent: "a", tools: [getLocation, getLocation] })).toThrow(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining("get_location") }),
    );
    const theirs = { tool: { name: "not a name" }, execute: () => 1 };
    expect(() => createClient({ url: "ws://server", agent: "a", tools: [theirs] })).toThrow(FarsideError);
  });

  describe("that wait for a click", () => {
    const navigator = { userActivation: { isActive: false } };
    const copy = tool({ name: "get_location", description }).implement(() => "copied", {
      activation: "required",
    });
    beforeEach(() => {
      navigator.userActivation.isActive = false;
      vi.stubGlobal("navigator", navigator);
    });

    test("say so, and go on with it", async () => {
      const { connection, heard } = await page({ tools: [copy] });
      await grant(connection);
      await vi.waitFor(() => expect(heard.map(({ phase }) => phase)).toEqual(["start", "waiting"]));
      const waiting = heard[1] as ToolWaiting;
      expect(waiting).toMatchObject({ name: "get_location", reason: "activation", threadId: "t" });
      navigator.userActivation.isActive = true;
      waiting.proceed();
      expect((await connection.take("call.settle")).params.result).toEqual({
        status: "success",
        value: "copied",
      });
    });

    test("are dismissed", async () => {
      const { connection, heard } = await page({ tools: [copy] });
      await grant(connection);
      await vi.waitFor(() => expect(heard).toHaveLength(2));
      (heard[1] as ToolWaiting).dismiss();
      expect((await connection.take("call.settle")).params.result).toMatchObject({
        error: { code: "dismissed" },
      });
    });

    test("fail where the page has nothing that could ask", async () => {
      const { connection } = await page({ tools: [copy], onTool: undefined });
      await grant(connection);
      const settled = await vi.waitFor(() => connection.take("call.settle"));
      expect(settled.params.result).toMatchObject({
        error: { code: "needs_gesture", message: expect.stringContaining("onTool") },
      });
    });
  });
});

describe("permissions", () => {
  /** What a browser says about two permissions, and about no others. */
  function stub() {
    const statusOf = (state: string) => ({ state, onchange: null as (() => void) | null });
    const statuses = { geolocation: statusOf("prompt"), "clipboard-read": statusOf("granted") };
    const query = vi.fn(async ({ name }: { name: string }) => {
      if (!(name in statuses)) throw new TypeError(`what is ${name}?`);
      return statuses[name as keyof typeof statuses];
    });
    vi.stubGlobal("navigator", { permissions: { query } });
    return { statuses, query };
  }
  const needing = (name: string, ...permissions: string[]) =>
    tool({ name, description, permissions }).implement(() => 1);

  test("that the tools need are announced, and announced again when they change", async () => {
    const { statuses, query } = stub();
    const tools = [needing("a", "geolocation", "telepathy"), needing("b", "geolocation"), getLocation];
    const { connection, client } = await page({ tools });
    expect(connection.received[0]?.params).toMatchObject({
      tools: [
        { name: "a", permissions: ["geolocation", "telepathy"] },
        { name: "b", permissions: ["geolocation"] },
        { name: "get_location" },
      ],
      permissions: { geolocation: "prompt" },
    });
    expect(query).toHaveBeenCalledTimes(2);
    statuses.geolocation.state = "denied";
    statuses.geolocation.onchange?.();
    statuses.geolocation.onchange?.();
    await quiet();
    expect(connection.unread.map(({ params }) => params["permissions"])).toEqual([{ geolocation: "denied" }]);
    client.close();
    statuses.geolocation.onchange?.();
    await quiet();
    expect(connection.unread).toHaveLength(1);
  });

  test("of tools that come later are asked about then", async () => {
    stub();
    const { connection, client } = await page();
    client.setTools([needing("a", "clipboard-read")]);
    await quiet();
    const announced = connection.unread.map(({ params }) => params["permissions"]);
    expect(announced).toEqual([{}, { "clipboard-read": "granted" }]);
  });

  test("are none where the browser tells of none", async () => {
    const { connection } = await page({ tools: [needing("a", "geolocation")] });
    expect(connection.received[0]?.params).toMatchObject({ permissions: {} });
  });

  test("are not asked about before anything is used", async () => {
    const { query } = stub();
    const client = createClient({ url: "ws://server", agent: "a", tools: [needing("a", "geolocation")] });
    client.setTools([needing("b", "geolocation")]);
    await quiet();
    expect(query).not.toHaveBeenCalled();
  });
});

describe("the page", () => {
  test("tells whether it is seen and has the focus", async () => {
    const document = Object.assign(new EventTarget(), {
      visibilityState: "visible",
      hasFocus: (): boolean => true,
    });
    const window = new EventTarget();
    vi.stubGlobal("document", document);
    vi.stubGlobal("addEventListener", window.addEventListener.bind(window));
    const { connection } = await page();
    expect(connection.received[0]?.params).toMatchObject({ visible: true, focused: true });
    document.hasFocus = () => false;
    window.dispatchEvent(new Event("blur"));
    window.dispatchEvent(new Event("blur"));
    document.visibilityState = "hidden";
    document.dispatchEvent(new Event("visibilitychange"));
    await quiet();
    expect(connection.unread.map(({ params }) => params)).toMatchObject([
      { visible: true, focused: false },
      { visible: false, focused: false },
    ]);
  });

  test("connects anew at once when it comes out of the back/forward cache, or is thawed", async () => {
    const document = Object.assign(new EventTarget(), {
      visibilityState: "visible",
      hasFocus: (): boolean => true,
    });
    const window = new EventTarget();
    vi.stubGlobal("document", document);
    vi.stubGlobal("addEventListener", window.addEventListener.bind(window));
    const { server, connection, thread } = await page({ random: () => 0.5 });
    const show = (persisted: boolean) => Object.assign(new Event("pageshow"), { persisted });
    window.dispatchEvent(show(false));
    document.dispatchEvent(new Event("freeze"));
    await quiet();
    expect(connection.isOpen).toBe(true);
    window.dispatchEvent(show(true));
    expect(connection.isOpen).toBe(false);
    const second = await server.connection();
    await second.welcome();
    expect(thread.getSnapshot().connection).toBe("open");
    document.dispatchEvent(new Event("resume"));
    expect(second.isOpen).toBe(false);
    await server.connection();
    expect(server.connections).toHaveLength(3);
  });

  test("answers the server's pings, and connects anew when a message got lost", async () => {
    const { server, connection } = await page({ random: () => 0.5 });
    connection.event("custom", { payload: 1 });
    connection.sendFrame("what?");
    connection.ping();
    connection.reply(await connection.take("connection.ping"), {});
    connection.ping();
    await connection.take("connection.ping");
    connection.repeat();
    connection.ping();
    expect(connection.isOpen).toBe(false);
    await server.connection();
  });

  test("speaks JSON to a server that prefers it", async () => {
    const server = new FakeServer({ encodings: ["json"] });
    const client = createClient({
      url: "ws://server",
      agent: "a",
      WebSocket: server.WebSocket,
      clock: new ManualClock(),
    });
    client.thread("t");
    const connection = await server.connection();
    await connection.welcome();
    expect(connection.protocol).toBe("farside.v1.json");
  });

  test("says so when the server speaks nothing that it knows", async () => {
    const server = new FakeServer({ encodings: ["json"] });
    const clock = new ManualClock();
    const client = createClient({
      url: "ws://server",
      agent: "a",
      encoding: "msgpack",
      WebSocket: server.WebSocket,
      clock,
    });
    const thread = client.thread("t");
    await quiet();
    expect(thread.getSnapshot()).toMatchObject({
      connection: "connecting",
      error: { code: "not_supported" },
    });
    client.close();
  });

  test("reports frames that it cannot read, and goes on", async () => {
    const { connection, thread } = await page({ encoding: "json" });
    for (const frame of ["{", "[]", '{"type": "song"}', '{"type": "event", "event_id": "x", "seq": 1}']) {
      connection.sendFrame(frame);
      expect(thread.getSnapshot().error).toMatchObject({ code: "malformed_frame" });
    }
    connection.event("lifecycle", { event: "running", run_id: "r" });
    expect(thread.getSnapshot()).toMatchObject({ status: "running", error: null });
  });

  test("says so when the browser does not let it connect", async () => {
    class Refusing extends new FakeServer().WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        throw new DOMException("insecure", "SecurityError");
      }
    }
    const clock = new ManualClock();
    const client = createClient({
      url: "ws://server",
      agent: "a",
      WebSocket: Refusing,
      clock,
      random: () => 0.5,
    });
    const thread = client.thread("t");
    await quiet();
    expect(thread.getSnapshot().error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("insecure"),
    });
    client.close();
  });
});

describe("threads", () => {
  test("are found under the server's url", async () => {
    const addresses = async (url: string, location?: string) => {
      vi.stubGlobal("location", location === undefined ? undefined : { href: location });
      const server = new FakeServer();
      createClient({ url, agent: "a", WebSocket: server.WebSocket, clock: new ManualClock() }).thread("t:1");
      return (await server.connection()).url;
    };
    const path = "threads/t:1/stream/events";
    expect(await addresses("https://host/base/?key=1#x")).toBe(`wss://host/base/${path}?key=1`);
    expect(await addresses("http://host:8000")).toBe(`ws://host:8000/${path}`);
    expect(await addresses("wss://host/")).toBe(`wss://host/${path}`);
    expect(await addresses("/farside", "https://app.example/page?x")).toBe(
      `wss://app.example/farside/${path}`,
    );
    expect(await addresses("", "http://app.example:1/dir/page")).toBe(`ws://app.example:1/dir/page/${path}`);
    for (const url of ["/farside", "ftp://host", "http://"]) {
      await expect(addresses(url)).rejects.toMatchObject({ code: "invalid_argument" });
    }
  });

  test("are the same object for the same id, until they are closed", async () => {
    const { client, thread, connection } = await page();
    expect(client.thread("t")).toBe(thread);
    expect(client.thread().threadId).toMatch(/^[0-9a-f]{32}$/);
    expect(client.thread()).not.toBe(client.thread());
    thread.close();
    thread.close();
    expect(connection.isOpen).toBe(false);
    expect(thread.getSnapshot().connection).toBe("closed");
    await expect(thread.submit("hi")).rejects.toMatchObject({ code: "unavailable" });
    thread.subscribe(() => {})();
    expect(client.thread("t")).not.toBe(thread);
    client.close();
  });

  test("that are closed tell whoever still waits", async () => {
    const { client, thread } = await page();
    const accepted = thread.submit("hi");
    client.close();
    await expect(accepted).rejects.toMatchObject({ code: "unavailable" });
  });

  test("need an id that the server takes", () => {
    const client = createClient({ url: "ws://server", agent: "a", WebSocket: new FakeServer().WebSocket });
    for (const id of ["", "a/b", "é", "x".repeat(129)]) {
      expect(() => client.thread(id)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    }
  });

  test("may wait with connecting until they are used", async () => {
    const server = new FakeServer();
    const client = createClient({
      url: "ws://server",
      agent: "a",
      WebSocket: server.WebSocket,
      clock: new ManualClock(),
    });
    const thread = client.thread("t", { connect: false });
    await quiet();
    expect(server.connections).toEqual([]);
    thread.subscribe(() => {});
    await quiet();
    expect(server.connections).toHaveLength(1);
  });

  test("need something to connect with", () => {
    vi.stubGlobal("WebSocket", undefined);
    const client = createClient({ url: "ws://server", agent: "a" });
    expect(() => client.thread("t")).toThrow(
      expect.objectContaining({ code: "unsupported", message: expect.stringContaining("option WebSocket") }),
    );
    expect(client.thread("t", { connect: false }).getSnapshot().connection).toBe("connecting");
  });

  test("use the page's own clock and WebSocket otherwise", async () => {
    const server = new FakeServer();
    vi.stubGlobal("WebSocket", server.WebSocket);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const client = createClient({ url: "ws://server", agent: "a" });
    client.thread("t");
    const connection = await server.connection();
    await connection.welcome();
    vi.advanceTimersByTime(30_000);
    expect((await connection.take()).method).toBe("connection.ping");
    client.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

test("two pages: the call that one executes shows in the other", async () => {
  const { connection, thread } = await page();
  connection.event("calls", { event: "opened", ...openCall() });
  connection.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
  expect(thread.getSnapshot().toolCalls).toMatchObject([{ state: "running", name: "get_location" }]);
  connection.event("calls", { event: "settled", ...claimOf(openCall()), result: SUCCESS });
  expect(thread.getSnapshot().toolCalls).toMatchObject([{ state: "answered", result: 1 }]);
});

test("the types of the public face", () => {
  expectTypeOf(createClient).returns.toEqualTypeOf<Client>();
  expectTypeOf<Client["thread"]>().returns.toEqualTypeOf<Thread>();
  expectTypeOf<Thread["getSnapshot"]>().returns.toEqualTypeOf<Snapshot>();
  expectTypeOf<Thread["subscribe"]>().toEqualTypeOf<(listener: () => void) => () => void>();
  expectTypeOf<Snapshot["messages"]>().toEqualTypeOf<readonly Message[]>();
  expectTypeOf<Snapshot["error"]>().toEqualTypeOf<FarsideError | null>();
  expectTypeOf<ToolCall["state"]>().toEqualTypeOf<
    "waiting" | "running" | "answered" | "failed" | "cancelled"
  >();
  expectTypeOf<Message["role"]>().toEqualTypeOf<"human" | "ai" | "system">();
  // The global one fits.
  expectTypeOf<typeof WebSocket>().toExtend<NonNullable<Parameters<typeof createClient>[0]["WebSocket"]>>();
});
