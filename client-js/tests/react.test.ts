import { createElement, type ReactNode } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { FarsideError, type Message, type Thread, type ThreadStatus, tool } from "../src/index.ts";
import {
  FarsideProvider,
  type Stream,
  type StreamOptions,
  useStream,
  useThread,
  useTool,
} from "../src/react/index.ts";
import { type Listener, listeners, shareClient } from "../src/react/page-client.ts";
import { isSame } from "../src/react/same.ts";
import { StreamStore } from "../src/react/stream.ts";
import { FakeServer, ManualClock, MemoryJournal, quiet } from "../src/testing/index.ts";

const ping = tool({ name: "ping", description: "" }).implement(() => "pong");
const where = { url: "/farside", agent: "assistant" };

/** The options of a client on a fake server, which no other test shares. */
function onFakeServer() {
  const server = new FakeServer();
  const options = {
    url: `ws://${crypto.randomUUID()}`,
    agent: "assistant",
    WebSocket: server.WebSocket,
    clock: new ManualClock(),
    journal: new MemoryJournal(),
    clientId: "me",
  };
  return { server, options };
}

/** A component out of what it renders. */
function rendered(render: () => ReactNode): string {
  return renderToString(createElement(render));
}

describe("on a server", () => {
  test("there is markup, and nothing is opened", () => {
    vi.stubGlobal("WebSocket", () => expect.fail("a server opens no connection"));
    const timers = vi.spyOn(globalThis, "setTimeout");
    const Inner = () => {
      const stream = useStream();
      useTool(ping);
      const messages = useThread((thread) => thread.messages);
      return `${stream.status} ${stream.threadId} ${stream.isLoading} ${messages.length}`;
    };
    const provider = (threadId: string | null) =>
      createElement(FarsideProvider, { ...where, tools: [ping], threadId }, createElement(Inner));
    expect(rendered(() => provider(null))).toBe("loading null false 0");
    expect(rendered(() => provider("t"))).toBe("loading t false 0");
    expect(rendered(() => useStream({ ...where, threadId: "t" }).connection)).toBe("connecting");
    expect(timers).not.toHaveBeenCalled();
    expect(listeners.size).toBe(0);
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  test("a hook without an agent says what it needs", () => {
    const outside = () => rendered(() => useStream({ url: "/farside" }).status);
    expect(outside).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(() => rendered(() => useThread(({ status }) => status))).toThrow(FarsideError);
  });
});

describe("a store", () => {
  test("opens a thread to tell it something, says its id, and closes it", async () => {
    const { server, options } = onFakeServer();
    const store = new StreamStore(options, null, false);
    const told: string[] = [];
    const listener: Listener = { thread: store, callbacks: { onThreadId: (id) => told.push(id) } };
    listeners.add(listener);
    expect(store.getSnapshot()).toBe(store.unknown);
    const { submit } = store.getSnapshot();
    const accepted = submit("Hello");
    expect(told).toEqual([store.id]);
    const { threadId, isLoading, messages } = store.getSnapshot();
    expect({ threadId, isLoading, said: messages[0]?.text }).toEqual({
      threadId: store.id,
      isLoading: true,
      said: "Hello",
    });
    const connection = await server.connection();
    await connection.take("client.announce");
    const started = await connection.take("run.start");
    connection.reply(started, { run_id: started.params.run_id as string });
    await accepted;
    // It is let go now, in a later task.
    await new Promise((resolve) => setTimeout(resolve));
    expect(store.getSnapshot()).toBe(store.unknown);
    listeners.delete(listener);
  });

  test("of a thread stays the same while nothing changes, and its functions stay", () => {
    const { options } = onFakeServer();
    const store = new StreamStore(options, "t", false);
    const leave = store.subscribe(() => {});
    const one = store.getSnapshot();
    expect(store.getSnapshot()).toBe(one);
    expect(one.submit).toBe(store.unknown.submit);
    expect(new StreamStore(options, "t", false).getSnapshot().messages).toBe(one.messages);
    leave();
  });
});

describe("the tools of components", () => {
  test("are announced together, and what is the same is one", async () => {
    const { server, options } = onFakeServer();
    const { value: client, release } = shareClient(options);
    const other = tool({ name: "other", description: "" }).implement(() => 1);
    client.addTools([ping]);
    const remove = client.addTools([ping, other]);
    const thread = client.shareThread("t");
    thread.value.subscribe(() => {});
    const connection = await server.connection();
    await connection.welcome();
    const announced = () =>
      connection.received
        .filter(({ method }) => method === "client.announce")
        .map(({ params }) => (params["tools"] as { name: string }[]).map(({ name }) => name));
    expect(announced()).toEqual([["ping", "other"]]);
    remove();
    client.addTools([other])();
    await quiet();
    expect(announced()).toEqual([["ping", "other"], ["ping"]]);
    thread.release();
    release();
  });

  test("with one name are refused, and leave nothing behind", async () => {
    const { server, options } = onFakeServer();
    const { value: client, release } = shareClient(options);
    client.addTools([ping]);
    const again = tool({ name: "ping", description: "" }).implement(() => 1);
    expect(() => client.addTools([again])).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    const thread = client.shareThread("t");
    thread.value.subscribe(() => {});
    const announced = await (await server.connection()).take("client.announce");
    expect(announced.params.tools).toEqual([{ name: "ping" }]);
    thread.release();
    release();
  });

  test("one that throws in its callback keeps nothing from the others", async () => {
    const { server, options } = onFakeServer();
    const store = new StreamStore(options, "t", false);
    const heard: unknown[] = [];
    const complaint = vi.spyOn(console, "error").mockReturnValue();
    const thrown = new Error("mine");
    const first: Listener = {
      thread: store,
      callbacks: {
        onCustom: () => {
          throw thrown;
        },
      },
    };
    const second: Listener = { thread: store, callbacks: { onCustom: ({ payload }) => heard.push(payload) } };
    const elsewhere: Listener = {
      thread: new StreamStore(options, "u", false),
      callbacks: { onCustom: () => expect.fail("another thread's") },
    };
    for (const listener of [first, second, elsewhere]) listeners.add(listener);
    const leave = store.subscribe(() => {});
    const connection = await server.connection();
    await connection.welcome();
    connection.event("custom", { payload: 1 });
    expect(heard).toEqual([1]);
    expect(complaint).toHaveBeenCalledWith(thrown);
    leave();
    listeners.clear();
    complaint.mockRestore();
  });
});

test("what selectors return is the same, or has the same parts", () => {
  const part = { text: "a" };
  expect(isSame([part, 1], [part, 1])).toBe(true);
  expect(isSame({ part, n: Number.NaN }, { n: Number.NaN, part })).toBe(true);
  for (const [one, other] of [
    [[part], [{ ...part }]],
    [[1], [1, 2]],
    [{ a: undefined }, { b: undefined }],
    [[], {}],
    [new Map(), new Map()],
    [{}, null],
    [null, undefined],
    [[1], { 0: 1 }],
  ]) {
    expect(isSame(one, other)).toBe(false);
  }
});

test("the types of the hooks", () => {
  expectTypeOf(useStream).returns.toEqualTypeOf<Stream>();
  expectTypeOf<Stream["messages"]>().toEqualTypeOf<readonly Message[]>();
  expectTypeOf<Stream["threadId"]>().toEqualTypeOf<string | null>();
  expectTypeOf<Stream["status"]>().toEqualTypeOf<ThreadStatus>();
  expectTypeOf<Stream["respond"]>().toEqualTypeOf<Thread["respond"]>();
  expectTypeOf(useThread<boolean>)
    .parameter(0)
    .toEqualTypeOf<(thread: Stream) => boolean>();
  expectTypeOf((select: (thread: Stream) => number) => useThread(select)).returns.toEqualTypeOf<number>();
  expectTypeOf(useTool).parameter(0).toExtend<{ readonly tool: { readonly name: string } }>();
  expectTypeOf<typeof ping>().toExtend<Parameters<typeof useTool>[0]>();
  expectTypeOf<{ url: string; agent: string }>().toExtend<StreamOptions>();
  // @ts-expect-error A provider is for an agent.
  createElement(FarsideProvider, { url: "/farside" });
  // @ts-expect-error A thread has no such field.
  (stream: Stream) => stream.isIdle;
});
