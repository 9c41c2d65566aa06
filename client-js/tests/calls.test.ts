import { describe, expect, test } from "vitest";
import type { Effect } from "../src/core/effects.ts";
import { claimOf, Driver, openCall, presenceOf, SUCCESS, WELCOME } from "./messages.ts";

const claimed = (fields: object = {}) => ({ ...claimOf(openCall()), ...fields });
const failed = (code: string) => ({ status: "error", error: { code, message: code } }) as const;
const phases = (effects: Effect[]) =>
  effects.flatMap((effect) => (effect.type === "tool" ? [effect.event.phase] : []));
const executed = (effects: Effect[]) => effects.filter(({ type }) => type === "execute").length;

const offered = (client_id: string) => ({ event: "offered", interrupt_id: "i1", client_id });
const released = { event: "released", interrupt_id: "i1" };

describe("a call", () => {
  test("is claimed when it is offered, and executed when the claim is granted, with the reply's arguments", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    const call = claimed({ args: { high: false } });
    expect(driver.reply("call.claim", call)).toEqual([
      {
        type: "tool",
        event: {
          phase: "start",
          name: "get_location",
          args: { high: false },
          toolCallId: "c1",
          threadId: "t",
        },
      },
      { type: "execute", call },
    ]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "running" }]);
  });

  test("is claimed when the subscribe reply says that it is offered", () => {
    const driver = new Driver().welcome(undefined, [openCall()]);
    expect(driver.count("call.claim")).toBe(0);
    driver.close();
    driver.open();
    driver.subscribed([openCall()]);
    expect(driver.count("call.claim")).toBe(1);
  });

  test("is left alone until it is offered", () => {
    const driver = new Driver().welcome(undefined, [openCall({ interrupt_id: "i0", state: "open" })]);
    driver.event("calls", { event: "opened", ...openCall({ state: "open" }) });
    expect(driver.sent).toEqual([]);
    driver.event("calls", offered("other"));
    driver.event("calls", released);
    expect(driver.sent).toEqual([]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "waiting" }, { state: "waiting" }]);
    driver.event("calls", offered("me"));
    expect(driver.sent.map(({ method }) => method)).toEqual(["call.claim"]);
  });

  test.each([
    openCall({ state: "offered", client_id: "other" }),
    openCall({ state: "claimed", client_id: "other" }),
  ])("that is %j is left to the other client", (call) => {
    const driver = new Driver().welcome(undefined, [call]);
    driver.event("calls", { event: "opened", ...call, interrupt_id: "i2" });
    expect(driver.sent).toEqual([]);
    expect(driver.snapshot.toolCalls[0]?.state).toBe(call.state === "claimed" ? "running" : "waiting");
  });

  test("of a tool that the page does not have is declined, each time", () => {
    const driver = new Driver(["other"]).welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.event("calls", offered("me"));
    const decline = { interrupt_id: "i1", reason: "not_implemented" };
    expect(driver.sent.map(({ method, params }) => [method, params])).toEqual([
      ["call.release", decline],
      ["call.release", decline],
    ]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "waiting" }]);
  });

  test("that the page could not take at first is taken when it is offered again", () => {
    const driver = new Driver([]).welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.note(driver.session.announce(presenceOf(["get_location"])));
    expect(driver.count("call.claim")).toBe(0);
    driver.event("calls", offered("me"));
    expect(driver.count("call.claim")).toBe(1);
  });

  test("whose claim was granted while the connection was lost is claimed again", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    for (const claims of [2, 3]) {
      driver.close();
      driver.open();
      expect(driver.count("call.claim")).toBe(claims - 1);
      driver.subscribed([openCall({ state: "claimed", client_id: "me" })]);
      expect(driver.count("call.claim")).toBe(claims);
      expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    }
    expect(executed(driver.reply("call.claim", claimed()))).toBe(1);
  });

  test("whose claim did not arrive while the connection was lost is claimed again, if it is still offered", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.close();
    driver.open();
    driver.subscribed([openCall()]);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    expect(executed(driver.reply("call.claim", claimed()))).toBe(1);
  });

  test.each([openCall({ state: "open" }), openCall({ state: "offered", client_id: "other" })])(
    "whose claim was lost with the connection waits, being %j, for its next offer",
    (call) => {
      const driver = new Driver().welcome();
      driver.event("calls", { event: "opened", ...openCall() });
      driver.close();
      driver.open();
      driver.subscribed([call]);
      expect(driver.count("call.claim")).toBe(1);
      driver.event("calls", offered("me"));
      // It is another claim.
      expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-2" });
    },
  );

  test("whose claim is refused waits for its next offer", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.refuse("call.claim", "claim_lost");
    driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
    driver.event("calls", released);
    expect(driver.count("call.claim")).toBe(1);
    driver.event("calls", offered("me"));
    expect(driver.count("call.claim")).toBe(2);
    expect(driver.last("call.claim").params).toMatchObject({ claim_id: "claim-2" });
  });

  test("that was offered anew before the refusal came is claimed again", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.event("calls", released);
    driver.event("calls", offered("me"));
    expect(driver.count("call.claim")).toBe(1);
    driver.refuse("call.claim", "claim_lost");
    expect(driver.count("call.claim")).toBe(2);
    expect(driver.last("call.claim").params).toMatchObject({ claim_id: "claim-2" });
  });

  test("that has ended before it was claimed is forgotten", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.refuse("call.claim", "call_settled");
    driver.event("calls", offered("me"));
    expect(driver.count("call.claim")).toBe(1);
  });

  test("that ends while it is being claimed is not executed", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.event("calls", { event: "expired", ...claimed(), result: failed("timed_out") });
    expect(driver.reply("call.claim", claimed())).toEqual([]);
  });

  test("is asked for again when the server is not available", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.refuse("call.claim", "internal");
    driver.tick(1_999);
    expect(driver.count("call.claim")).toBe(1);
    driver.tick(1);
    expect(driver.count("call.claim")).toBe(2);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
  });

  test("is not asked for again when the server does not understand", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.refuse("call.claim", "invalid_argument");
    driver.tick(10_000);
    expect(driver.count("call.claim")).toBe(1);
  });

  test("is given back when the tool has gone meanwhile", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    driver.session.announce(presenceOf([]));
    expect(driver.reply("call.claim", claimed())).toEqual([]);
    expect(driver.last("call.release").params).toEqual({
      interrupt_id: "i1",
      claim_id: "claim-1",
      reason: "not_implemented",
    });
  });
});

