import { describe, expect, test } from "vitest";
import type { Effect } from "../src/core/effects.ts";
import { claimOf, Driver, noteOf, openCall, SUCCESS } from "./messages.ts";

const failed = (code: string) => ({ status: "error", error: { code, message: code } }) as const;
const types = (effects: Effect[]) => effects.map(({ type }) => type);
const offered = { event: "offered", interrupt_id: "i1", client_id: "me" };
const methods = (driver: Driver) => driver.sent.map(({ method }) => method);

/** A page whose journal takes its time. */
function slow(): Driver {
  const driver = new Driver(undefined, { isNoting: false }).welcome();
  driver.event("calls", { event: "opened", ...openCall() });
  return driver;
}

describe("a call", () => {
  test("is noted as started before its body runs", () => {
    const driver = slow();
    expect(driver.reply("call.claim", claimOf(openCall()))).toEqual([
      {
        type: "note",
        note: {
          threadId: "t",
          interruptId: "i1",
          claimId: "claim-1",
          clientId: "me",
          name: "get_location",
          toolCallId: "c1",
          startedAt: driver.now,
        },
      },
    ]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "running" }]);
    driver.now += 3;
    expect(types(driver.noted())).toEqual(["tool", "execute"]);
    expect(driver.noted()).toEqual([]);
  });

  test("is noted with its result before that is sent, and forgotten when it is stored", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.noted();
    driver.now += 5;
    const effects = driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(effects).toMatchObject([
      { type: "tool", event: { phase: "success", duration: 5 } },
      { type: "note", note: { interruptId: "i1", claimId: "claim-1", result: SUCCESS } },
    ]);
    expect(driver.count("call.settle")).toBe(0);
    driver.noted();
    expect(driver.last("call.settle").params).toMatchObject({ claim_id: "claim-1", result: SUCCESS });
    expect(driver.reply("call.settle", { result: SUCCESS })).toEqual([{ type: "forget", interruptId: "i1" }]);
  });

  test.each(["call_settled", "not_found", "claim_lost"])(
    "is forgotten when its answer is late (%s)",
    (code) => {
      const driver = slow();
      driver.reply("call.claim", claimOf(openCall()));
      driver.noted();
      driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
      driver.noted();
      expect(driver.refuse("call.settle", code)).toEqual([{ type: "forget", interruptId: "i1" }]);
    },
  );

  test.each([
    ["cancelled", failed("cancelled")],
    ["expired", failed("timed_out")],
    ["settled", SUCCESS],
  ])("that is %s while it is being noted never runs", (event, result) => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    expect(driver.event("calls", { event, ...claimOf(openCall()), result })).toEqual([
      { type: "forget", interruptId: "i1" },
    ]);
    expect(driver.noted()).toEqual([]);
  });

  test("that is stopped while it is being noted never runs", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    expect(types(driver.note(driver.session.stop("ticket")))).toEqual(["forget"]);
    expect(driver.noted()).toEqual([]);
  });

  test("that is taken away and offered again while it is being noted runs when its newest note is stored", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
    driver.event("calls", offered);
    driver.reply("call.claim", claimOf(openCall(), "claim-2"));
    expect(driver.noted(driver.notes[0])).toEqual([]);
    expect(types(driver.noted(driver.notes[1]))).toEqual(["tool", "execute"]);
  });

  test("keeps its claim while it is being noted", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.tick(15_000);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    driver.close();
    driver.open();
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
  });

  test("whose result is being noted while the connection is lost is settled", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.noted();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.close();
    driver.noted();
    driver.open();
    expect(driver.count("call.settle")).toBe(1);
    driver.subscribed([openCall({ state: "claimed", client_id: "me" })]);
    expect(driver.count("call.settle")).toBe(1);
  });

  test("whose result is being noted keeps its claim, and is not stopped any more", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.noted();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.tick(15_000);
    expect(driver.count("call.claim")).toBe(2);
    driver.note(driver.session.stop("ticket"));
    driver.noted();
    expect(driver.count("call.settle")).toBe(1);
  });
});

describe("a result that a page which is gone has left", () => {
  const note = noteOf({ clientId: "gone", result: SUCCESS });
  const found = () => new Driver(undefined, { notes: [note], isNoting: false });

  test("is sent as it is, before the page subscribes, and forgotten when it is stored", () => {
    const driver = found();
    driver.open();
    expect(methods(driver)).toEqual(["client.announce", "state.get", "call.settle"]);
    expect(driver.last("call.settle").params).toEqual({
      interrupt_id: "i1",
      claim_id: "claim-1",
      result: SUCCESS,
    });
    driver.reply("state.get", { values: {}, calls: [openCall({ state: "claimed", client_id: "gone" })] });
    driver.subscribed([openCall({ state: "claimed", client_id: "gone" })]);
    expect(driver.reply("call.settle", { result: SUCCESS })).toEqual([{ type: "forget", interruptId: "i1" }]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "answered", result: 1 }]);
    driver.event("calls", offered);
    expect(driver.count("call.claim")).toBe(0);
  });

  test.each(["call_settled", "not_found", "claim_lost"])("is forgotten when nobody wants it (%s)", (code) => {
    const driver = found();
    driver.open();
    expect(driver.refuse("call.settle", code)).toEqual([{ type: "forget", interruptId: "i1" }]);
  });

  test("is forgotten when the call has ended otherwise", () => {
    const driver = found().welcome();
    const result = failed("cancelled");
    expect(driver.event("calls", { event: "cancelled", ...claimOf(openCall()), result })).toEqual([
      { type: "forget", interruptId: "i1" },
    ]);
  });

  test("is sent again until it is acknowledged", () => {
    const driver = found();
    driver.open();
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(2);
    driver.refuse("call.settle", "internal");
    driver.tick(2_000);
    expect(driver.count("call.settle")).toBe(3);
    driver.refuse("state.get", "not_found");
    driver.subscribed([openCall()]);
    expect(driver.count("call.claim")).toBe(0);
    driver.event("calls", { event: "claimed", interrupt_id: "i1", client_id: "other" });
    driver.close();
    driver.open();
    expect(driver.count("call.settle")).toBe(3);
  });
});

