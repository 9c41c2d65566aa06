import { afterEach, expect, test, vi } from "vitest";
import { createClient, type Note, type Thread, tool } from "../src/index.ts";
import { ManualClock, MemoryJournal, quiet } from "../src/testing/index.ts";
import { FakeLocks } from "./browser.ts";
import { ModelServer } from "./model.ts";

/** Numbers that look random and are the same each time. */
function seeded(seed: number) {
  let state = seed + 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** What all pages of a browser share, and the world around it. */
interface Browser {
  readonly server: ModelServer;
  readonly clock: ManualClock;
  readonly random: () => number;
  readonly journal: MemoryJournal;
  readonly locks: FakeLocks;
}

/** A page that can die: from then on nothing of it does anything. */
class Page {
  readonly thread: Thread;
  isAlive = true;

  constructor(
    readonly name: string,
    browser: Browser,
    body: (page: Page, id: string, signal: AbortSignal, progress: (value: unknown) => void) => unknown,
  ) {
    const { server, clock, journal, locks, random } = browser;
    vi.stubGlobal("navigator", { locks: locks.of(this) });
    const whileAlive =
      <T extends unknown[], R>(act: (...given: T) => R) =>
      (...given: T) =>
        this.isAlive ? act(...given) : new Promise<never>(() => {});
    const isAlive = () => this.isAlive;
    this.thread = createClient({
      url: "ws://server",
      agent: "a",
      tools: [
        tool({ name: "work", description: "" }).implement((_args, { toolCallId, signal, progress }) =>
          body(this, toolCallId, signal, progress),
        ),
      ],
      clientId: name,
      journal: {
        note: whileAlive(async (note: Note) => journal.note(note)),
        forget: whileAlive(async (claim: string) => journal.forget(claim)),
        notes: whileAlive(async (thread: string) => journal.notes(thread)),
      },
      encoding: random() < 0.5 ? "json" : "msgpack",
      WebSocket: class extends server.fake.WebSocket {
        constructor(url: string, protocols: string[]) {
          if (!isAlive()) throw new Error("the page is gone");
          super(url, protocols);
        }

        override send(frame: string | Uint8Array<ArrayBuffer>) {
          if (isAlive()) super.send(frame);
        }
      },
      clock: { now: () => clock.now(), at: (time, run) => clock.at(time, () => this.isAlive && run()) },
      random,
    }).thread("t");
  }
}

afterEach(() => vi.unstubAllGlobals());

/**
 * Two browsers with a page each that dies at times and comes back, as itself or as another page; one server that is a model of
 * what it should be; and a network that loses commands, replies, events and connections. However it goes: a call is executed by
 * one page at a time, and once unless its tool is idempotent; its result is stored, or its execution has ended as interrupted;
 * and both pages show the same in the end.
 */
test.each(Array.from({ length: 120 }, (_, seed) => seed))(
  "nothing is lost or done twice (seed %i)",
  async (seed) => {
    const random = seeded(seed);
    const clock = new ManualClock();
    const server = new ModelServer(clock, random, 3);
    const executions: { id: string; page: Page; isOver: boolean; value?: string }[] = [];

    const body = (page: Page, id: string, signal: AbortSignal, progress: (value: unknown) => void) => {
      // A page that was away for longer than its lease does not know that another one may do its work again.
      const isTwin = (other: (typeof executions)[number]) =>
        other.id === id &&
        !other.isOver &&
        other.page.isAlive &&
        (other.page === page || !server.calls.get(id)?.isIdempotent);
      const twin = executions.find(isTwin);
      if (twin !== undefined) throw new Error(`${id} runs in ${twin.page.name} already`);
      const execution: (typeof executions)[number] = { id, page, isOver: false };
      executions.push(execution);
      signal.addEventListener("abort", () => {
        execution.isOver = true;
      });
      return new Promise((resolve) => {
        const finish = () => {
          if (!page.isAlive || execution.isOver) return;
          execution.isOver = true;
          execution.value = `${page.name} did ${id}, ${executions.length}`;
          resolve(execution.value);
        };
        const step = () => {
          if (page.isAlive && !execution.isOver) progress(clock.now());
          clock.at(clock.now() + random() * 20_000, finish);
        };
        if (random() < 0.2) finish();
        else clock.at(clock.now() + random() * 5_000, step);
      });
    };
    const browsers = Array.from({ length: 2 }, (): Browser => {
      return { server, clock, random, journal: new MemoryJournal(), locks: new FakeLocks() };
    });
    const pages = browsers.map((browser, index) => new Page(["one", "two"][index] ?? "", browser, body));
    await quiet();
    const rates = { command: 0.05, reply: 0.05, event: 0.03 };
    server.loses = (what) => random() < rates[what];
    for (let turn = 0; turn < 3; turn++) {
      pages[Math.floor(random() * 2)]?.thread.submit(`turn ${turn}`);
      for (let step = 0; step < 15; step++) {
        await clock.advance(random() * 3_000);
        server.tick();
        await quiet();
        const connections = server.fake.connections.filter((connection) => {
          return connection.isOpen && !server.doubtful.has(connection);
        });
        if (random() < 0.1) connections[Math.floor(random() * connections.length)]?.drop();
        if (random() < 0.05) connections[Math.floor(random() * connections.length)]?.silence();
        // Not in the middle of a message that nobody else has.
        if (random() < 0.1 && turn > 0 && step > 3) {
          const index = Math.floor(random() * 2);
          const [page, browser] = [pages[index] as Page, browsers[index] as Browser];
          page.isAlive = false;
          page.thread.close();
          browser.locks.drop(page);
          pages[index] = new Page(random() < 0.5 ? page.name : `${page.name}'`, browser, body);
        }
      }
    }
    server.loses = () => false;
    for (let step = 0; step < 60; step++) {
      await clock.advance(2_500);
      server.tick();
      await quiet();
    }

    expect(server.isIdle).toBe(true);
    for (const [id, { result, isIdempotent }] of server.calls) {
      const mine = executions.filter((execution) => execution.id === id);
      if (!isIdempotent) expect(mine.length).toBeLessThanOrEqual(1);
      if (result?.status === "success") {
        expect(mine.map(({ value }) => value)).toContain(result.value);
      } else {
        expect(result?.error.code).toBe("interrupted");
        expect(isIdempotent).toBe(false);
      }
    }
    const [one, two] = pages.map((page) => page.thread.getSnapshot());
    expect(one).toMatchObject({ connection: "open", status: "idle", error: null });
    expect(one?.toolCalls.map(({ state }) => state)).not.toContain("running");
    expect(two).toEqual(one);
    for (const { journal } of browsers) expect(await journal.notes("t")).toEqual([]);
    for (const page of pages) page.thread.close();
  },
);
