import { afterEach, describe, expect, test, vi } from "vitest";
import { type FakeConnection, MemoryJournal, quiet } from "../src/testing/index.ts";
import { Browser, type Tab } from "./browser.ts";
import { claimOf, noteOf, openCall, SUCCESS } from "./messages.ts";
import { held } from "./page.ts";

afterEach(() => vi.unstubAllGlobals());

/** A browser with a tab whose tool runs until the test says so. */
async function setUp() {
  const browser = new Browser();
  const body = held();
  const tab = browser.open({ tools: [body.tool] });
  const { connection, clientId } = await tab.connected();
  await connection.welcome();
  return { browser, body, tab, connection, clientId };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;
type Held = ReturnType<typeof held>;

/** A call is offered to the page, and the page claims it. */
async function offer({ connection, clientId }: Pick<SetUp, "connection" | "clientId">) {
  const call = openCall({ client_id: clientId });
  connection.event("calls", { event: "opened", ...call });
  return { call, claim: await connection.next("call.claim") };
}

/** The page has claimed a call, and is reloaded before it has noted that it begins. */
async function claimed() {
  const page = await setUp();
  const { call, claim } = await offer(page);
  page.connection.silence();
  page.connection.reply(claim, claimOf(call));
  return { ...page, claim };
}

/** The body runs, and the page has noted so. Returns the claim's id. */
async function start({ body, ...page }: SetUp) {
  const { call, claim } = await offer(page);
  const begun = new Promise<void>((resolve) => {
    body.begun = resolve;
  });
  page.connection.reply(claim, claimOf(call));
  await begun;
  return claim.params.claim_id;
}

/** The page claims the call that the one before it had claimed, and answers it. */
async function finish(
  connection: FakeConnection,
  { claim }: Awaited<ReturnType<typeof claimed>>,
  body: Held,
) {
  const again = await connection.next("call.claim");
  expect(again.params).toEqual(claim.params);
  connection.reply(again, claimOf(openCall()));
  body.end("done");
  const settle = await connection.next("call.settle");
  expect(settle.params).toMatchObject({ claim_id: claim.params.claim_id, result: { value: "done" } });
}

/** What the next page finds when it comes: the call as the server has it. */
const held_by = (client_id: string) => ({
  subscription: { calls: [openCall({ state: "claimed", client_id })] },
});

const notes = async ({ indexedDB }: Browser) => {
  const opening = indexedDB.open("farside.journal", 1);
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const all = opening.result.transaction("claims").objectStore("claims").getAll();
  await new Promise((resolve) => {
    all.onsuccess = resolve;
  });
  opening.result.close();
  return all.result;
};

describe("a page that is reloaded", () => {
  test("has the same id", async () => {
    const { browser, tab, clientId } = await setUp();
    expect(clientId).toMatch(/^[0-9a-f]{32}$/);
    expect(browser.locks.held).toEqual([`farside:client:${clientId}`]);
    const next = await tab.reload().connected();
    expect(next.clientId).toBe(clientId);
    expect(browser.locks.held).toEqual([`farside:client:${clientId}`]);
  });

  test("waits until the page before is gone", async () => {
    const { browser, tab, clientId } = await setUp();
    const next = tab.duplicate();
    await idle(browser);
    expect(browser.server.connections).toHaveLength(1);
    tab.crash();
    expect((await next.connected()).clientId).toBe(clientId);
  });

  test("has noted a call before it asks for it", async () => {
    const page = await setUp();
    const { claim } = await offer(page);
    const { claim_id } = claim.params;
    expect(await notes(page.browser)).toMatchObject([{ interruptId: "i1", claimId: claim_id, asked: true }]);
  });

  test("before it had noted that it begins executes the call, once", async () => {
    const page = await claimed();
    const again = held();
    const { connection } = await page.tab.reload({ tools: [again.tool] }).connected();
    await connection.welcome(held_by(page.clientId));
    await finish(connection, page, again);
    expect([page.body.started, again.started].map(({ length }) => length)).toEqual([0, 1]);
  });

  test("and whose journal is lost gives the call back as started (L8)", async () => {
    const page = await claimed();
    await new Promise((resolve) => {
      page.browser.indexedDB.deleteDatabase("farside.journal").onsuccess = resolve;
    });
    const { connection, clientId } = await page.tab.reload().connected();
    expect(clientId).toBe(page.clientId);
    await connection.welcome(held_by(clientId));
    expect((await connection.take("call.release")).params).toMatchObject({
      interrupt_id: "i1",
      started: true,
    });
    expect(connection.unread).toEqual([]);
  });

  test("is not needed to leave nothing behind: a call that ends while it is noted never runs", async () => {
    const page = await setUp();
    const { call, claim } = await offer(page);
    page.connection.reply(claim, claimOf(call));
    const result = { status: "error", error: { code: "cancelled", message: "stop" } } as const;
    page.connection.event("calls", { event: "cancelled", ...claimOf(call), result });
    expect(await notes(page.browser)).toEqual([]);
    await quiet();
    expect(page.body.started).toEqual([]);
    expect(page.tab.heard).toEqual([]);
    expect(page.connection.unread).toEqual([]);
  });

  test("while the body ran gives the call back as started, and does not execute it (L8)", async () => {
    const page = await setUp();
    const claim_id = await start(page);
    const again = held();
    const { connection } = await page.tab.reload({ tools: [again.tool] }).connected();
    await connection.take("client.announce");
    await connection.take("state.get");
    const release = await connection.take("call.release");
    expect(release.params).toMatchObject({ interrupt_id: "i1", claim_id, started: true });
    expect(await notes(page.browser)).toMatchObject([{ interruptId: "i1", clientId: page.clientId }]);
    connection.reply(release, {});
    expect(await notes(page.browser)).toEqual([]);
    expect(again.started).toEqual([]);
  });

  test("while the body ran executes the call again if the server offers it again", async () => {
    const page = await setUp();
    const claim_id = await start(page);
    const again = held();
    const next = page.tab.reload({ tools: [again.tool] });
    const { connection } = await next.connected();
    await connection.take("client.announce");
    connection.refuse(await connection.take("state.get"), "not_found");
    connection.reply(await connection.take("call.release"), {});
    connection.reply(await connection.take("subscription.subscribe"), {
      subscription_id: "s",
      replayed_events: 0,
      calls: [openCall({ client_id: page.clientId })],
    });
    const claim = await connection.next("call.claim");
    expect(claim.params.claim_id).not.toBe(claim_id);
    connection.reply(claim, claimOf(openCall()));
    again.end("done");
    expect((await connection.next("call.settle")).params.claim_id).toBe(claim.params.claim_id);
    expect(next.heard.map(({ phase }) => phase)).toEqual(["start", "success"]);
  });

  test("after the body had ended sends its result, and does not execute it again", async () => {
    const page = await setUp();
    const claim_id = await start(page);
    page.body.end("done");
    await page.connection.next("call.settle");
    const again = held();
    const next = page.tab.reload({ tools: [again.tool] });
    const { connection } = await next.connected();
    const settle = connection.received.find(({ method }) => method === "call.settle");
    const result = { status: "success", value: "done" } as const;
    expect(settle?.params).toEqual({ interrupt_id: "i1", claim_id, result });
    // That the answer had been stored already is as good.
    connection.refuse(settle as never, "call_settled");
    expect(await notes(page.browser)).toEqual([]);
    expect(again.started).toEqual([]);
    expect(next.heard).toEqual([]);
  });

  test("when nothing was left does nothing of all this", async () => {
    const page = await setUp();
    await start(page);
    page.body.end("done");
    const settle = await page.connection.next("call.settle");
    page.connection.reply(settle, { result: settle.params.result });
    expect(await notes(page.browser)).toEqual([]);
    const { connection } = await page.tab.reload().connected();
    expect(connection.received.map(({ method }) => method)).toEqual(["client.announce", "state.get"]);
  });
});

describe("a tab that is duplicated", () => {
  test("gets an id of its own, and leaves the other's calls alone", async () => {
    const page = await setUp();
    await start(page);
    const twin = page.tab.duplicate();
    await quiet();
    expect(page.browser.server.connections).toHaveLength(1);
    await idle(page.browser);
    await twin.clock.advance(500);
    const { connection, clientId } = await twin.connected();
    expect(clientId).not.toBe(page.clientId);
    expect(page.browser.locks.held).toEqual(
      [page.clientId, clientId].map((id) => `farside:client:${id}`).sort(),
    );
    await connection.welcome(held_by(page.clientId));
    expect(connection.unread).toEqual([]);
    expect(await notes(page.browser)).toHaveLength(1);
    // Each keeps its own.
    const ids = [await page.tab.reload().connected(), await twin.reload().connected()];
    expect(ids.map(({ clientId }) => clientId)).toEqual([page.clientId, clientId]);
  });
});

describe("a page that is gone", () => {
  /** Leaves a result behind, and a call in the middle of its execution. */
  const leave = async () => {
    const page = await setUp();
    const claim_id = await start(page);
    page.body.end("done");
    await page.connection.next("call.settle");
    page.tab.crash();
    return { ...page, claim_id };
  };
  const settles = ({ received }: { received: readonly { method: string }[] }) =>
    received.filter(({ method }) => method === "call.settle");

  test("has its calls dealt with by another tab, until that is done", async () => {
    const page = await leave();
    const { connection, clientId } = await page.browser.open().connected();
    expect(clientId).not.toBe(page.clientId);
    const [settle] = settles(connection);
    expect(settle).toMatchObject({ params: { interrupt_id: "i1", claim_id: page.claim_id } });
    connection.reply(settle as never, { result: SUCCESS });
    expect(await notes(page.browser)).toEqual([]);
  });

  test("has a call that it had not begun executed by another tab, once", async () => {
    const page = await claimed();
    page.tab.crash();
    const again = held();
    const { connection, clientId } = await page.browser.open({ tools: [again.tool] }).connected();
    expect(clientId).not.toBe(page.clientId);
    await connection.welcome(held_by(page.clientId));
    await finish(connection, page, again);
    expect([page.body.started, again.started].map(({ length }) => length)).toEqual([0, 1]);
  });

  test("has a call that it had not begun left alone by other tabs as long as it lives", async () => {
    const page = await claimed();
    const { connection } = await page.browser.open().connected();
    await connection.welcome(held_by(page.clientId));
    await idle(page.browser);
    expect(connection.unread).toEqual([]);
  });

  test("has a call that the next one took on, and had begun, given back as started", async () => {
    const page = await claimed();
    page.tab.crash();
    const body = held();
    const next = page.browser.open({ tools: [body.tool] });
    const { connection } = await next.connected();
    await connection.welcome(held_by(page.clientId));
    const begun = new Promise<void>((resolve) => {
      body.begun = resolve;
    });
    connection.reply(await connection.next("call.claim"), claimOf(openCall()));
    await begun;
    next.crash();
    const last = await page.browser.open().connected();
    const { claim_id } = page.claim.params;
    const release = last.connection.received.find(({ method }) => method === "call.release");
    expect(release?.params).toMatchObject({ interrupt_id: "i1", claim_id, started: true });
  });

  test("has its calls dealt with by one tab only", async () => {
    const page = await leave();
    const one = page.browser.open();
    const { connection } = await one.connected();
    const two = await page.browser.open().connected();
    expect(settles(connection)).toHaveLength(1);
    expect(settles(two.connection)).toEqual([]);
    // Even if it comes back.
    const back = page.tab.reload();
    await idle(page.browser);
    await back.clock.advance(500);
    const { connection: third, clientId } = await back.connected();
    expect(clientId).not.toBe(page.clientId);
    expect(settles(third)).toEqual([]);
    // Until the one is gone, too.
    one.crash();
    expect(settles((await page.browser.open().connected()).connection)).toHaveLength(1);
  });

  test("has its calls left to others by a thread that is closed", async () => {
    const page = await leave();
    const one = page.browser.open();
    await one.connected();
    one.thread.close();
    await quiet();
    const next = await page.browser.open().connected();
    expect(settles(next.connection)).toHaveLength(1);
  });

  test("has its calls of other threads left alone", async () => {
    const page = await leave();
    const tab = page.browser.open();
    await tab.connected();
    tab.client.thread("another");
    const { connection } = await tab.connected();
    expect(settles(connection)).toEqual([]);
  });
});

describe("an id", () => {
  test("that the application gives is taken as it is, and shows that the page lives", async () => {
    const page = await setUp();
    const tab = page.browser.open({ clientId: "mine" });
    expect((await tab.connected()).clientId).toBe("mine");
    expect(tab.storage.items.size).toBe(0);
    expect(page.browser.locks.held).toContain("farside:client:mine");
    const twin = page.browser.open({ clientId: "mine" });
    await idle(page.browser);
    await twin.clock.advance(500);
    expect((await twin.connected()).clientId).toBe("mine");
  });

  test("is another one for each client of a page", async () => {
    const { browser, tab, clientId } = await setUp();
    const twin = new (tab.constructor as typeof Tab)(browser, tab.storage);
    await idle(browser);
    await twin.clock.advance(500);
    expect((await twin.connected()).clientId).not.toBe(clientId);
    const other = new (tab.constructor as typeof Tab)(browser, tab.storage, { agent: "other" });
    expect((await other.connected()).clientId).not.toBe(clientId);
  });

  test("is given up when the client is closed, and found again when it is used again", async () => {
    const { browser, tab, clientId } = await setUp();
    tab.client.close();
    await quiet();
    expect(browser.locks.held).toEqual([]);
    tab.client.thread("t");
    expect((await tab.connected()).clientId).toBe(clientId);
  });

  test.each<[string, () => void]>([
    ["Web Locks", () => vi.stubGlobal("navigator", {})],
    ["sessionStorage", () => vi.stubGlobal("sessionStorage", undefined)],
  ])("is a new one for each page without %s", async (_what, remove) => {
    const browser = new Browser();
    browser.without = remove;
    const tab = browser.open();
    const { clientId } = await tab.connected();
    expect(tab.storage.items.size).toBe(0);
    expect((await tab.reload().connected()).clientId).not.toBe(clientId);
  });

  test("is the same without IndexedDB, and what it holds is given back at once: nobody knows whether it has begun", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const browser = new Browser();
    browser.without = () => vi.stubGlobal("indexedDB", undefined);
    const tab = browser.open();
    const { clientId } = await tab.connected();
    const after = await tab.reload().connected();
    expect(after.clientId).toBe(clientId);
    await after.connection.welcome(held_by(clientId));
    expect((await after.connection.take("call.release")).params).toMatchObject({ started: true });
    warned.mockRestore();
  });

  test("is a new one where the tab's storage is forbidden, or full", async () => {
    const { browser, tab, clientId } = await setUp();
    tab.storage.getItem = () => null;
    tab.storage.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    expect((await tab.reload().connected()).clientId).not.toBe(clientId);
    const forbidden = {
      get: () => {
        throw new DOMException("no", "SecurityError");
      },
      configurable: true,
    };
    browser.without = () => Object.defineProperty(globalThis, "sessionStorage", forbidden);
    expect((await tab.reload().connected()).clientId).not.toBe(clientId);
  });

  test("is the same after the journal has stopped working", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const page = await setUp();
    await new Promise((resolve) => {
      page.browser.indexedDB.deleteDatabase("farside.journal").onsuccess = resolve;
    });
    const claim_id = await start(page);
    expect(warned).toHaveBeenCalledOnce();
    page.body.end("done");
    const settle = await page.connection.next("call.settle");
    expect(settle.params).toMatchObject({ claim_id, result: { value: "done" } });
    expect((await page.tab.reload().connected()).clientId).toBe(page.clientId);
    warned.mockRestore();
  });
});

describe("a journal of the application's own", () => {
  test("that outlives the page carries a client id of its own over a reload", async () => {
    const journal = new MemoryJournal();
    await journal.note(noteOf({ result: SUCCESS }));
    const browser = new Browser();
    const { connection } = await browser.open({ clientId: "me", journal }).connected();
    expect(connection.received.map(({ method }) => method)).toContain("call.settle");
  });

  test("that does not says nothing about what the id had begun before", async () => {
    const browser = new Browser();
    const { connection } = await browser.open({ clientId: "me", journal: new MemoryJournal() }).connected();
    await connection.welcome(held_by("me"));
    expect((await connection.take("call.release")).params).toMatchObject({ started: true });
  });
});

/** Everything that has been asked of the browser's databases has happened. */
async function idle(browser: Browser): Promise<void> {
  await notes(browser);
  await quiet();
}
