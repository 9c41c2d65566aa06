import { describe, expect, test } from "vitest";
import { Projection } from "../src/core/projection.ts";
import { Views } from "../src/core/views.ts";
import { FarsideError } from "../src/errors.ts";
import { Driver, event, openCall, SUCCESS } from "./messages.ts";

const ai = (fields: object) => ({ type: "ai", content: "", id: "a1", ...fields });
const call = (id: string, name = "search", args: object = {}) => ({ type: "tool_call", id, name, args });
const answer = (id: string, fields: object = {}) => ({
  type: "tool",
  tool_call_id: id,
  content: "found",
  ...fields,
});

/** A projection that follows events. */
function following(...events: [method: string, data: object, namespace?: string[]][]) {
  const projection = new Projection("t");
  for (const [index, [method, data, namespace]] of events.entries()) {
    projection.receive(event(index + 1, method, data, namespace), true);
  }
  return projection;
}

function loaded(messages: unknown[], more: object = {}) {
  const projection = new Projection("t");
  projection.load({ values: { messages }, ...more });
  return projection.snapshot();
}

test("a message is gone when a run begins at a checkpoint that lacks it", () => {
  const projection = following(
    [
      "lifecycle",
      { event: "running", run_id: "r1", input: { messages: [{ type: "human", content: "a", id: "h1" }] } },
    ],
    ["messages", { event: "message-start", role: "ai", id: "a1", message_id: "a1" }],
    ["messages", { event: "message-finish", message_id: "a1" }],
    [
      "lifecycle",
      { event: "running", run_id: "r2", input: { messages: [{ type: "human", content: "b", id: "h2" }] } },
    ],
    ["messages", { event: "message-removed", message_id: "h1" }],
    ["messages", { event: "message-removed", message_id: "a1" }],
    ["messages", { event: "message-removed", message_id: "unknown" }],
  );
  expect(projection.snapshot().messages).toMatchObject([{ id: "h2", text: "b" }]);
});

