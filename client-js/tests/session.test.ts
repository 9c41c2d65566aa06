import { describe, expect, test } from "vitest";
import { Session } from "../src/core/session.ts";
import { FarsideError } from "../src/errors.ts";
import { claimOf, Driver, event, noteOf, openCall, presenceOf, WELCOME } from "./messages.ts";

const CHANNELS = ["lifecycle", "messages", "tools", "calls", "input", "custom"];
const hello = { type: "human", content: "Hello", id: "m1" };
const submission = { runId: "run-1", messages: [hello] };

function newSession(): Session {
  const presence = presenceOf(["get_location"], { focused: false });
  return new Session({ threadId: "t", agent: "assistant", presence, newId: (kind) => kind });
}

describe("the connection", () => {
  test("is asked for, once", () => {
    const session = newSession();
    expect(session.connect(4)).toEqual([{ type: "changed" }]);
    expect(session.begin("me", [], 5)).toEqual([
      { type: "connect", at: 5 },
      { type: "wake", at: 15_005 },
    ]);
    expect(session.connect(6)).toEqual([]);
  });

  test("begins with announcing and reading the state, and then subscribes from there", () => {
    const session = newSession();
    session.begin("me", [], 0);
    expect(session.opened(10)).toEqual([
      {
        type: "send",
        message: {
          id: 1,
          method: "client.announce",
          params: {
            client_id: "me",
            tools: [{ name: "get_location" }],
            visible: true,
            focused: false,
            permissions: {},
          },
        },
      },
      { type: "send", message: { id: 2, method: "state.get", params: { namespace: [] } } },
      { type: "changed" },
      { type: "wake", at: 20_010 },
    ]);
    const reply = {
      type: "success",
      id: 2,
      result: { values: {} },
      meta: { applied_through_seq: 7 },
    } as const;
    expect(session.receive(reply, 11)).toEqual([
      {
        type: "send",
        message: { id: 3, method: "subscription.subscribe", params: { channels: CHANNELS, since: 7 } },
      },
      { type: "changed" },
    ]);
  });

  test("effects are frozen", () => {
    expect(newSession().opened(0).every(Object.isFrozen)).toBe(true);
  });

  test("starts an unknown thread from its beginning", () => {
    const driver = new Driver();
    driver.open();
    driver.refuse("state.get", "not_found");
    expect(driver.last("subscription.subscribe").params).toEqual({ channels: CHANNELS, since: 0 });
  });

  test("comes back where it was, with growing pauses until the server has talked to us", () => {
    const driver = new Driver().welcome();
    driver.event("custom", { payload: 1 });
    expect(driver.close()).toEqual([{ type: "connect", at: driver.now + 250 }]);
    expect(driver.snapshot.connection).toBe("connecting");
    expect(driver.close()).toEqual([{ type: "connect", at: driver.now + 500 }]);
    expect(driver.close()).toEqual([{ type: "connect", at: driver.now + 1_000 }]);
    for (let attempt = 0; attempt < 20; attempt++) driver.close();
    expect(driver.close()).toEqual([{ type: "connect", at: driver.now + 15_000 }]);
    driver.open();
    expect(driver.sent.map(({ id, method }) => [id, method])).toEqual([
      [1, "client.announce"],
      [2, "subscription.subscribe"],
    ]);
    expect(driver.last("subscription.subscribe").params).toEqual({ channels: CHANNELS, since: 1 });
    driver.reply("client.announce", WELCOME);
    expect(driver.close()).toEqual([{ type: "connect", at: driver.now + 250 }]);
  });

  test("that does not open is given up", () => {
    const session = newSession();
    session.begin("me", [], 0);
    expect(session.tick(14_999, 0.5)).toEqual([{ type: "wake", at: 15_000 }]);
    expect(session.tick(15_000, 0.5)).toEqual([
      { type: "drop" },
      { type: "connect", at: 15_250 },
      { type: "changed" },
      { type: "wake", at: 30_250 },
    ]);
  });

  test("does not wait when it is asked for again", () => {
    const driver = new Driver().welcome();
    driver.close();
    expect(driver.note(driver.session.connect(driver.now))).toEqual([{ type: "connect", at: driver.now }]);
    expect(driver.note(driver.session.connect(driver.now))).toEqual([]);
  });

  test("begins anew when the server has lost its log", () => {
    const driver = new Driver().welcome();
    for (let count = 0; count < 5; count++) driver.event("lifecycle", { event: "running", run_id: "old" });
    driver.close();
    driver.open();
    driver.reply("subscription.subscribe", { subscription_id: "s", replayed_events: 0, calls: [] }, 2);
    expect(driver.sent.at(-1)?.method).toBe("state.get");
    driver.reply("state.get", { values: { messages: [hello] } }, 2);
    expect(driver.last("subscription.subscribe").params).toEqual({ channels: CHANNELS, since: 2 });
    expect(driver.snapshot).toMatchObject({ status: "idle", messages: [{ id: "m1" }] });
    driver.seq = 2;
    driver.subscribed();
    driver.event("lifecycle", { event: "running", run_id: "new" });
    expect(driver.snapshot.status).toBe("running");
  });

  test("is proven by an answer to each ping of the server", () => {
    const driver = new Driver().welcome();
    expect(driver.ping()).toEqual([]);
    expect(driver.sent.map(({ method }) => method)).toEqual(["connection.ping"]);
    driver.reply("connection.ping", {});
    driver.event("custom", { payload: 1 });
    expect(driver.ping()).toEqual([]);
    expect(driver.count("connection.ping")).toBe(2);
  });

  test.each([-1, 1])("on which messages got lost, or came twice (%i), is given up at once", (difference) => {
    const driver = new Driver().welcome();
    driver.ping();
    driver.sent.length = 0;
    expect(driver.ping(difference)).toEqual([{ type: "drop" }, { type: "connect", at: driver.now }]);
    expect(driver.sent).toEqual([]);
    expect(driver.snapshot.connection).toBe("connecting");
    // What got lost may be older than the newest that has come.
    driver.open();
    expect(driver.sent.map(({ method }) => method)).toEqual(["client.announce", "state.get"]);
    driver.reply("state.get", { values: { messages: [hello] } }, 3);
    expect(driver.last("subscription.subscribe").params).toMatchObject({ since: 3 });
    expect(driver.ping()).toEqual([]);
  });

  test("counts what it cannot read too", () => {
    const driver = new Driver().welcome();
    driver.received += 1;
    driver.note(driver.session.receive(new FarsideError("malformed_frame", "what?"), driver.now));
    expect(driver.snapshot.error?.code).toBe("malformed_frame");
    expect(driver.ping()).toEqual([]);
  });

  test("pings when nothing has come for a while, and is given up when nothing comes back", () => {
    const driver = new Driver().welcome();
    driver.tick(29_999);
    expect(driver.count("connection.ping")).toBe(0);
    driver.tick(1);
    expect(driver.count("connection.ping")).toBe(1);
    driver.reply("connection.ping", {});
    driver.tick(30_000);
    expect(driver.count("connection.ping")).toBe(2);
    driver.tick(9_999);
    expect(driver.count("connection.ping")).toBe(2);
    expect(driver.tick(1)).toEqual([{ type: "drop" }, { type: "connect", at: driver.now + 250 }]);
    expect(driver.snapshot.connection).toBe("connecting");
  });

  test("does not ping while something comes", () => {
    const driver = new Driver().welcome();
    for (let count = 0; count < 10; count++) {
      driver.tick(15_000);
      driver.event("custom", { payload: count });
    }
    expect(driver.count("connection.ping")).toBe(0);
  });

  test("is not given up because the page slept", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit({}, submission, "ticket"));
    driver.event("custom", { payload: 0 });
    expect(driver.tick(3_600_000)).toEqual([]);
    expect(driver.count("connection.ping")).toBe(1);
    driver.now += 10;
    expect(driver.event("custom", { payload: 1 })).toMatchObject([{ type: "custom" }]);
    expect(driver.tick(20_000)).toEqual([]);
  });

  test("that leaves a command without a reply while others come is given up", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit({}, submission, "ticket"));
    const comes = () => driver.event("custom", { payload: 1 });
    for (let passed = 0; passed < 40_000; passed += 10_000) {
      expect(comes()).toMatchObject([{ type: "custom" }]);
      driver.now += 10_000;
    }
    expect(comes()).toEqual([{ type: "drop" }, { type: "connect", at: driver.now }]);
    driver.open();
    expect(driver.count("run.start")).toBe(2);
  });

  test("is not given up for a command of the connection before", () => {
    const driver = new Driver();
    driver.open();
    driver.event("custom", { payload: 1 });
    driver.close();
    driver.now += 60_000;
    driver.open();
    // Its commands have the same ids, and replies may come in another order.
    expect(driver.refuse("state.get", "not_found")).toEqual([]);
    expect(driver.snapshot.connection).toBe("open");
  });

  test("is not given up when the reply comes at last", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit({}, submission, "ticket"));
    for (let passed = 0; passed < 40_000; passed += 10_000) {
      driver.event("custom", { payload: 1 });
      driver.now += 10_000;
    }
    expect(driver.reply("run.start", { run_id: "run-1" })).toMatchObject([{ type: "replied", error: null }]);
    expect(driver.event("custom", { payload: 1 })).toMatchObject([{ type: "custom" }]);
  });

  test("that may have missed something while the page was frozen is given up at once", () => {
    const driver = new Driver();
    const anew = [{ type: "drop" }, { type: "connect", at: driver.now }];
    // Also one that is not open yet.
    expect(driver.note(driver.session.reconnect(driver.now))).toEqual(anew);
    driver.welcome();
    expect(driver.note(driver.session.reconnect(driver.now))).toEqual(anew);
    driver.close();
    expect(driver.note(driver.session.reconnect(driver.now))).toEqual(anew);
    driver.session.close();
    expect(driver.session.reconnect(driver.now)).toEqual([]);
    expect(newSession().reconnect(0)).toEqual([{ type: "changed" }]);
  });

  test("asks again for what the server could not give", () => {
    const driver = new Driver();
    driver.open();
    driver.refuse("state.get", "unavailable", true);
    expect(driver.snapshot.error).toMatchObject({ code: "unavailable", retryable: true });
    driver.tick(2_000);
    expect(driver.count("state.get")).toBe(2);
    driver.reply("state.get", { values: {} });
    driver.refuse("subscription.subscribe", "unavailable", true);
    driver.tick(2_000);
    expect(driver.count("subscription.subscribe")).toBe(2);
    driver.subscribed();
  });

  test("does not ask again for what it may not have", () => {
    const driver = new Driver();
    driver.open();
    driver.refuse("state.get", "internal");
    driver.tick(2_000);
    expect(driver.count("state.get")).toBe(1);
    expect(driver.snapshot.error?.code).toBe("internal");
  });

  test("ends when it is closed", () => {
    const driver = new Driver().welcome();
    expect(driver.session.close()).toEqual([{ type: "drop" }, { type: "changed" }]);
    expect(driver.snapshot.connection).toBe("closed");
    expect(driver.close()).toEqual([]);
    expect(driver.session.connect(0)).toEqual([]);
    expect(driver.session.close()).toEqual([]);
  });

  test("sends what the server takes", () => {
    const driver = new Driver().welcome();
    expect(driver.session.limits).toEqual({ frame_bytes: 1_000_000, depth: 64, items: 1_000_000 });
  });
});