describe("nothing runs twice", () => {
  const opened = { event: "opened", ...openCall() };

  test("when the call is announced again while it is claimed, runs, is answered, or is over", () => {
    const driver = new Driver().welcome();
    driver.event("calls", opened);
    driver.event("calls", opened);
    driver.reply("call.claim", claimed());
    driver.event("calls", opened);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.event("calls", opened);
    driver.reply("call.settle", { result: SUCCESS });
    driver.event("calls", opened);
    driver.event("calls", offered("me"));
    expect(driver.count("call.settle")).toBe(1);
    expect(driver.notes.map(({ asked, result }) => asked ?? result)).toEqual([true, undefined, SUCCESS]);
  });

  test("when a whole log is replayed (L7)", () => {
    const driver = new Driver();
    driver.open();
    driver.reply("state.get", { values: {} }, 0);
    driver.reply("subscription.subscribe", { subscription_id: "s", replayed_events: 3, calls: [] }, 3);
    const effects = [
      ...driver.event("calls", opened),
      ...driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "me" }),
      ...driver.event("calls", { event: "settled", ...claimed(), result: SUCCESS }),
    ];
    expect(executed(effects)).toBe(0);
    expect(driver.count("call.claim")).toBe(0);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "answered", result: 1 }]);
  });

  test("when the connection is lost while it runs", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.close();
    driver.open();
    // The claim is renewed, not made.
    expect(driver.sent.map(({ method }) => method).slice(-1)).toEqual(["call.claim"]);
    driver.subscribed([openCall({ state: "claimed", client_id: "me" })]);
    expect(executed(driver.reply("call.claim", claimed()))).toBe(0);
    expect(driver.count("call.claim")).toBe(2);
  });

  test("when our lease has ended meanwhile and the call is open again", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.close();
    driver.open();
    const effects = driver.subscribed([openCall({ state: "open" })]);
    driver.event("calls", released);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    expect(executed([...effects, ...driver.reply("call.claim", claimed())])).toBe(0);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(driver.last("call.settle").params).toEqual({
      interrupt_id: "i1",
      claim_id: "claim-1",
      result: SUCCESS,
    });
  });

  test("when our lease has ended meanwhile and the call is offered to us again: the body goes on", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.close();
    driver.open();
    const renewal = driver.last("call.claim");
    driver.subscribed([openCall()]);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    const effects = driver.reply("call.claim", claimed());
    // The claim had ended, but that does not matter any more.
    const late = { type: "error", id: renewal.id, error: "claim_lost", message: "" } as const;
    effects.push(...driver.note(driver.session.receive(late, driver.now)));
    expect(effects).toEqual([]);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(driver.last("call.settle").params).toMatchObject({ claim_id: "claim-1", result: SUCCESS });
  });
});

