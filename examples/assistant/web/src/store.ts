const DATABASE = "farside-assistant";
const STORE = "memories";

/** Something remembered. */
export interface Memory {
  readonly key: string;
  readonly value: string;
}

/** Stores a memory, in place of what has the same key. On return it survives the end of the browser. */
export async function put({ key, value }: Memory): Promise<void> {
  await transaction("readwrite", (store) => store.put({ id: idOf(key), key, value }));
}

/** The memory with this key, regardless of case. */
export async function get(key: string): Promise<Memory | undefined> {
  const found = await transaction<Memory | undefined>("readonly", (store) => store.get(idOf(key)));
  return found && { key: found.key, value: found.value };
}

/** All memories, by key. */
export async function all(): Promise<Memory[]> {
  const found = await transaction<Memory[]>("readonly", (store) => store.getAll());
  return found.map(({ key, value }) => ({ key, value }));
}

function idOf(key: string): string {
  return key.trim().toLowerCase();
}

/** Does one thing with the store; returns its result when the transaction is complete. */
async function transaction<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest,
): Promise<T> {
  const database = await open();
  try {
    return await new Promise<T>((resolve, reject) => {
      const running = database.transaction(STORE, mode, { durability: "strict" });
      const request = work(running.objectStore(STORE));
      running.oncomplete = () => resolve(request.result as T);
      running.onabort = () => reject(running.error ?? new Error("The browser gave up the transaction."));
    });
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