describe("the thread's state", () => {
  test("is empty at first", () => {
    expect(new Projection("t").snapshot()).toEqual({
      threadId: "t",
      connection: "connecting",
      status: "loading",
      messages: [],
      toolCalls: [],
      interrupts: [],
      queued: [],
      error: null,
    });
  });

  test("keeps why a submit was refused before it came", () => {
    const projection = new Projection("t");
    const refusal = new FarsideError("internal", "m");
    projection.submitted({ runId: "r", messages: [{ type: "human", content: "Hi", id: "h" }] });
    projection.submissionReplied("r", refusal);
    projection.load();
    expect(projection.snapshot()).toMatchObject({ error: refusal, messages: [], status: "idle" });
  });

  test("holds messages of all kinds", () => {
    const image = { type: "image", url: "x" };
    const { messages } = loaded([
      { type: "system", content: "Be kind.", id: "s" },
      { type: "human", content: [{ type: "text", text: "a" }, "b", image], id: "h" },
      { role: "assistant", content: "c" },
      { type: "remove", id: "r" },
      null,
      "text",
    ]);
    expect(messages).toMatchObject([
      { id: "s", role: "system", text: "Be kind." },
      {
        id: "h",
        role: "human",
        text: "ab",
        content: [{ type: "text", text: "a" }, { type: "text", text: "b" }, image],
      },
      { id: "state:2", role: "ai", text: "c", streaming: false },
    ]);
  });

  test("holds tool calls, and folds tool messages into them", () => {
    const { messages, toolCalls } = loaded([
      ai({ tool_calls: [call("c1", "search", { q: "x" }), call("c2"), call("c3")] }),
      answer("c1"),
      answer("c2", { status: "error", content: "no" }),
      answer("c3", { status: "error", content: "Error (permission_denied): the user said no" }),
      answer("unknown"),
    ]);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.toolCalls).toEqual(toolCalls);
    expect(toolCalls).toEqual([
      { id: "c1", name: "search", args: { q: "x" }, messageId: "a1", state: "answered", result: "found" },
      {
        id: "c2",
        name: "search",
        args: {},
        messageId: "a1",
        state: "failed",
        error: { code: "failed", message: "no" },
      },
      {
        id: "c3",
        name: "search",
        args: {},
        messageId: "a1",
        state: "failed",
        error: { code: "permission_denied", message: "the user said no" },
      },
    ]);
  });

  test("finds calls among the content blocks too", () => {
    const { toolCalls } = loaded([ai({ content: [{ type: "text", text: "hm" }, call("c1")] })], {
      run: { run_id: "r", assistant_id: "a", status: "running" },
    });
    expect(toolCalls).toMatchObject([{ id: "c1", state: "waiting" }]);
  });

  test("gives a repeated id to the newest call", () => {
    const { toolCalls } = loaded([
      ai({ id: "a1", tool_calls: [call("c", "one")] }),
      answer("c", { content: "first" }),
      ai({ id: "a2", tool_calls: [call("c", "two")] }),
      answer("c", { content: "second" }),
    ]);
    expect(toolCalls).toMatchObject([
      { name: "one", messageId: "a1", result: "first" },
      { name: "two", messageId: "a2", result: "second" },
    ]);
  });

  test("joins the calls of browser tools to the messages that asked for them", () => {
    const { toolCalls } = loaded(
      [ai({ tool_calls: [call("c1"), call("c2"), call("c3")] }), answer("c1", { content: '{"lat": 1}' })],
      {
        calls: [
          {
            ...openCall({ interrupt_id: "i1", tool_call_id: "c1", name: "search" }),
            result: { status: "success", value: { lat: 1 } },
          },
          openCall({ interrupt_id: "i2", tool_call_id: "c2", name: "search", state: "claimed" }),
          openCall({ interrupt_id: "i3", tool_call_id: "c3", name: "search" }),
          openCall({ interrupt_id: "i4", tool_call_id: "x", name: "other" }),
        ],
        run: { run_id: "r", assistant_id: "a", status: "running" },
      },
    );
    expect(toolCalls).toMatchObject([
      { interruptId: "i1", messageId: "a1", state: "answered", result: { lat: 1 } },
      { interruptId: "i2", messageId: "a1", state: "running" },
      { interruptId: "i3", messageId: "a1", state: "waiting" },
      { interruptId: "i4", name: "other", state: "waiting" },
    ]);
    expect(toolCalls[3]).not.toHaveProperty("messageId");
  });

  test.each([
    ["running", "running", null],
    ["completed", "idle", null],
    ["cancelled", "idle", null],
    ["failed", "failed", { code: "agent_failed", message: "boom" }],
  ])("with a run that is %s is %s", (status, shown, error) => {
    const run = { run_id: "r", assistant_id: "a", status, ...(error && { error }) };
    const snapshot = loaded([], { run });
    expect(snapshot.status).toBe(shown);
    expect(snapshot.error).toEqual(error && expect.objectContaining(error));
  });

  test("shows no call as waiting when nothing runs", () => {
    expect(loaded([ai({ tool_calls: [call("c1")] })]).toolCalls).toMatchObject([{ state: "cancelled" }]);
  });
});

