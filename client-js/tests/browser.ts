import { IDBFactory } from "fake-indexeddb";
import { vi } from "vitest";
import { type Client, type ClientOptions, createClient, type Thread, type ToolEvent } from "../src/index.ts";
import { type FakeConnection, FakeServer, ManualClock, quiet } from "../src/testing/index.ts";

interface LockRequest {
  readonly owner: object;
  readonly name: string;
  readonly isShared: boolean;
  readonly grant: () => void;
}

/** The Web Locks of an origin. Each tab has its own {@link LockManager} on them. */
export class FakeLocks {
  readonly #held = new Set<LockRequest>();
  #waiting: LockRequest[] = [];

  /** The names of the locks that are held, sorted. */
  get held(): string[] {
    return [...this.#held].map(({ name }) => name).sort();
  }

  /** What a page sees as `navigator.locks`. */
  of(owner: object): LockManager {
    const request = (name: string, ...rest: [LockOptions, LockGrantedCallback<unknown>]) =>
      this.#request(owner, name, ...rest);
    return { request } as unknown as LockManager;
  }

  /** A page is gone, and all that it held and waited for. */
  drop(owner: object): void {
    for (const request of this.#held) if (request.owner === owner) this.#held.delete(request);
    this.#waiting = this.#waiting.filter((request) => request.owner !== owner);
    this.#grant();
  }

  #request(owner: object, name: string, options: LockOptions, callback: LockGrantedCallback<unknown>) {
    return new Promise<unknown>((resolve, reject) => {
      const request: LockRequest = {
        owner,
        name,
        isShared: options.mode === "shared",
        grant: () => {
          this.#held.add(request);
          const done = Promise.resolve().then(() => callback({ name, mode: options.mode ?? "exclusive" }));
          done.then(resolve, reject).finally(() => {
            if (this.#held.delete(request)) this.#grant();
          });
        },
      };
      if (options.ifAvailable && !this.#isFree(request, this.#waiting)) {
        Promise.resolve()
          .then(() => callback(null))
          .then(resolve, reject);
        return;
      }
      options.signal?.addEventListener("abort", () => {
        if (!this.#waiting.includes(request)) return;
        this.#waiting = this.#waiting.filter((other) => other !== request);
        reject(options.signal?.reason);
        this.#grant();
      });
      this.#waiting.push(request);
      this.#grant();
    });
  }

  #grant(): void {
    for (const request of [...this.#waiting]) {
      const before = this.#waiting.slice(0, this.#waiting.indexOf(request));
      if (!this.#isFree(request, before)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== request);
      request.grant();
    }
  }

  #isFree({ name, isShared }: LockRequest, before: readonly LockRequest[]): boolean {
    return ![...this.#held, ...before].some((other) => other.name === name && !(isShared && other.isShared));
  }
}

/** A tab's sessionStorage. */
class FakeStorage {
  readonly items: Map<string, string>;

  constructor(items: Iterable<[string, string]> = []) {
    this.items = new Map(items);
  }

  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.items.set(key, value);
  }

  removeItem(key: string): void {
    this.items.delete(key);
  }
}

/** A browser: what all its tabs share. */
export class Browser {
  readonly server = new FakeServer();
  readonly locks = new FakeLocks();
  readonly indexedDB = new IDBFactory();
  /** Takes something away from each page that is opened from now on. */
  without = () => {};

  /** Opens a tab. */
  open(options?: Partial<ClientOptions>): Tab {
    return new Tab(this, new FakeStorage(), options);
  }
}

/** A tab with a page that has one client and one thread. */
export class Tab {
  readonly clock = new ManualClock();
  readonly heard: ToolEvent[] = [];
  readonly client: Client;
  readonly thread: Thread;
  readonly storage: FakeStorage;
  readonly #browser: Browser;
  readonly #options: Partial<ClientOptions>;

  constructor(browser: Browser, storage: FakeStorage, options: Partial<ClientOptions> = {}) {
    this.#browser = browser;
    this.#options = options;
    this.storage = storage;
    vi.stubGlobal("indexedDB", browser.indexedDB);
    vi.stubGlobal("sessionStorage", storage);
    vi.stubGlobal("navigator", { locks: browser.locks.of(this) });
    browser.without();
    this.client = createClient({
      url: "ws://server",
      agent: "assistant",
      WebSocket: browser.server.WebSocket,
      clock: this.clock,
      random: () => 0,
      onTool: (event) => this.heard.push(event),
      ...options,
    });
    this.thread = this.client.thread("t");
  }

  /** The page's connection, and the client id that it announced. */
  async connected(): Promise<{ connection: FakeConnection; clientId: string }> {
    const connection = await this.#browser.server.connection();
    await quiet();
    return { connection, clientId: String(connection.received[0]?.params["client_id"]) };
  }

  /** The page is gone, without a word. */
  crash(): void {
    this.#browser.locks.drop(this);
  }

  reload(options: Partial<ClientOptions> = this.#options): Tab {
    this.crash();
    return new Tab(this.#browser, this.storage, options);
  }

  /** Another tab with a copy of this one's storage, as "Duplicate tab" and `window.open` make it. */
  duplicate(): Tab {
    return new Tab(this.#browser, new FakeStorage(this.storage.items), this.#options);
  }
}
