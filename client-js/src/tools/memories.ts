import { unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

// On IndexedDB itself: what a library would save are the two promises below, and the smallest is larger than all of this.

const STORE = "memories";

/** A memory as it is stored. Times are milliseconds since the epoch. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  readonly tags: readonly string[];
  readonly storedAt: number;
  /** Absent: never. An index leaves out what lacks its field. */
  readonly expiresAt?: number;
}

/** The name of an index. */
type Index = "tags" | "expiresAt";

/**
 * Does some work in one transaction of a database of memories. Resolves when what it has written is on the disk; what the work
 * throws undoes it.
 */
export async function inMemory<T>(
  name: string,
  mode: IDBTransactionMode,
  signal: AbortSignal,
  work: (store: IDBObjectStore) => Promise<T>,
): Promise<T> {
  const database = await until(signal, opened(name));
  try {
    const transaction = database.transaction(STORE, mode, { durability: "strict" });
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const worked = work(transaction.objectStore(STORE)).catch((error) => {
      if (!transaction.error) transaction.abort();
      throw error;
    });
    const [value] = await Promise.all([worked, ended]);
    return value;
  } finally {
    database.close();
  }
}

/** A request's result. */
export function requested<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The index of a store. */
export function by(index: Index, store: IDBObjectStore): IDBIndex {
  return store.index(index);
}

/** Whether it has not expired. */
export function isAlive({ expiresAt = Number.POSITIVE_INFINITY }: Entry): boolean {
  return expiresAt > Date.now();
}

/** The memories, or those with a tag, the newest first. */
export async function entries(store: IDBObjectStore, tag: string | null): Promise<readonly Entry[]> {
  const all: Entry[] = await requested(tag === null ? store.getAll() : by("tags", store).getAll(tag));
  return all.filter(isAlive).sort((one, other) => other.storedAt - one.storedAt);
}

async function opened(name: string): Promise<IDBDatabase> {
  try {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      const store = opening.result.createObjectStore(STORE, { keyPath: "key" });
      store.createIndex("expiresAt" satisfies Index, "expiresAt");
      store.createIndex("tags" satisfies Index, "tags", { multiEntry: true });
    };
    return await requested(opening);
  } catch (error) {
    throw unsupported(`storage (${error})`);
  }
}