describe("a message that streams", () => {
  const start = ["messages", { event: "message-start", role: "ai", id: "m", message_id: "m" }] as const;
  const delta = (text: string, more: object = {}) =>
    [
      "messages",
      {
        event: "content-block-delta",
        index: 0,
        delta: { type: "text-delta", text },
        message_id: "m",
        ...more,
      },
    ] as const;
  const finish = (content: object, index = 0) =>
    ["messages", { event: "content-block-finish", index, content, message_id: "m" }] as const;

  test("grows, and ends", () => {
    const projection = following([...start], [...delta("Good ")], [...delta("morning.")]);
    expect(projection.snapshot().messages).toEqual([
      {
        id: "m",
        role: "ai",
        text: "Good morning.",
        content: [{ type: "text", text: "Good morning." }],
        toolCalls: [],
        streaming: true,
      },
    ]);
    projection.receive(event(9, ...finish({ type: "text", text: "Good evening." })), true);
    projection.receive(event(10, "messages", { event: "message-finish", message_id: "m" }), true);
    expect(projection.snapshot().messages).toMatchObject([{ text: "Good evening.", streaming: false }]);
  });

  test("has blocks of other kinds", () => {
    const block = (index: number, delta: object) =>
      ["messages", { event: "content-block-delta", index, delta, message_id: "m" }] as [string, object];
    const projection = following(
      [...start],
      block(0, { type: "reasoning-delta", reasoning: "Hm" }),
      block(0, { type: "reasoning-delta", reasoning: "..." }),
      [
        "messages",
        { event: "content-block-start", index: 1, content: { type: "image", mime: "x" }, message_id: "m" },
      ],
      block(1, { type: "data-delta", data: "AA" }),
      block(1, { type: "block-delta", fields: { alt: "y" } }),
      block(3, { type: "text-delta", text: "!" }),
      block(4, { type: "tool-call-delta", args: '{"a"' }),
      block(5, { type: "dance-delta" }),
    );
    expect(projection.snapshot().messages[0]).toMatchObject({
      text: "!",
      content: [
        { type: "reasoning", reasoning: "Hm..." },
        { type: "image", mime: "x", data: "AA", alt: "y" },
        { type: "text", text: "!" },
        { type: "unknown" },
      ],
    });
  });

  test("begins with its first delta when its start was missed", () => {
    expect(following([...delta("lo")]).snapshot().messages).toMatchObject([
      { id: "m", role: "ai", text: "lo", streaming: true },
    ]);
  });

  test("without ids is the one that started last in its namespace", () => {
    const projection = following(
      ["messages", { event: "message-start", role: "ai", id: "m1" }],
      ["messages", { event: "message-start", role: "ai", id: "m2" }, ["agent:1"]],
      ["messages", { event: "content-block-delta", index: 0, delta: { type: "text-delta", text: "one" } }],
      [
        "messages",
        { event: "content-block-delta", index: 0, delta: { type: "text-delta", text: "two" } },
        ["agent:1"],
      ],
      [
        "messages",
        { event: "content-block-delta", index: 0, delta: { type: "text-delta", text: "?" } },
        ["agent:2"],
      ],
    );
    expect(projection.snapshot().messages).toMatchObject([
      { id: "m1", text: "one" },
      { id: "m2", text: "two" },
    ]);
  });

  test("may stream beside another one", () => {
    const projection = following(
      [...start],
      [...delta("a")],
      [...delta("b", { message_id: "n" })],
      [...delta("c")],
    );
    expect(projection.snapshot().messages).toMatchObject([{ text: "ac" }, { text: "b" }]);
  });

  test("of an agent within a tool is not shown", () => {
    expect(following([...start, ["tools:1", "model:2"]]).snapshot().messages).toEqual([]);
  });

  test("that is a tool's is shown as the call's result only", () => {
    const projection = following(
      ["messages", { event: "message-start", role: "tool", id: "x", tool_call_id: "c" }, ["tools:c"]],
      [
        "messages",
        { event: "content-block-delta", index: 0, content: { type: "text", text: "{}" } },
        ["tools:c"],
      ],
      [
        "messages",
        { event: "content-block-finish", index: 0, content: { type: "text", text: "{}" }, message_id: "x" },
        ["tools:c"],
      ],
    );
    expect(projection.snapshot().messages).toEqual([]);
  });

  test("asks for tool calls", () => {
    const projection = following(
      [...start],
      [...finish({ type: "text", text: "Hm." })],
      [...finish(call("c1"), 1)],
      [...finish(call("c2"), 2)],
    );
    const { messages, toolCalls } = projection.snapshot();
    expect(toolCalls).toMatchObject([
      { id: "c1", messageId: "m", state: "waiting" },
      { id: "c2", messageId: "m" },
    ]);
    expect(messages[0]?.toolCalls).toEqual(toolCalls);
    // They are shown once.
    expect(messages[0]?.content).toEqual([{ type: "text", text: "Hm." }]);
  });

  test("ends when the run ends", () => {
    const projection = following(
      [...start],
      [...delta("x")],
      ["lifecycle", { event: "failed", run_id: "r" }],
    );
    expect(projection.snapshot()).toMatchObject({ status: "failed", messages: [{ streaming: false }] });
  });
});

