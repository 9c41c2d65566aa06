import { describe, expect, test } from "vitest";
import type { Effect } from "../src/core/effects.ts";
import type { Note } from "../src/core/note.ts";
import type { Call } from "../src/wire/messages.ts";
import { claimOf, Driver, noteOf, openCall, presenceOf, SUCCESS } from "./messages.ts";

const failed = (code: string) => ({ status: "error", error: { code, message: code } }) as const;
const types = (effects: Effect[]) => effects.map(({ type }) => type);
const offered = { event: "offered", interrupt_id: "i1", client_id: "me" };
const released = { event: "released", interrupt_id: "i1" };
const methods = (driver: Driver) => driver.sent.map(({ method }) => method);

/** A page whose journal takes its time, and that is about to ask for a call. */
function asking(): Driver {
  const driver = new Driver(undefined, { isNoting: false }).welcome();
  driver.event("calls", { event: "opened", ...openCall() });
  return driver;
}

/** A page whose journal takes its time, and that has asked for a call. */
function slow(): Driver {
  const driver = asking();
  driver.noted();
  return driver;
}

describe("a call that is offered", () => {
  const forget = { type: "forget", claimId: "claim-1" };

  test("is noted as asked for before it is claimed, under a new id", () => {
    const driver = new Driver(undefined, { isNoting: false }).welcome();
    const note = noteOf({ startedAt: driver.now, asked: true });
    expect(driver.event("calls", { event: "opened", ...openCall() })).toEqual([{ type: "note", note }]);
    driver.event("calls", offered);
    expect(driver.sent).toEqual([]);
    expect(driver.noted()).toEqual([]);
    expect(driver.sent).toMatchObject([
      { method: "call.claim", params: { interrupt_id: "i1", claim_id: "claim-1" } },
    ]);
    expect(driver.noted()).toEqual([]);
    expect(driver.count("call.claim")).toBe(1);
  });

  test.each([
    ["offered to another", { ...offered, client_id: "other" }],
    ["released", released],
    ["claimed by another", { event: "claimed", interrupt_id: "i1", client_id: "other" }],
    ["ended", { event: "cancelled", ...claimOf(openCall()), result: failed("cancelled") }],
  ])("and %s while that is being noted is forgotten", (_what, event) => {
    const driver = asking();
    expect(driver.event("calls", event)).toEqual([forget]);
    expect(driver.noted()).toEqual([]);
    expect(driver.sent).toEqual([]);
  });

  test("anew while the first note is being forgotten is noted under another id", () => {
    const driver = asking();
    driver.event("calls", released);
    driver.event("calls", offered);
    expect(driver.noted(driver.notes[0])).toEqual([]);
    expect(driver.sent).toEqual([]);
    driver.noted();
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-2" });
  });

  test("and stopped while that is being noted is forgotten", () => {
    const driver = asking();
    expect(driver.note(driver.session.stop("ticket"))).toEqual([forget]);
    expect(driver.noted()).toEqual([]);
    expect(driver.count("call.claim")).toBe(0);
  });

  test.each([true, false])(
    "is claimed if it still is after a lost connection (noted meanwhile: %s)",
    (isNoted) => {
      const driver = asking();
      driver.close();
      if (isNoted) expect(driver.noted()).toEqual([]);
      driver.open();
      driver.subscribed([openCall()]);
      if (!isNoted) driver.noted();
      expect(driver.notes).toHaveLength(1);
      expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    },
  );

  test.each([[], [openCall({ state: "open" })], [openCall({ state: "offered", client_id: "other" })]])(
    "is forgotten if it is not any more after a lost connection (%j)",
    (...calls) => {
      const driver = asking();
      driver.close();
      driver.open();
      expect(driver.subscribed(calls)).toEqual([forget]);
      expect(driver.noted()).toEqual([]);
      expect(driver.count("call.claim")).toBe(0);
    },
  );

  test.each(["call_settled", "not_found", "claim_lost", "invalid_argument"])(
    "and refused is forgotten (%s)",
    (code) => {
      expect(slow().refuse("call.claim", code)).toEqual([forget]);
    },
  );

  test("and given back because the tool has gone is forgotten", () => {
    const driver = slow();
    driver.session.announce({ ...presenceOf([]) });
    expect(driver.reply("call.claim", claimOf(openCall()))).toEqual([forget]);
  });
});