describe("events", () => {
  test("that come twice count once", () => {
    const driver = new Driver().welcome();
    const said = event(1, "messages", {
      event: "content-block-delta",
      index: 0,
      delta: { type: "text-delta", text: "ha" },
      message_id: "m",
    });
    driver.session.receive(said, 0);
    expect(driver.session.receive(said, 0)).toEqual([]);
    expect(driver.snapshot.messages[0]?.text).toBe("ha");
  });

  test("that are unknown change nothing", () => {
    const driver = new Driver().welcome();
    const before = driver.snapshot;
    driver.event("checkpoints", { event: "x" });
    driver.event("messages", { event: "sung" });
    driver.event("tools", { event: "tool-idle", tool_call_id: "x" });
    driver.event("lifecycle", { event: "dreaming" });
    expect(driver.snapshot).toBe(before);
  });

  test("about a call that nobody told of show that a message was lost: the page begins anew", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "offered", interrupt_id: "i", client_id: "client" });
    expect(driver.snapshot.connection).toBe("connecting");
  });

  test("of the channel custom are handed on", () => {
    const driver = new Driver().welcome();
    expect(driver.event("custom", { payload: { step: 1 }, name: "progress" })).toEqual([
      { type: "custom", event: { name: "progress", payload: { step: 1 }, threadId: "t" } },
    ]);
  });

  test("that are not as the schema has them are reported, and the next ones are followed", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "settled", interrupt_id: "i1" });
    expect(driver.snapshot.error).toMatchObject({ code: "malformed_frame" });
    driver.event("lifecycle", { event: "running", run_id: "r" });
    expect(driver.snapshot).toMatchObject({ status: "running", error: null });
  });

  test("an error that belongs to no command shows", () => {
    const driver = new Driver().welcome();
    driver.session.receive({ type: "error", id: null, error: "malformed_frame", message: "what?" }, 0);
    expect(driver.snapshot.error).toMatchObject({ code: "malformed_frame", message: "what?" });
  });
});