describe("a claim", () => {
  test("is renewed at half its lease while the body runs", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.tick(14_999);
    expect(driver.count("call.claim")).toBe(1);
    driver.tick(1);
    expect(driver.count("call.claim")).toBe(2);
    driver.reply("call.claim", claimed({ lease_ms: 10_000 }));
    driver.tick(5_000);
    expect(driver.count("call.claim")).toBe(3);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.tick(100_000);
    expect(driver.count("call.claim")).toBe(3);
  });

  test("wakes the page in time", () => {
    const driver = new Driver().welcome();
    driver.event("calls", { event: "opened", ...openCall() });
    const reply = {
      type: "success",
      id: driver.last("call.claim").id,
      result: claimed({ lease_ms: 1_000 }),
    } as const;
    expect(driver.session.receive(reply, driver.now)).toContainEqual({ type: "wake", at: driver.now + 500 });
  });

  test("is tried again when the server could not renew it", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.tick(15_000);
    driver.refuse("call.claim", "internal");
    driver.tick(2_000);
    expect(driver.count("call.claim")).toBe(3);
  });

  test("that is lost aborts the body, whose answer is not sent", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.tick(15_000);
    expect(driver.refuse("call.claim", "claim_lost")).toMatchObject([
      { type: "abort", interruptId: "i1", reason: { code: "claim_lost" } },
      { type: "tool", event: { phase: "cancelled", error: { code: "claim_lost" } } },
    ]);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(driver.count("call.settle")).toBe(0);
  });

  test("that another client has got aborts the body; given back, the call is executed again", () => {
    const driver = new Driver().welcome();
    driver.execute();
    const effects = driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
    expect(effects).toMatchObject([{ type: "abort" }, { type: "tool", event: { phase: "cancelled" } }]);
    driver.event("calls", offered("me"));
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-2" });
    expect(executed(driver.reply("call.claim", claimed()))).toBe(1);
  });

  test("that is lost while the call is offered to us again is made anew", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.event("calls", offered("me"));
    driver.event("calls", offered("me"));
    expect(driver.count("call.claim")).toBe(2);
    expect(driver.count("call.settle")).toBe(0);
  });
});