describe("tool calls", () => {
  const asked = [
    "messages",
    { event: "content-block-finish", index: 0, content: call("c1", "search", { q: 1 }), message_id: "m" },
  ] as [string, object];

  test("of server tools run and end", () => {
    const projection = following(asked, [
      "tools",
      { event: "tool-started", tool_call_id: "c1", tool_name: "search", input: { q: 1 } },
    ]);
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "running" }]);
    projection.receive(
      event(5, "tools", { event: "tool-output-delta", tool_call_id: "c1", delta: "half" }),
      true,
    );
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "running", progress: "half" }]);
    projection.receive(
      event(6, "tools", { event: "tool-finished", tool_call_id: "c1", output: answer("c1") }),
      true,
    );
    expect(projection.snapshot().toolCalls).toEqual([
      { id: "c1", name: "search", args: { q: 1 }, messageId: "m", state: "answered", result: "found" },
    ]);
  });

  test("of server tools fail, with a code where there is one", () => {
    const failing = (code?: string) =>
      following(
        ["tools", { event: "tool-started", tool_call_id: "c1", tool_name: "search", input: null }],
        ["tools", { event: "tool-error", tool_call_id: "c1", message: "no", ...(code && { code }) }],
      ).snapshot().toolCalls;
    expect(failing()).toEqual([
      { id: "c1", name: "search", args: {}, state: "failed", error: { code: "failed", message: "no" } },
    ]);
    expect(failing("timed_out")).toMatchObject([{ error: { code: "timed_out" } }]);
  });

  test("of server tools may have the id of one that has ended", () => {
    const started = { event: "tool-started", tool_call_id: "c", tool_name: "search" };
    const finished = { event: "tool-finished", tool_call_id: "c", output: 1 };
    const projection = following(["tools", started], ["tools", finished], ["tools", started]);
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "answered" }, { state: "running" }]);
  });

  test("of browser tools belong to the message that asked for them", () => {
    const projection = following(
      asked,
      ["tools", { event: "tool-started", tool_call_id: "c1", tool_name: "search" }],
      ["calls", { event: "opened", ...openCall({ name: "search" }) }],
    );
    expect(projection.snapshot().toolCalls).toEqual([
      { id: "c1", interruptId: "i1", name: "search", args: { high: true }, messageId: "m", state: "waiting" },
    ]);
  });

  test("of browser tools that come before their message are joined to it", () => {
    const projection = following(["calls", { event: "opened", ...openCall() }], asked);
    expect(projection.snapshot().toolCalls).toMatchObject([
      { interruptId: "i1", messageId: "m", state: "waiting" },
    ]);
  });

  test("of browser tools go by their calls, not by the events of tools", () => {
    const projection = following(
      ["calls", { event: "opened", ...openCall() }],
      ["tools", { event: "tool-started", tool_call_id: "c1", tool_name: "get_location" }],
    );
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "waiting" }]);
    projection.receive(event(3, "calls", { event: "claimed", interrupt_id: "i1", client_id: "other" }), true);
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "running" }]);
    projection.receive(event(4, "calls", { event: "progress", interrupt_id: "i1", value: 0.5 }), true);
    expect(projection.snapshot().toolCalls).toMatchObject([{ progress: 0.5 }]);
    projection.receive(event(5, "calls", { event: "released", interrupt_id: "i1" }), true);
    expect(projection.snapshot().toolCalls[0]).not.toHaveProperty("progress");
    projection.receive(event(6, "calls", { event: "settled", ...openCall(), result: SUCCESS }), true);
    projection.receive(
      event(7, "tools", { event: "tool-finished", tool_call_id: "c1", output: "other" }),
      true,
    );
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "answered", result: 1 }]);
  });

  test("with one id in one message are two calls", () => {
    const projection = following(
      ["messages", { event: "content-block-finish", index: 0, content: call("c"), message_id: "m" }],
      ["messages", { event: "content-block-finish", index: 1, content: call("c"), message_id: "m" }],
      ["calls", { event: "opened", ...openCall({ interrupt_id: "i1", tool_call_id: "c" }) }],
      ["calls", { event: "opened", ...openCall({ interrupt_id: "i2", tool_call_id: "c" }) }],
      [
        "calls",
        { event: "settled", ...openCall({ interrupt_id: "i2", tool_call_id: "c" }), result: SUCCESS },
      ],
    );
    expect(projection.snapshot().toolCalls).toMatchObject([
      { interruptId: "i1", state: "waiting" },
      { interruptId: "i2", state: "answered" },
    ]);
  });

  test.each([
    ["cancelled", { code: "cancelled", message: "m" }, "cancelled"],
    ["expired", { code: "timed_out", message: "m" }, "failed"],
    ["settled", { code: "dismissed", message: "m" }, "failed"],
  ])("that end as %s with %j are %s", (ended, error, state) => {
    const result = { status: "error", error };
    const projection = following(["calls", { event: ended, ...openCall(), result }]);
    expect(projection.snapshot().toolCalls).toMatchObject([{ id: "c1", interruptId: "i1", state, error }]);
  });

  test("of server tools that never ended are cancelled with the run", () => {
    const projection = following(
      ["tools", { event: "tool-started", tool_call_id: "c1", tool_name: "search" }],
      ["calls", { event: "opened", ...openCall({ tool_call_id: "c2" }) }],
      ["lifecycle", { event: "interrupted", run_id: "r", code: "cancelled" }],
    );
    expect(projection.snapshot().toolCalls).toMatchObject([{ state: "cancelled" }, { state: "waiting" }]);
  });
});