test("what the server could not give is asked for again once, by the next connection if that comes first", () => {
  const driver = new Driver();
  driver.open();
  driver.refuse("state.get", "unavailable", true);
  driver.close();
  driver.open();
  expect(driver.count("state.get")).toBe(2);
  driver.reply("state.get", { values: {} });
  driver.subscribed();
  driver.tick(2_000);
  expect(driver.count("state.get")).toBe(2);
  expect(driver.count("subscription.subscribe")).toBe(1);
});

describe("submit", () => {
  const input = { messages: [hello] };

  test("shows the message at once and starts a run", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    expect(driver.last("run.start").params).toEqual({ assistant_id: "assistant", input, run_id: "run-1" });
    expect(driver.snapshot).toMatchObject({
      status: "running",
      messages: [{ id: "m1", role: "human", text: "Hello" }],
    });
    expect(driver.reply("run.start", { run_id: "run-1" })).toEqual([
      { type: "replied", ticket: "ticket", error: null },
    ]);
    expect(driver.snapshot.status).toBe("running");
  });

  test("shows the message once, although the run's event brings it again", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    const [message] = driver.snapshot.messages;
    driver.event("lifecycle", { event: "running", run_id: "run-1", input });
    driver.reply("run.start", { run_id: "run-1" });
    expect(driver.snapshot.messages).toEqual([message]);
  });

  test("takes the message back when the server refuses it", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    const [effect] = driver.refuse("run.start", "run_active", true);
    expect(effect).toMatchObject({
      type: "replied",
      ticket: "ticket",
      error: { code: "run_active", retryable: true },
    });
    expect(driver.snapshot).toMatchObject({ status: "idle", messages: [], error: { code: "run_active" } });
  });

  test("takes back nothing that was there before", () => {
    const driver = new Driver().welcome({ values: { messages: [hello] } });
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.refuse("run.start", "run_active");
    expect(driver.snapshot.messages).toMatchObject([{ id: "m1" }]);
  });

  test("is not undone by a run that ended before", () => {
    const driver = new Driver().welcome();
    driver.event("lifecycle", { event: "running", run_id: "run-0" });
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.reply("run.start", { run_id: "run-1" });
    driver.event("lifecycle", { event: "interrupted", run_id: "run-0", code: "cancelled" });
    expect(driver.snapshot.status).toBe("running");
    driver.event("lifecycle", { event: "completed", run_id: "run-1" });
    expect(driver.snapshot.status).toBe("idle");
  });

  test("does not revive a run whose end came before the reply", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.event("lifecycle", { event: "running", run_id: "run-1", input });
    driver.event("lifecycle", { event: "failed", run_id: "run-1", error: "boom", code: "agent_failed" });
    driver.reply("run.start", { run_id: "run-1" });
    expect(driver.snapshot).toMatchObject({
      status: "failed",
      error: { code: "agent_failed", message: "boom" },
    });
  });

  test("before the connection is open is sent when it is", () => {
    const driver = new Driver();
    driver.note(driver.session.submit(input, submission, "ticket"));
    expect(driver.sent).toEqual([]);
    driver.open();
    expect(driver.sent.map(({ method }) => method)).toEqual(["client.announce", "run.start", "state.get"]);
    driver.refuse("state.get", "not_found");
    expect(driver.snapshot.messages).toMatchObject([{ id: "m1" }]);
  });

  test("is sent again before the state is asked for, and after what goes on without it", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.sent.length = 0;
    driver.close();
    driver.open();
    driver.note(driver.session.reconnect(driver.now));
    driver.open();
    const methods = driver.sent.map(({ method }) => method);
    expect(methods.slice(0, 3)).toEqual(["client.announce", "subscription.subscribe", "run.start"]);
    expect(methods.slice(3)).toEqual(["client.announce", "run.start", "state.get"]);
  });

  test("is sent again, as it was, until it is answered", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    const first = driver.last("run.start");
    driver.close();
    driver.open();
    expect(driver.last("run.start").params).toEqual(first.params);
    expect(driver.count("run.start")).toBe(2);
    driver.reply("run.start", { run_id: "run-1" });
    driver.close();
    driver.open();
    expect(driver.count("run.start")).toBe(2);
  });

  const run = (run_id: string, status: "running" | "completed" | "failed" = "running") => {
    return { run_id, assistant_id: "assistant", status };
  };
  const running = (run_id: string, more: object = {}) => ({ event: "running", run_id, ...more });
  const cancelled = (run_id: string) => ({ event: "interrupted", run_id, code: "cancelled" });

  test("while the thread is loaded is at work until its own run ends, whatever the one before does (F28)", () => {
    const driver = new Driver();
    driver.open();
    const statuses: string[] = [];
    const steps = [
      () => driver.note(driver.session.submit(input, submission, "ticket")),
      () => driver.reply("state.get", { values: {}, run: run("run-0") }, 0),
      () => driver.reply("run.start", { run_id: "run-1" }, 5),
      () => driver.reply("subscription.subscribe", { subscription_id: "s", replayed_events: 3 }, 3),
      () => driver.event("lifecycle", running("run-0")),
      () => driver.event("lifecycle", cancelled("run-0")),
      () => driver.event("lifecycle", running("run-1", { input })),
    ];
    for (const step of steps) {
      step();
      statuses.push(driver.snapshot.status);
    }
    expect(new Set(statuses)).toEqual(new Set(["running"]));
    expect(driver.snapshot.messages).toMatchObject([{ id: "m1" }]);
    driver.event("lifecycle", { event: "completed", run_id: "run-1" });
    expect(driver.snapshot.status).toBe("idle");
  });

  test.each(["completed", "failed"])(
    "is at work until the run's first event, which may be its end (%s)",
    (ended) => {
      const driver = new Driver().welcome();
      driver.note(driver.session.submit(input, submission, "ticket"));
      driver.reply("run.start", { run_id: "run-1" });
      driver.event("lifecycle", { event: ended, run_id: "run-0" });
      driver.event("lifecycle", { event: "completed", run_id: "run-1" }, ["a", "b"]);
      expect(driver.snapshot.status).toBe("running");
      driver.event("lifecycle", { event: ended, run_id: "run-1" });
      expect(driver.snapshot.status).toBe(ended === "failed" ? "failed" : "idle");
    },
  );

  test("whose run was told of before the reply is at work for as long as that is", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.event("lifecycle", running("run-1", { input }));
    driver.event("lifecycle", running("run-2"));
    driver.reply("run.start", { run_id: "run-1" });
    driver.event("lifecycle", { event: "completed", run_id: "run-2" });
    expect(driver.snapshot.status).toBe("idle");
  });

  describe("and accepted, before messages were lost,", () => {
    const accepted = () => {
      const driver = new Driver().welcome();
      driver.note(driver.session.submit(input, submission, "ticket"));
      driver.reply("run.start", { run_id: "run-1" });
      driver.ping(1);
      driver.open();
      return driver;
    };

    test("is at work if the state says so", () => {
      const driver = accepted();
      driver.reply("state.get", { values: {}, run: run("run-1") });
      driver.subscribed();
      expect(driver.snapshot).toMatchObject({ status: "running", messages: [{ id: "m1" }] });
      driver.event("lifecycle", running("run-1", { input }));
      expect(driver.snapshot).toMatchObject({ status: "running", messages: [{ id: "m1" }] });
      driver.event("lifecycle", { event: "completed", run_id: "run-1" });
      expect(driver.snapshot.status).toBe("idle");
    });

    test("waits for its turn if the state says so", () => {
      const driver = accepted();
      const queued = [{ run_id: "run-1", assistant_id: "assistant", input }];
      driver.reply("state.get", { values: {}, run: run("run-0"), queued });
      expect(driver.snapshot).toMatchObject({
        status: "running",
        messages: [],
        queued: [{ runId: "run-1" }],
      });
      driver.event("lifecycle", running("run-1", { input }));
      driver.event("lifecycle", { event: "completed", run_id: "run-1" });
      expect(driver.snapshot).toMatchObject({ status: "idle", messages: [{ id: "m1" }] });
    });

    test.each([
      ["the newest that ended", run("run-1", "completed")],
      ["followed by another one", run("run-2", "completed")],
    ])("is over if the run is %s", (_what, run) => {
      const driver = accepted();
      driver.reply("state.get", { values: { messages: [hello] }, run });
      expect(driver.snapshot).toMatchObject({ status: "idle", messages: [{ id: "m1" }] });
    });

    test("is over if the state knows neither the run nor its message", () => {
      const driver = accepted();
      driver.reply("state.get", { values: {}, run: run("run-2", "failed") });
      expect(driver.snapshot).toMatchObject({ status: "failed", messages: [] });
    });
  });

  test("and not answered yet is shown when the state does not tell of it, and at work", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.ping(1);
    driver.open();
    driver.reply("state.get", { values: {}, run: run("run-0", "completed") });
    expect(driver.snapshot).toMatchObject({ status: "running", messages: [{ id: "m1" }] });
    driver.refuse("run.start", "run_active");
    expect(driver.snapshot).toMatchObject({ status: "idle", messages: [], error: { code: "run_active" } });
  });

  test("and not answered yet is over when the state says so, and stays so when it is answered", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(input, submission, "ticket"));
    driver.ping(1);
    driver.open();
    driver.reply("state.get", { values: { messages: [hello] }, run: run("run-1", "completed") });
    expect(driver.snapshot).toMatchObject({ status: "idle", messages: [{ id: "m1" }] });
    driver.reply("run.start", { run_id: "run-1" });
    expect(driver.snapshot.status).toBe("idle");
  });

  test("takes any input", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit(null, { runId: "run-1", messages: [] }, "ticket"));
    expect(driver.last("run.start").params).toMatchObject({ input: null });
    expect(driver.snapshot).toMatchObject({ status: "running", messages: [] });
  });
});