describe("a call", () => {
  test("is noted as begun before its body runs", () => {
    const driver = slow();
    driver.now += 2;
    expect(driver.reply("call.claim", claimOf(openCall()))).toEqual([
      { type: "note", note: noteOf({ startedAt: driver.now }) },
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
    expect(driver.reply("call.settle", { result: SUCCESS })).toEqual([
      { type: "forget", claimId: "claim-1" },
    ]);
  });

  test.each(["call_settled", "not_found", "claim_lost"])(
    "is forgotten when its answer is late (%s)",
    (code) => {
      const driver = slow();
      driver.reply("call.claim", claimOf(openCall()));
      driver.noted();
      driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
      driver.noted();
      expect(driver.refuse("call.settle", code)).toEqual([{ type: "forget", claimId: "claim-1" }]);
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
      { type: "forget", claimId: "claim-1" },
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
    driver.noted();
    driver.reply("call.claim", claimOf(openCall()));
    for (const note of driver.notes.slice(0, -1)) expect(driver.noted(note)).toEqual([]);
    expect(types(driver.noted())).toEqual(["tool", "execute"]);
    expect(driver.notes.map(({ claimId }) => claimId)).toEqual(["claim-1", "claim-1", "claim-2", "claim-2"]);
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
    expect(driver.reply("call.settle", { result: SUCCESS })).toEqual([
      { type: "forget", claimId: "claim-1" },
    ]);
    expect(driver.snapshot.toolCalls).toMatchObject([{ state: "answered", result: 1 }]);
    driver.event("calls", offered);
    expect(driver.count("call.claim")).toBe(0);
  });

  test.each(["call_settled", "not_found", "claim_lost"])("is forgotten when nobody wants it (%s)", (code) => {
    const driver = found();
    driver.open();
    expect(driver.refuse("call.settle", code)).toEqual([{ type: "forget", claimId: "claim-1" }]);
  });

  test("is forgotten when the call has ended otherwise", () => {
    const driver = found().welcome();
    const result = failed("cancelled");
    expect(driver.event("calls", { event: "cancelled", ...claimOf(openCall()), result })).toEqual([
      { type: "forget", claimId: "claim-1" },
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
    new Driver(undefined, { notes: [noteOf({ claimId: "noted", clientId: "gone", name })], isNoting: false });
  const giveBack = {
    interrupt_id: "i1",
    claim_id: "noted",
    started: true,
    reason: "the page is gone",
  };

  test("is given back as started, and nothing runs", () => {
    const driver = found();
    driver.open();
    expect(driver.last("call.release").params).toEqual(giveBack);
    driver.refuse("state.get", "not_found");
    expect(driver.subscribed([openCall({ state: "claimed", client_id: "gone" })])).toEqual([]);
    expect(driver.reply("call.release", {})).toEqual([{ type: "forget", claimId: "noted" }]);
    expect(driver.count("call.claim")).toBe(0);
  });

  test("runs again if the server offers it again", () => {
    const driver = found();
    driver.open();
    driver.reply("call.release", {});
    driver.refuse("state.get", "not_found");
    driver.subscribed([openCall({ state: "open" })]);
    driver.event("calls", offered);
    driver.noted();
    // Not the claim that the other page has noted.
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
    driver.reply("call.claim", claimOf(openCall()));
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
    driver.noted();
    expect(driver.count("call.claim")).toBe(1);
  });

  test.each(["call_settled", "not_found", "claim_lost"])("is forgotten when it is too late (%s)", (code) => {
    const driver = found();
    driver.open();
    expect(driver.refuse("call.release", code)).toEqual([{ type: "forget", claimId: "noted" }]);
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

test("of several notes of one call, the one with the result counts", () => {
  const begun = noteOf({ claimId: "begun", clientId: "other" });
  const ended = noteOf({ claimId: "ended", clientId: "gone", result: SUCCESS });
  const asked = noteOf({ claimId: "asked", clientId: "third", asked: true });
  const driver = new Driver(undefined, { notes: [begun, ended, asked], isNoting: false });
  driver.open();
  expect(driver.last("call.settle").params).toEqual({
    interrupt_id: "i1",
    claim_id: "ended",
    result: SUCCESS,
  });
  // The others are left to a later page.
  expect(driver.reply("call.settle", { result: SUCCESS })).toEqual([{ type: "forget", claimId: "ended" }]);
  expect(driver.count("call.release") + driver.count("call.claim")).toBe(0);
});

describe("a call that a page which is gone has asked for", () => {
  const note = noteOf({ claimId: "noted", clientId: "gone", asked: true });
  const forget = { type: "forget", claimId: "noted" };
  const found = (call?: Call, fields: Partial<Note> = {}) => {
    const driver = new Driver(undefined, { notes: [{ ...note, ...fields }], isNoting: false });
    driver.open();
    driver.refuse("state.get", "not_found");
    driver.noted();
    return { driver, effects: driver.subscribed(call === undefined ? [] : [call]) };
  };
  const claim = { interrupt_id: "i1", claim_id: "noted" };

  test("is noted as asked for by us before it is claimed", () => {
    const driver = new Driver(undefined, { notes: [note], isNoting: false });
    expect(driver.notes).toEqual([{ ...note, clientId: "me" }]);
    driver.open();
    expect(driver.last("client.announce").params).toMatchObject({ client_id: "me", replaces: ["gone"] });
    driver.refuse("state.get", "not_found");
    driver.subscribed([openCall({ state: "claimed", client_id: "gone" })]);
    expect(driver.count("call.claim")).toBe(0);
    driver.noted();
    expect(driver.last("call.claim").params).toEqual(claim);
  });

  test.each([
    ["and that was granted", openCall({ state: "claimed", client_id: "gone" })],
    ["and that is offered to us", openCall()],
    ["and that we have claimed since", openCall({ state: "claimed", client_id: "me" })],
    // Who has noted what the page before it had, and died before it claimed.
    ["and a page before that", openCall({ state: "claimed", client_id: "long gone" })],
  ])("%s is claimed again, noted as begun by us, and runs", (_what, call) => {
    const { driver, effects } = found(call);
    expect(effects).toEqual([]);
    expect(driver.last("call.claim").params).toEqual(claim);
    expect(driver.count("call.release")).toBe(0);
    const { asked, ...begun } = { ...note, clientId: "me", startedAt: driver.now };
    expect(driver.reply("call.claim", claimOf(call))).toEqual([{ type: "note", note: begun }]);
    const [, execute] = driver.noted();
    expect(execute).toEqual({ type: "execute", call: claimOf(call) });
    driver.note(driver.session.bodyFinished("i1", SUCCESS, driver.now));
    driver.noted();
    expect(driver.last("call.settle").params).toEqual({ ...claim, result: SUCCESS });
  });

  test("under our own id is claimed again", () => {
    const { driver } = found(openCall({ state: "claimed", client_id: "me" }), { clientId: "me" });
    expect(driver.last("call.claim").params).toEqual(claim);
  });

  test("is claimed again after each lost connection", () => {
    const { driver } = found(openCall({ state: "claimed", client_id: "gone" }));
    for (const client_id of ["gone", "me"]) {
      driver.close();
      driver.open();
      driver.subscribed([openCall({ state: "claimed", client_id })]);
      expect(driver.last("call.claim").params).toEqual(claim);
    }
    expect(driver.count("call.claim")).toBe(3);
  });

  test.each(["call_settled", "not_found", "claim_lost"])("is forgotten when it is too late (%s)", (code) => {
    const { driver } = found(openCall({ state: "claimed", client_id: "gone" }));
    expect(driver.refuse("call.claim", code)).toEqual([forget]);
  });

  test.each([
    ["is over", undefined],
    ["is open", openCall({ state: "open" })],
    ["is offered to another", openCall({ state: "offered", client_id: "other" })],
  ])("and that %s is forgotten; another offer is another claim", (_what, call) => {
    const { driver, effects } = found(call);
    expect(effects).toEqual([forget]);
    expect(driver.sent.filter(({ method }) => method.startsWith("call."))).toEqual([]);
    if (call === undefined) return;
    driver.event("calls", offered);
    driver.noted();
    expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
  });

  test("with a tool that this page lacks is given up", () => {
    const driver = new Driver([], { notes: [note], isNoting: false });
    driver.noted();
    driver.open();
    driver.refuse("state.get", "not_found");
    driver.subscribed([openCall({ state: "claimed", client_id: "gone" })]);
    expect(driver.reply("call.claim", claimOf(openCall()))).toEqual([forget]);
    expect(driver.last("call.release").params).toEqual({ ...claim, reason: "not_implemented" });
  });
});

test("a call that is claimed by our id, of which nothing is noted, is given back as started (L8)", () => {
  const driver = new Driver(undefined, { isNoting: false }).welcome();
  driver.close();
  driver.open();
  driver.subscribed([openCall({ state: "claimed", client_id: "me" })]);
  const reason = "the page is gone";
  expect(driver.last("call.release").params).toEqual({ interrupt_id: "i1", started: true, reason });
  // It may run again, the server says.
  driver.event("calls", offered);
  driver.refuse("call.release", "claim_lost");
  driver.noted();
  expect(driver.last("call.claim").params).toEqual({ interrupt_id: "i1", claim_id: "claim-1" });
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

  test("declines what is to be claimed", () => {
    const driver = asking();
    expect(types(close(driver))).toEqual(["forget", "drop"]);
    expect(driver.sent.map(({ method, params }) => ({ method, params }))).toEqual([release({})]);
    expect(driver.noted()).toEqual([]);
    expect(driver.count("call.claim")).toBe(0);
  });

  test("gives back what is being claimed, and does not claim it anew; its note stays, in case that does not arrive", () => {
    const driver = slow();
    driver.event("calls", released);
    driver.event("calls", offered);
    expect(types(close(driver))).toEqual(["note", "drop"]);
    expect(driver.notes.at(-1)).toMatchObject({ claimId: "claim-1", asked: true });
    expect(driver.sent.map(({ method, params }) => ({ method, params }))).toEqual([
      release({ claim_id: "claim-1" }),
    ]);
  });

  test("leaves the note of what was claimed on a connection that is lost", () => {
    const driver = slow();
    driver.close();
    expect(types(close(driver))).toEqual(["drop"]);
  });

  test("gives back what is being noted, which never runs, and notes that", () => {
    const driver = slow();
    driver.reply("call.claim", claimOf(openCall()));
    expect(types(close(driver))).toEqual(["note", "drop"]);
    expect(driver.notes.at(-1)).toMatchObject({ claimId: "claim-1", asked: true });
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

  test.each([{}, { asked: true } as const])("leaves notes of pages that are gone (%j)", (fields) => {
    const driver = new Driver(undefined, { notes: [noteOf(fields)], isNoting: false });
    driver.open();
    expect(types(close(driver))).toEqual(["drop"]);
    expect(driver.sent).toEqual([]);
  });
});