describe("the life of runs", () => {
  test("shows what was said, in every page", () => {
    const input = {
      messages: [
        { type: "human", content: "Hello", id: "h" },
        { role: "user", content: "again" },
      ],
    };
    const { messages } = following(["lifecycle", { event: "running", run_id: "r", input }]).snapshot();
    expect(messages).toMatchObject([
      { id: "h", role: "human", text: "Hello" },
      { id: "e1:1", role: "human", text: "again" },
    ]);
  });

  test("of graphs within the graph is their own affair", () => {
    const projection = following(
      ["lifecycle", { event: "running", run_id: "r" }],
      ["lifecycle", { event: "completed" }, ["agent:1"]],
    );
    expect(projection.snapshot().status).toBe("running");
  });

  test("is still running when it pauses", () => {
    const projection = following(
      ["lifecycle", { event: "running", run_id: "r" }],
      ["lifecycle", { event: "interrupted" }],
    );
    expect(projection.snapshot().status).toBe("running");
  });

  test("fails with a code", () => {
    const failed = { event: "failed", run_id: "r", error: "boom", code: "journal_mismatch" };
    expect(following(["lifecycle", failed]).snapshot().error).toMatchObject({
      code: "journal_mismatch",
      message: "boom",
    });
    expect(following(["lifecycle", { event: "failed" }]).snapshot().error).toMatchObject({
      code: "agent_failed",
    });
  });
});

describe("structural sharing", () => {
  test("a snapshot is the same until something changes", () => {
    const driver = new Driver().welcome();
    const before = driver.snapshot;
    driver.tick(30_000);
    driver.reply("connection.ping", {});
    driver.event("values", { messages: [] });
    driver.event("custom", { payload: 1 });
    expect(driver.snapshot).toBe(before);
  });

  test("what does not change stays the same object", () => {
    const messages = Array.from({ length: 5 }, (_, index) =>
      ai({ id: `a${index}`, tool_calls: [call(`c${index}`)] }),
    );
    const projection = new Projection("t");
    projection.load({ values: { messages }, run: { run_id: "r", assistant_id: "a", status: "running" } });
    const before = projection.snapshot();
    projection.receive(event(1, "tools", { event: "tool-finished", tool_call_id: "c2", output: 1 }), true);
    const after = projection.snapshot();
    const changed = <T>(one: readonly T[], other: readonly T[]) =>
      one.flatMap((item, index) => (item === other[index] ? [] : [index]));
    expect(changed(before.messages, after.messages)).toEqual([2]);
    expect(changed(before.toolCalls, after.toolCalls)).toEqual([2]);
    expect(after.messages[2]?.toolCalls[0]).toBe(after.toolCalls[2]);
    expect(after.interrupts).toBe(before.interrupts);
    projection.receive(event(2, "messages", { event: "message-start", role: "ai", id: "new" }), true);
    expect(projection.snapshot().toolCalls).toBe(after.toolCalls);
    expect(projection.snapshot().messages.slice(0, 5)).toEqual(after.messages);
  });

  test("the work per event does not grow with the history", () => {
    const work = (length: number) => {
      let built = 0;
      const views = new Views<{ n: number }, number>(({ n }) => {
        built += 1;
        return n;
      });
      const entries = Array.from({ length }, (_, n) => ({ n }));
      for (const entry of entries) views.add(entry);
      views.all();
      built = 0;
      for (let count = 0; count < 10; count++) {
        views.touch(entries.at(-1) as { n: number });
        views.all();
      }
      return built;
    };
    expect(work(10_000)).toBe(work(10));
  });
});

test("Views: records are removed, and strangers ignored", () => {
  const views = new Views<{ n: number }, number>(({ n }) => n);
  const one = { n: 1 };
  const two = { n: 2 };
  const three = { n: 3 };
  for (const entry of [one, two, three]) views.add(entry);
  views.remove(one);
  expect(views.all()).toEqual([2, 3]);
  three.n = 4;
  views.touch(three);
  views.touch({ n: 9 });
  views.remove({ n: 9 });
  expect(views.all()).toEqual([2, 4]);
  expect(views.all()).toBe(views.all());
});
