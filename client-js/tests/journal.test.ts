import { IDBDatabase, IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PageJournal } from "../src/journal/page-journal.ts";
import { ManualClock, MemoryJournal } from "../src/testing/index.ts";
import { noteOf, SUCCESS } from "./messages.ts";

const WEEK = 7 * 24 * 60 * 60 * 1_000;
const clock = new ManualClock(2_000_000_000);
const note = noteOf({ startedAt: clock.now() });
const open = () => new PageJournal().open(clock);

beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The notes as another page finds them. */
const stored = async () => (await open()).notes("t");

describe.each([
  ["in IndexedDB", open],
  ["in memory", async () => new MemoryJournal()],
])("a journal %s", (_where, open) => {
  test("has the notes of each thread, the newest of each claim", async () => {
    const journal = await open();
    expect(await journal.notes("t")).toEqual([]);
    await journal.note(note);
    await journal.note({ ...note, threadId: "u", claimId: "claim-2" });
    await journal.note({ ...note, claimId: "claim-3" });
    const answered = { ...note, result: { status: "success", value: new Uint8Array([1]) } } as const;
    await journal.note(answered);
    const notes = await journal.notes("t");
    expect(notes).toHaveLength(2);
    expect(notes).toEqual(expect.arrayContaining([answered, { ...note, claimId: "claim-3" }]));
    expect(await journal.notes("u")).toEqual([{ ...note, threadId: "u", claimId: "claim-2" }]);
  });

  test("forgets", async () => {
    const journal = await open();
    await journal.note(note);
    await journal.note({ ...note, threadId: "u", claimId: "claim-2" });
    await journal.forget(note.claimId);
    await journal.forget("unknown");
    expect(await journal.notes("t")).toEqual([]);
    expect(await journal.notes("u")).toHaveLength(1);
  });

  test("does what it is asked for in that order", async () => {
    const journal = await open();
    const writes = [
      journal.note(note),
      journal.forget(note.claimId),
      journal.note({ ...note, claimId: "claim-2" }),
    ];
    expect(await journal.notes("t")).toMatchObject([{ claimId: "claim-2" }]);
    await Promise.all(writes);
  });
});

describe("in IndexedDB", () => {
  test("what is noted outlives the page", async () => {
    const journal = await open();
    expect(journal.isDurable).toBe(true);
    await journal.note(note);
    const next = await open();
    expect(next.isDurable).toBe(true);
    expect(await next.notes("t")).toEqual([note]);
  });

  test("a write has happened when it is on the disk, not before", async () => {
    const journal = await open();
    const transactions: IDBTransaction[] = [];
    const begin = IDBDatabase.prototype.transaction;
    const spy = vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(function (
      this: IDBDatabase,
      ...given
    ) {
      const transaction = begin.apply(this, given);
      transactions.push(transaction);
      return transaction;
    });
    const order: string[] = [];
    const written = journal.note(note).then(() => order.push("written"));
    transactions[0]?.addEventListener("complete", () => order.push("complete"));
    await written;
    expect(order).toEqual(["complete", "written"]);
    await journal.note({ ...note, result: SUCCESS });
    // What has not begun may be lost to a power cut.
    await journal.note({ ...note, asked: true });
    const options = spy.mock.calls.map(([, , options]) => options?.durability);
    expect(options).toEqual(["strict", "strict", "relaxed"]);
  });

  test("what nobody has asked for in a week is gone", async () => {
    const journal = await open();
    await journal.note({ ...note, interruptId: "old", startedAt: clock.now() - WEEK - 1 });
    await journal.note({ ...note, startedAt: clock.now() - WEEK });
    expect(await stored()).toMatchObject([{ interruptId: "i1" }]);
  });
});

describe("without IndexedDB a journal is in memory, and says so once, when that matters", () => {
  const warn = () => vi.spyOn(console, "warn").mockImplementation(() => {});
  const loss = expect.stringContaining("a reload loses the result");

  test.each<[string, unknown]>([
    ["there is none", undefined],
    [
      "it is forbidden",
      {
        open: () => {
          throw new DOMException("no", "SecurityError");
        },
      },
    ],
    [
      "it does not work",
      {
        open: () => {
          const opening = { error: new DOMException("full", "QuotaExceededError"), onerror: () => {} };
          queueMicrotask(() => opening.onerror());
          return opening;
        },
      },
    ],
  ])("because %s", async (_why, indexedDB) => {
    vi.stubGlobal("indexedDB", indexedDB);
    const warned = warn();
    const journal = await open();
    expect(journal.isDurable).toBe(false);
    expect(await journal.notes("t")).toEqual([]);
    expect(warned).not.toHaveBeenCalled();
    await journal.note(note);
    await journal.note({ ...note, result: SUCCESS });
    expect(warned.mock.calls).toEqual([[loss]]);
    expect(await journal.notes("t")).toEqual([{ ...note, result: SUCCESS }]);
    await journal.forget(note.claimId);
    expect(await journal.notes("t")).toEqual([]);
    expect(clock.next).toBeUndefined();
  });

  test("because it never answers", async () => {
    vi.stubGlobal("indexedDB", { open: () => ({}) });
    const opening = open();
    await clock.advance(3_000);
    expect((await opening).isDurable).toBe(false);
  });

  test("because it stops working", async () => {
    const warned = warn();
    const journal = await open();
    await journal.note(note);
    // Somebody deletes it in the developer tools: it lets go of the database, and cannot use it any more.
    await new Promise((resolve) => {
      indexedDB.deleteDatabase("farside.journal").onsuccess = resolve;
    });
    await journal.note({ ...note, interruptId: "i2" });
    expect(journal.isDurable).toBe(false);
    expect(warned.mock.calls).toEqual([[loss]]);
    expect(await journal.notes("t")).toEqual([{ ...note, interruptId: "i2" }]);
    await journal.note({ ...note, interruptId: "i3" });
    expect(warned).toHaveBeenCalledOnce();
  });

  test("but a result that cannot be noted leaves it as it is", async () => {
    const warned = warn();
    const journal = await open();
    await journal.note(note);
    await journal.note({ ...note, result: { status: "success", value: () => 1 } });
    expect(journal.isDurable).toBe(true);
    expect(warned).not.toHaveBeenCalled();
    expect(await stored()).toEqual([note]);
  });
});