describe("an answer", () => {
  test("is sent, and forgotten when it is stored", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.now += 40;
    const effects = driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(effects).toMatchObject([{ type: "tool", event: { phase: "success", result: 1, duration: 40 } }]);
    expect(driver.last("call.settle").params).toEqual({
      interrupt_id: "i1",
      claim_id: "claim-1",
      result: SUCCESS,
    });
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "running" }]);
    driver.reply("call.settle", { result: SUCCESS });
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "answered", result: 1 }]);
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(1);
  });

  test("that is an error is one", () => {
    const driver = new Driver().welcome();
    driver.execute();
    const effects = driver.note(driver.session.bodyFinished("i1", failed("permission_denied"), driver.now));
    expect(effects).toMatchObject([
      { type: "tool", event: { phase: "error", error: { code: "permission_denied" } } },
    ]);
    driver.reply("call.settle", { result: failed("permission_denied") });
    expect(driver.snapshot.toolCalls).toMatchObject([
      { state: "failed", error: { code: "permission_denied" } },
    ]);
  });

  test("shows as what was stored", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.reply("call.settle", { result: failed("invalid_result") });
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "failed", error: { code: "invalid_result" } }]);
  });

  test("that was not acknowledged is sent again after each lost connection", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.close();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(driver.count("call.settle")).toBe(0);
    driver.open();
    expect(driver.count("call.settle")).toBe(1);
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(2);
    // The first copy had arrived: the call is not open any more.
    driver.subscribed([]);
    driver.refuse("call.settle", "call_settled");
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(2);
  });

  test("is stored, as the event says, even if no reply comes", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.event("calls", { event: "settled", ...claimed(), result: SUCCESS });
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(1);
  });

  // The second: a network lost the announcement, and not what was sent after it.
  test.each(["internal", "not_announced"])(
    "is sent again, as it is, when the server could not take it (%s)",
    (code) => {
      const driver = new Driver().welcome();
      driver.execute();
      driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
      driver.refuse("call.settle", code);
      driver.tick(2_000);
      expect(driver.count("call.settle")).toBe(2);
      expect(driver.last("call.settle").params).toMatchObject({ result: SUCCESS });
    },
  );

  test.each(["too_large", "invalid_value", "invalid_argument", "too_deep"])(
    "that cannot be sent (%s) becomes an error",
    (code) => {
      const driver = new Driver().welcome();
      driver.execute();
      driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
      driver.refuse("call.settle", code);
      expect(driver.last("call.settle").params).toMatchObject({
        result: {
          status: "error",
          error: { code: "invalid_result", message: expect.stringContaining(code) },
        },
      });
      expect(driver.count("call.settle")).toBe(2);
      driver.refuse("call.settle", code);
      driver.close();
      driver.open();
      expect(driver.count("call.settle")).toBe(2);
    },
  );

  test("of a call that somebody else has is not wanted", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.refuse("call.settle", "claim_lost");
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(1);
  });
});

describe("a call that ends while its body runs", () => {
  test.each([
    ["cancelled", failed("cancelled"), "cancelled"],
    ["expired", failed("timed_out"), "timed_out"],
    ["settled", failed("interrupted"), "interrupted"],
    ["settled", SUCCESS, "call_settled"],
  ])("(%s) aborts it", (ended, result, code) => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.now += 5;
    expect(driver.event("calls", { event: ended, ...claimed(), result })).toMatchObject([
      { type: "abort", interruptId: "i1", reason: { code } },
      { type: "tool", event: { phase: "cancelled", error: { code } } },
    ]);
    expect(driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now))).toEqual([]);
    expect(driver.note(driver.session.bodyProgress("i1", 1, driver.now))).toEqual([]);
    expect(driver.count("call.settle")).toBe(0);
  });

  test("while the connection was lost aborts it, and its end shows when it is replayed", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.close();
    driver.open();
    const seq = driver.seq + 1;
    const effects = driver.reply(
      "subscription.subscribe",
      { subscription_id: "s", replayed_events: 1, calls: [] },
      seq,
    );
    expect(phases(effects)).toEqual(["cancelled"]);
    driver.event("calls", { event: "expired", ...claimed(), result: failed("timed_out") });
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "failed", error: { code: "timed_out" } }]);
  });

  test("by closing the thread aborts it", () => {
    const driver = new Driver().welcome();
    driver.execute();
    expect(phases(driver.session.close())).toEqual(["cancelled"]);
  });
});