describe("stop", () => {
  test("cancels the run", () => {
    const driver = new Driver().welcome();
    driver.event("lifecycle", { event: "running", run_id: "run-1" });
    driver.note(driver.session.stop("ticket"));
    expect(driver.last("run.cancel").params).toEqual({ run_id: "run-1" });
    expect(driver.reply("run.cancel", {})).toEqual([{ type: "replied", ticket: "ticket", error: null }]);
    driver.event("lifecycle", { event: "interrupted", run_id: "run-1", code: "cancelled" });
    expect(driver.snapshot).toMatchObject({ status: "idle", error: null });
  });

  test("names the run that was just submitted", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.submit({}, submission, "a"));
    driver.note(driver.session.stop("b"));
    expect(driver.last("run.cancel").params).toEqual({ run_id: "run-1" });
  });

  test("names the run under way, and one that was accepted and not told of", () => {
    const driver = new Driver().welcome();
    driver.event("lifecycle", { event: "running", run_id: "run-0" });
    driver.note(driver.session.submit({}, submission, "a"));
    driver.reply("run.start", { run_id: "run-1" });
    driver.note(driver.session.stop("b"));
    const runs = driver.sent.filter(({ method }) => method === "run.cancel").map(({ params }) => params);
    expect(runs).toEqual([{ run_id: "run-0" }, { run_id: "run-1" }]);
  });

  test("is content when nothing runs", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.stop("ticket"));
    expect(driver.last("run.cancel").params).toEqual({});
    expect(driver.refuse("run.cancel", "no_such_run")).toEqual([
      { type: "replied", ticket: "ticket", error: null },
    ]);
  });

  test("aborts what runs here, and what was being claimed is not begun", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.event("calls", { event: "opened", ...openCall({ interrupt_id: "i2" }) });
    const effects = driver.note(driver.session.stop("ticket"));
    expect(effects).toMatchObject([
      { type: "abort", interruptId: "i1", reason: { code: "cancelled" } },
      { type: "tool", event: { phase: "cancelled", error: { code: "cancelled" } } },
    ]);
    expect(driver.last("call.claim").params).toMatchObject({ interrupt_id: "i2" });
    expect(driver.reply("call.claim", claimOf(openCall({ interrupt_id: "i2" })))).toEqual([]);
    expect(driver.note(driver.session.bodyFinished("i1", { status: "success", value: 1 }, 0))).toEqual([]);
    expect(driver.count("call.settle")).toBe(0);
  });

  test("is sent again until it is answered", () => {
    const driver = new Driver().welcome();
    driver.session.stop("ticket");
    driver.close();
    driver.open();
    expect(driver.count("run.cancel")).toBe(1);
  });
});

