import { describe, expect, test } from "vitest";
import { Driver } from "./messages.ts";

const say = (id: string, content = id) => ({ messages: [{ type: "human", content, id }] });
const running = (run_id: string, input?: object) => ({ event: "running", run_id, ...(input && { input }) });
const queued = (run_id: string, input: object) => ({ event: "queued", run_id, input });
const completed = (run_id: string) => ({ event: "completed", run_id });
const cancelled = (run_id: string) => ({ event: "interrupted", run_id, code: "cancelled" });
const ids = (driver: Driver) => driver.snapshot.messages.map(({ id }) => id);
const runs = (driver: Driver) => driver.snapshot.queued.map(({ runId }) => runId);

/** A page that shows a run which goes on. */
function busy(): Driver {
  const driver = new Driver().welcome();
  driver.event("lifecycle", running("r1", say("m1")));
  return driver;
}

/** This page says something more. */
function submit(driver: Driver, runId: string, id: string): void {
  const input = say(id);
  driver.note(driver.session.submit(input, { runId, messages: input.messages }, runId));
}

describe("a run that waits for its turn", () => {
  test("shows with what was said, apart from the thread's messages", () => {
    const driver = busy();
    const image = { type: "image", url: "x" };
    const input = { messages: [{ role: "user", content: ["Hi", image] }, "text", { type: "tool" }] };
    driver.event("lifecycle", queued("r2", input));
    expect(driver.snapshot.queued).toEqual([
      {
        runId: "r2",
        messages: [
          {
            id: "r2:0",
            role: "human",
            text: "Hi",
            content: [{ type: "text", text: "Hi" }, image],
            toolCalls: [],
            streaming: false,
          },
        ],
      },
    ]);
    expect(ids(driver)).toEqual(["m1"]);
    expect(driver.snapshot.status).toBe("running");
  });

  test("moves to the end of the messages when it begins", () => {
    const driver = busy();
    driver.event("lifecycle", queued("r2", say("m2")));
    driver.event("lifecycle", queued("r3", say("m3")));
    driver.event("messages", { event: "message-start", role: "ai", id: "a1" });
    driver.event("lifecycle", completed("r1"));
    expect(driver.snapshot.status).toBe("running");
    driver.event("lifecycle", running("r2", say("m2")));
    expect(ids(driver)).toEqual(["m1", "a1", "m2"]);
    expect(runs(driver)).toEqual(["r3"]);
    driver.event("lifecycle", completed("r2"));
    driver.event("lifecycle", running("r3", say("m3")));
    driver.event("lifecycle", completed("r3"));
    expect(driver.snapshot).toMatchObject({ status: "idle", queued: [] });
  });

  test("that is cancelled is gone, and says nothing about the one under way", () => {
    const driver = busy();
    driver.event("input.requested", { interrupt_id: "q", payload: 1 });
    driver.event("lifecycle", queued("r2", say("m2")));
    driver.event("lifecycle", cancelled("r2"));
    expect(driver.snapshot).toMatchObject({ status: "running", queued: [], interrupts: [{ id: "q" }] });
    expect(ids(driver)).toEqual(["m1"]);
    driver.event("lifecycle", completed("r1"));
    expect(driver.snapshot).toMatchObject({ status: "idle", interrupts: [] });
  });

  test("that fails when its turn comes says why", () => {
    const driver = busy();
    driver.event("lifecycle", queued("r2", say("m2")));
    driver.event("lifecycle", completed("r1"));
    driver.event("lifecycle", { event: "failed", run_id: "r2", code: "not_found", error: "no such agent" });
    expect(driver.snapshot).toMatchObject({ status: "failed", queued: [], error: { code: "not_found" } });
  });

  test("is listed in the thread's state, too", () => {
    const driver = new Driver();
    driver.open();
    driver.reply(
      "state.get",
      {
        values: say("m1"),
        run: { run_id: "r1", assistant_id: "a", status: "running" },
        queued: [{ run_id: "r2", assistant_id: "a", input: say("m2") }],
      },
      4,
    );
    driver.subscribed([]);
    expect(ids(driver)).toEqual(["m1"]);
    const { queued: before } = driver.snapshot;
    expect(before).toMatchObject([{ runId: "r2", messages: [{ id: "m2", text: "m2" }] }]);
    driver.seq = 4;
    driver.event("messages", { event: "message-start", role: "ai", id: "a1" });
    expect(driver.snapshot.queued).toBe(before);
    // A replay tells it again.
    driver.event("lifecycle", queued("r2", say("m2")));
    expect(runs(driver)).toEqual(["r2"]);
    expect(driver.snapshot.status).toBe("running");
  });
});