describe("a call that a page which is gone has begun", () => {
  const found = (name = "get_location") =>
    new Driver(undefined, { notes: [noteOf({ clientId: "gone", name })], isNoting: false });
  const giveBack = {
    interrupt_id: "i1",
    claim_id: "claim-1",
    started: true,
    reason: "the page is gone",
  };

  test("is given back as started, and nothing runs", () => {
    const driver = found();
    driver.open();
    expect(driver.last("call.release").params).toEqual(giveBack);
    driver.refuse("state.get", "not_found");
    expect(driver.subscribed([openCall({ state: "claimed", client_id: "gone" })])).toEqual([]);
    expect(driver.reply("call.release", {})).toEqual([{ type: "forget", interruptId: "i1" }]);
    expect(driver.count("call.claim")).toBe(0);
  });

  test("runs again if the server offers it again", () => {
    const driver = found();
    driver.open();
    driver.reply("call.release", {});
    driver.refuse("state.get", "not_found");
    driver.subscribed([openCall({ state: "open" })]);
    driver.event("calls", offered);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1" });
    driver.reply("call.claim", claimOf(openCall(), "claim-2"));
    expect(types(driver.noted())).toEqual(["tool", "execute"]);
  });

  test("may be offered again before the server has acknowledged that it was given back", () => {
    const driver = found();
    driver.open();
    driver.refuse("state.get", "not_found");
    driver.subscribed([]);
    driver.event("calls", offered);
    expect(driver.count("call.claim")).toBe(0);
    driver.reply("call.release", {});
    expect(driver.count("call.claim")).toBe(1);
  });

  test.each(["call_settled", "not_found", "claim_lost"])("is forgotten when it is too late (%s)", (code) => {
    const driver = found();
    driver.open();
    expect(driver.refuse("call.release", code)).toEqual([{ type: "forget", interruptId: "i1" }]);
  });

  test("is given back until it is acknowledged", () => {
    const driver = found();
    driver.open();
    driver.close();
    driver.open();
    expect(driver.count("call.release")).toBe(2);
    driver.refuse("call.release", "unavailable", true);
    driver.tick(2_000);
    expect(driver.count("call.release")).toBe(3);
    driver.reply("call.release", {});
    driver.close();
    driver.open();
    expect(driver.count("call.release")).toBe(3);
  });
});

describe("a call that is claimed by our id and not noted", () => {
  const claimed = openCall({ state: "claimed", client_id: "me" });

  test("was never begun, where the journal knows: it is claimed again, and runs", () => {
    const driver = new Driver().welcome();
    driver.close();
    driver.open();
    driver.subscribed([claimed]);
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1" });
    expect(types(driver.reply("call.claim", claimOf(claimed)))).toEqual(["tool", "execute"]);
  });

  test("may have begun, where the journal does not know: it is given back as started (L8)", () => {
    const driver = new Driver(undefined, { isSure: false }).welcome();
    driver.close();
    driver.open();
    driver.subscribed([claimed]);
    expect(driver.count("call.claim")).toBe(0);
    expect(driver.last("call.release").params).toMatchObject({ interrupt_id: "i1", started: true });
  });
});

describe("closing the thread", () => {
  const release = (fields: object) => ({
    method: "call.release",
    params: { interrupt_id: "i1", reason: "closed", ...fields },
  });
  const close = (driver: Driver) => {
    driver.sent.length = 0;
    return driver.note(driver.session.close());
  };

  test("gives back what is being claimed", () => {
    const driver = slow();
    expect(types(close(driver))).toEqual(["drop"]);
    expect(driver.sent.map(({ method, params }) => ({ method, params }))).toEqual([release({})]);
  });

  test("gives back what is being noted, which never runs", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    expect(types(close(driver))).toEqual(["forget", "drop"]);
    expect(driver.sent.map(({ method, params }) => ({ method, params }))).toEqual([
      release({ claim_id: "claim-1" }),
    ]);
    expect(driver.noted()).toEqual([]);
  });

  test("aborts what runs and gives it back as started; its note stays, in case that does not arrive", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.noted();
    expect(types(close(driver))).toEqual(["abort", "tool", "drop"]);
    expect(driver.sent).toMatchObject([
      release({ claim_id: "claim-1", started: true, reason: "the page is gone" }),
    ]);
    expect(driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now))).toEqual([]);
  });

  test("sends the result that is being noted", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    driver.noted();
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    expect(types(close(driver))).toEqual(["drop"]);
    expect(driver.sent).toMatchObject([{ method: "call.settle", params: { claim_id: "claim-1" } }]);
    expect(driver.noted()).toEqual([]);
  });

  test("leaves notes of pages that are gone", () => {
    const driver = new Driver(undefined, { notes: [noteOf()], isNoting: false });
    driver.open();
    expect(types(close(driver))).toEqual(["drop"]);
    expect(driver.sent).toEqual([]);
  });
});