describe("progress", () => {
  const report = (driver: Driver, value: unknown) =>
    driver.note(driver.session.bodyProgress("i1", value, driver.now));
  const reply = (driver: Driver) => driver.reply("call.progress", { lease_ms: 30_000 });

  test("shows at once, and is sent with the claim", () => {
    const driver = new Driver().welcome();
    driver.execute();
    expect(report(driver, 1)).toMatchObject([{ type: "tool", event: { phase: "progress", result: 1 } }]);
    expect(driver.last("call.progress").params).toEqual({
      interrupt_id: "i1",
      claim_id: "claim-1",
      value: 1,
    });
    report(driver, 2);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "running", progress: 2 }]);
  });

  test("still shows after a lost connection", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    driver.close();
    driver.open();
    driver.subscribed([openCall({ state: "claimed", client_id: "me" })]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "running", progress: 1 }]);
  });

  test("is sent one at a time: the newest, and always the last", () => {
    const driver = new Driver().welcome();
    driver.execute();
    for (const value of [1, 2, 3]) report(driver, value);
    driver.tick(500);
    expect(driver.count("call.progress")).toBe(1);
    reply(driver);
    expect(driver.last("call.progress").params).toMatchObject({ value: 3 });
    reply(driver);
    driver.tick(500);
    expect(driver.count("call.progress")).toBe(2);
  });

  test("is sent at most every 100 ms", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    reply(driver);
    driver.now += 40;
    report(driver, 2);
    expect(driver.count("call.progress")).toBe(1);
    expect(driver.session.bodyProgress("i1", 3, driver.now)).not.toContainEqual(
      expect.objectContaining({ type: "wake" }),
    );
    driver.tick(59);
    expect(driver.count("call.progress")).toBe(1);
    driver.tick(1);
    expect(driver.count("call.progress")).toBe(2);
    expect(driver.last("call.progress").params).toMatchObject({ value: 3 });
    reply(driver);
    driver.tick(200);
    report(driver, 4);
    expect(driver.count("call.progress")).toBe(3);
  });

  test("wakes the page in time", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    const at = driver.now + 100;
    reply(driver);
    expect(driver.session.bodyProgress("i1", 2, driver.now)).toContainEqual({ type: "wake", at });
  });

  test("is not sent after the end", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    report(driver, 2);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    reply(driver);
    driver.tick(200);
    expect(driver.count("call.progress")).toBe(1);
  });

  test("renews the claim", () => {
    const driver = new Driver().welcome();
    driver.execute();
    driver.tick(14_000);
    report(driver, 1);
    reply(driver);
    driver.tick(14_000);
    expect(driver.count("call.claim")).toBe(1);
  });

  test("tells when the call is gone", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    expect(phases(driver.refuse("call.progress", "call_settled"))).toEqual(["cancelled"]);
  });

  test("that could not be sent does no harm", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    expect(driver.refuse("call.progress", "too_large")).toEqual([]);
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(driver.count("call.settle")).toBe(1);
  });

  test("of a claim that is being renewed says nothing about it", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    driver.event("calls", offered("me"));
    expect(driver.refuse("call.progress", "claim_lost")).toEqual([]);
    driver.reply("call.claim", claimed());
    driver.now += 100;
    report(driver, 2);
    expect(driver.last("call.progress").params).toMatchObject({ claim_id: "claim-1", value: 2 });
  });

  test("of a claim that was lost says nothing about the next one", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
    driver.event("calls", offered("me"));
    driver.reply("call.claim", claimed());
    expect(driver.refuse("call.progress", "claim_lost")).toEqual([]);
    driver.now += 100;
    report(driver, 2);
    expect(driver.last("call.progress").params).toMatchObject({ claim_id: "claim-2", value: 2 });
  });

  test("goes on after a lost connection, which may have lost the newest", () => {
    const driver = new Driver().welcome();
    driver.execute();
    report(driver, 1);
    driver.close();
    driver.open();
    expect(driver.last("call.progress").params).toMatchObject({ value: 1 });
    driver.close();
    report(driver, 2);
    driver.open();
    driver.reply("client.announce", WELCOME);
    expect(driver.last("call.progress").params).toMatchObject({ value: 2 });
  });
});

test("a body that waits for a click says so", () => {
  const driver = new Driver().welcome();
  driver.execute();
  const { signal } = new AbortController();
  const waiting = { reason: "activation", proceed: () => {}, dismiss: () => {}, signal } as const;
  expect(phases(driver.session.bodyWaiting("i1", waiting))).toEqual(["waiting"]);
  expect(phases(driver.session.bodyWaiting("unknown", waiting))).toEqual([]);
});

test("two calls are answered in any order, each with its own result", () => {
  const driver = new Driver(["a", "b"]).welcome();
  driver.execute({ interrupt_id: "ia", tool_call_id: "same", name: "a" });
  driver.execute({ interrupt_id: "ib", tool_call_id: "same", name: "b" });
  driver.note(driver.session.bodyFinished("ib", { status: "success", value: "B" }, 0));
  driver.note(driver.session.bodyFinished("ia", { status: "success", value: "A" }, 0));
  expect(driver.sent.filter(({ method }) => method === "call.settle").map(({ params }) => params)).toEqual([
    { interrupt_id: "ib", claim_id: "claim-2", result: { status: "success", value: "B" } },
    { interrupt_id: "ia", claim_id: "claim-1", result: { status: "success", value: "A" } },
  ]);
});