describe("interrupts", () => {
  const payload = { question: "Really?" };

  test("show while they are open", () => {
    const driver = new Driver();
    driver.open();
    driver.refuse("state.get", "not_found");
    driver.subscribed([], [{ interrupt_id: "q1", payload }]);
    expect(driver.snapshot.interrupts).toEqual([{ id: "q1", payload }]);
    driver.event("input.requested", { interrupt_id: "q2", payload: 2 });
    driver.event("input.requested", { interrupt_id: "q2", payload: 2 });
    expect(driver.snapshot.interrupts).toEqual([
      { id: "q1", payload },
      { id: "q2", payload: 2 },
    ]);
    driver.event("lifecycle", { event: "completed", run_id: "r" });
    expect(driver.snapshot.interrupts).toEqual([]);
  });

  test("are no tool calls", () => {
    const driver = new Driver().welcome();
    driver.event("input.requested", {
      interrupt_id: "i",
      payload: { type: "tool", tool_call: { id: "c", name: "n" } },
    });
    expect(driver.snapshot.interrupts).toEqual([]);
  });

  test("go by the subscribe reply, not by what is replayed after it", () => {
    const driver = new Driver();
    driver.open();
    driver.reply("state.get", { values: {} }, 0);
    driver.reply("subscription.subscribe", { subscription_id: "s", replayed_events: 2, interrupts: [] }, 2);
    driver.event("lifecycle", { event: "running", run_id: "r" });
    driver.event("input.requested", { interrupt_id: "q", payload });
    expect(driver.snapshot.interrupts).toEqual([]);
  });

  test("are answered", () => {
    const driver = new Driver().welcome();
    driver.event("input.requested", { interrupt_id: "q", payload });
    driver.note(driver.session.respond("q", "yes", "ticket"));
    expect(driver.last("input.respond").params).toEqual({
      responses: [{ interrupt_id: "q", response: "yes", namespace: [] }],
    });
    expect(driver.reply("input.respond", {})).toEqual([{ type: "replied", ticket: "ticket", error: null }]);
    expect(driver.snapshot.interrupts).toEqual([]);
  });

  test("that somebody else has answered say so", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.respond("q", "yes", "ticket"));
    expect(driver.refuse("input.respond", "call_settled")).toMatchObject([
      { type: "replied", error: { code: "call_settled" } },
    ]);
  });

  test("whose answer was sent twice are answered", () => {
    const driver = new Driver().welcome();
    driver.note(driver.session.respond("q", "yes", "ticket"));
    driver.close();
    driver.open();
    expect(driver.refuse("input.respond", "call_settled")).toEqual([
      { type: "replied", ticket: "ticket", error: null },
    ]);
  });
});