describe("what this page has said", () => {
  test("leaves the messages when it turns out to be queued", () => {
    const driver = busy();
    submit(driver, "r2", "m2");
    expect(ids(driver)).toEqual(["m1", "m2"]);
    driver.event("lifecycle", queued("r2", say("m2")));
    expect(ids(driver)).toEqual(["m1"]);
    expect(runs(driver)).toEqual(["r2"]);
    expect(driver.reply("run.start", { run_id: "r2" })).toMatchObject([{ type: "replied", error: null }]);
    expect(runs(driver)).toEqual(["r2"]);
    driver.event("lifecycle", completed("r1"));
    driver.event("lifecycle", running("r2", say("m2")));
    expect(ids(driver)).toEqual(["m1", "m2"]);
    driver.event("lifecycle", completed("r2"));
    expect(driver.snapshot.status).toBe("idle");
  });

  test("leaves the messages, too, when the reply comes before the event", () => {
    const driver = busy();
    submit(driver, "r2", "m2");
    driver.reply("run.start", { run_id: "r2" });
    driver.event("lifecycle", queued("r2", say("m2")));
    expect(ids(driver)).toEqual(["m1"]);
    // The run under way is still the one before.
    driver.event("lifecycle", cancelled("r2"));
    expect(driver.snapshot).toMatchObject({ status: "running", queued: [] });
    driver.event("lifecycle", completed("r1"));
    expect(driver.snapshot.status).toBe("idle");
  });

  test("has its place after what was said before, whenever that comes", () => {
    const driver = new Driver();
    submit(driver, "r2", "m2");
    driver.open();
    driver.reply("state.get", { values: say("m0") });
    driver.subscribed([]);
    expect(ids(driver)).toEqual(["m0", "m2"]);
    driver.event("lifecycle", running("r1", say("m1")));
    driver.event("lifecycle", running("r2", say("m2")));
    expect(ids(driver)).toEqual(["m0", "m1", "m2"]);
  });

  test("is not revived by its reply when it has been cancelled meanwhile", () => {
    const driver = busy();
    submit(driver, "r2", "m2");
    driver.event("lifecycle", queued("r2", say("m2")));
    driver.event("lifecycle", cancelled("r2"));
    driver.event("lifecycle", cancelled("r1"));
    driver.reply("run.start", { run_id: "r2" });
    expect(driver.snapshot).toMatchObject({ status: "idle", queued: [] });
    expect(ids(driver)).toEqual(["m1"]);
  });

  test("is queued, as the thread's state says, although no reply has come", () => {
    const driver = new Driver();
    submit(driver, "r2", "m2");
    driver.open();
    driver.reply("state.get", {
      values: say("m1"),
      run: { run_id: "r1", assistant_id: "a", status: "running" },
      queued: [{ run_id: "r2", assistant_id: "a", input: say("m2") }],
    });
    expect(ids(driver)).toEqual(["m1"]);
    expect(runs(driver)).toEqual(["r2"]);
  });

  test.each(["run_active", "run_interrupted"])("is taken back when the server refuses it (%s)", (code) => {
    const driver = busy();
    submit(driver, "r2", "m2");
    driver.refuse("run.start", code, true);
    expect(ids(driver)).toEqual(["m1"]);
    expect(driver.snapshot).toMatchObject({ status: "running", queued: [], error: { code } });
  });
});

describe("stop", () => {
  test("names the run under way: the server ends those that wait with it", () => {
    const driver = busy();
    driver.event("lifecycle", queued("r2", say("m2")));
    driver.note(driver.session.stop("ticket"));
    expect(driver.sent.map(({ method, params }) => [method, params])).toEqual([
      ["run.cancel", { run_id: "r1" }],
    ]);
    driver.event("lifecycle", cancelled("r1"));
    driver.event("lifecycle", cancelled("r2"));
    expect(driver.snapshot).toMatchObject({ status: "idle", queued: [] });
  });

  test("names also what may have been queued, or not: the server has not said so yet", () => {
    const driver = busy();
    submit(driver, "r2", "m2");
    driver.note(driver.session.stop("ticket"));
    const cancels = driver.sent.filter(({ method }) => method === "run.cancel");
    expect(cancels.map(({ params }) => params)).toEqual([{ run_id: "r1" }, { run_id: "r2" }]);
    expect(driver.reply("run.cancel", {})).toEqual([]);
    const first = { type: "error", id: cancels[0]?.id ?? 0, error: "internal", message: "" } as const;
    expect(driver.receive(first)).toMatchObject([
      { type: "replied", ticket: "ticket", error: { code: "internal" } },
    ]);
  });
});
