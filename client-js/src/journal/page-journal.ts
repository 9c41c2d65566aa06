import type { Note } from "../core/note.ts";
import type { Clock } from "../transport/clock.ts";
import { MemoryJournal } from "./memory-journal.ts";

const STORE = "claims";
/** Some browsers never answer. */
const OPENING_MS = 3_000;
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;

/**
 * The journal of a page: in IndexedDB for as long as that works, then in memory for the rest of the page's life. It never
 * rejects.
 */
export class PageJournal extends MemoryJournal {
  /** Whether what it holds outlives the page. Becomes false when the browser lets the page down. */
  isDurable = false;
  #database: IDBDatabase | undefined;
  #problem: unknown;
  #hasWarned = false;

  /** Opens it, and deletes what nobody has asked for in a week. */
  async open(clock: Clock): Promise<this> {
    try {
      this.#database = await this.#opened(clock);
      this.isDurable = true;
    } catch (error) {
      this.#problem = error;
    }
    for (const { startedAt, claimId } of await this.#all()) {
      if (startedAt < clock.now() - KEPT_MS) await this.forget(claimId);
    }
    return this;
  }

  override async note(note: Note): Promise<void> {
    await this.#transact((store) => store.put(note), note);
    if (this.isDurable) return;
    if (!this.#hasWarned) {
      console.warn(
        `farside: no IndexedDB (${this.#problem}): a reload loses the result of a tool that runs.`,
      );
    }
    this.#hasWarned = true;
    await super.note(note);
  }

  override async forget(claimId: string): Promise<void> {
    void super.forget(claimId);
    await this.#transact((store) => store.delete(claimId));
  }

  override async notes(threadId: string): Promise<readonly Note[]> {
    const notes = (await this.#all()).filter((note) => note.threadId === threadId);
    return [...notes, ...(await super.notes(threadId))];
  }

  async #all(): Promise<readonly Note[]> {
    return (await this.#transact((store) => store.getAll())) ?? [];
  }

  #opened(clock: Clock): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const opening = globalThis.indexedDB.open("farside.journal", 1);
      const stop = clock.at(clock.now() + OPENING_MS, () => reject("it does not open"));
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore(STORE, { keyPath: "claimId" });
      };
      opening.onerror = opening.onsuccess = () => {
        stop();
        if (opening.error !== null) return reject(opening.error);
        const { result } = opening;
        // Another page wants to delete it, or has a newer farside: whatever is asked for from now on fails.
        result.onversionchange = () => result.close();
        resolve(result);
      };
    });
  }

  /**
   * Makes one request, which may be to write a note; resolves when what it did is on the disk, or the journal is in memory from
   * now on.
   */
  #transact<T>(request: (store: IDBObjectStore) => IDBRequest<T>, note?: Note): Promise<T | undefined> {
    // What is only asked for has not begun: if the power fails, nothing has happened.
    const durability = note?.asked ? "relaxed" : "strict";
    return new Promise<T | undefined>((resolve, reject) => {
      if (!this.isDurable) return resolve(undefined);
      const transaction = (this.#database as IDBDatabase).transaction(STORE, "readwrite", { durability });
      const requested = request(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(requested.result);
      transaction.onabort = () => reject(transaction.error);
    }).catch((error) => {
      // A single result that does not fit is sent all the same; until then its call counts as started.
      if (note?.result === undefined) {
        this.isDurable = false;
        this.#problem = error;
      }
      return undefined;
    });
  }
}