describe("announce", () => {
  test("tells what has changed, and only that something has", () => {
    const driver = new Driver(["a"]).welcome();
    driver.note(driver.session.announce(presenceOf(["a"])));
    expect(driver.sent).toEqual([]);
    driver.note(driver.session.announce(presenceOf(["a"], { visible: false })));
    driver.note(driver.session.announce(presenceOf(["a", "b"], { visible: false })));
    const permissions = { geolocation: "denied" };
    driver.note(driver.session.announce(presenceOf(["a", "b"], { visible: false, permissions })));
    expect(driver.sent.map(({ params }) => params)).toMatchObject([
      { client_id: "me", visible: false, tools: [{ name: "a" }], permissions: {} },
      { visible: false, tools: [{ name: "a" }, { name: "b" }] },
      { permissions },
    ]);
  });

  test("tells what each tool cannot do without", () => {
    const driver = new Driver([]).welcome();
    const tools = [{ name: "a", permissions: ["geolocation"] }];
    driver.note(driver.session.announce({ ...presenceOf([]), tools } as never));
    expect(driver.last("client.announce").params).toMatchObject({ tools });
  });

  test("names the pages that are gone, for whose calls this one answers, each time", () => {
    const notes = ["me", "one", "two", "one"].map((clientId, index) =>
      noteOf({ clientId, interruptId: `i${index}` }),
    );
    const driver = new Driver([], { notes });
    driver.open();
    driver.note(driver.session.announce(presenceOf(["a"])));
    const announced = driver.sent.filter(({ method }) => method === "client.announce");
    expect(announced.map(({ params }) => params)).toMatchObject([
      { client_id: "me", replaces: ["me", "one", "two"] },
      { client_id: "me", replaces: ["me", "one", "two"] },
    ]);
    const alone = new Driver();
    alone.open();
    expect(alone.last("client.announce").params).not.toHaveProperty("replaces");
  });

  test("that the server refuses shows", () => {
    const driver = new Driver();
    driver.open();
    driver.refuse("client.announce", "invalid_argument");
    expect(driver.snapshot.error?.code).toBe("invalid_argument");
  });
});

test("a command that cannot be sent is refused like any other", () => {
  const driver = new Driver().welcome();
  driver.note(driver.session.submit({}, { runId: "r", messages: [] }, "ticket"));
  const error = new FarsideError("too_large", "too large");
  const effects = driver.note(driver.session.refused(driver.last("run.start").id, error, 0));
  expect(effects).toMatchObject([{ type: "replied", ticket: "ticket", error: { code: "too_large" } }]);
});

test("nothing that a server may send breaks a session", () => {
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const methods = ["lifecycle", "messages", "tools", "calls", "input.requested", "custom", "values"];
  const kinds =
    "running completed failed interrupted message-start content-block-start content-block-delta content-block-finish message-finish error message-removed tool-started tool-output-delta tool-finished tool-error opened claimed released progress settled cancelled expired".split(
      " ",
    );
  const keys =
    "run_id input code error id message_id role index content delta tool_call_id tool_name output message interrupt_id args name state client_id value result payload".split(
      " ",
    );
  const values = [
    null,
    1,
    "i1",
    "get_location",
    "open",
    "ai",
    [],
    {},
    { type: "text-delta", text: "x" },
    { status: "success", value: 1 },
    { messages: [null, { type: "human" }] },
    { type: "tool_call", id: "i1", name: "n" },
  ];
  for (let round = 0; round < 200; round++) {
    const driver = new Driver().welcome();
    for (let count = 0; count < 40; count++) {
      const data: Record<string, unknown> = { event: pick(kinds) };
      for (const key of keys) if (random(3) > 0) data[key] = pick(values);
      driver.event(pick(methods), data, pick([[], ["a"], ["a", "b"]]));
      if (random(5) === 0) driver.tick(10_000);
      driver.snapshot;
    }
    expect(driver.snapshot.threadId).toBe("t");
  }
});
