import * as declarations from "./declarations.gen.ts";
import { by, type Entry, entries, inMemory, isAlive, requested } from "./memories.ts";
import { refused } from "./refusal.ts";

/** Options of the tools of one memory: give all of them the same. */
export interface MemoryOptions {
  /**
   * The name of the IndexedDB database, by default `farside.memory`. Whoever uses the browser reads what is in it: where several
   * users sign in to the page, give each one's memory a name of its own.
   */
  readonly database?: string;
}

/** Options of {@link remember}. */
export interface RememberOptions extends MemoryOptions {
  /** How many memories there may be, by default 1,000. */
  readonly maxMemories?: number;
}

const DATABASE = "farside.memory";

/**
 * `remember`: keeps a text in the browser, with tags and for a time.
 *
 * Permission: none. Click: none. Idempotent. It fails where there are too many memories, or the disk is full.
 */
export const remember = ({ database = DATABASE, maxMemories = 1000 }: RememberOptions = {}) =>
  declarations.remember.implement(({ key, value, tags, ttl }, { signal }) =>
    inMemory(database, "readwrite", signal, async (store) => {
      const storedAt = Date.now();
      const expired = await requested(by("expiresAt", store).getAllKeys(IDBKeyRange.upperBound(storedAt)));
      for (const each of expired) store.delete(each);
      const others = (await requested(store.count())) - (await requested(store.count(key)));
      if (others >= maxMemories) {
        const limit = `expected at most ${maxMemories} memories, and there are ${others}`;
        throw refused("failed", `${limit}: forget some, then remember this one.`);
      }
      const expiry = ttl === null ? {} : { expiresAt: storedAt + ttl * 1000 };
      const entry: Entry = { key, value, tags: [...new Set(tags)], storedAt, ...expiry };
      await requested(store.put(entry));
      return { key, expires_at: headingOf(entry).expires_at };
    }),
  );

/**
 * `recall`: what was remembered under a key.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const recall = ({ database = DATABASE }: MemoryOptions = {}) =>
  declarations.recall.implement(({ key }, { signal }) =>
    inMemory(database, "readonly", signal, async (store) => {
      const entry: Entry | undefined = await requested(store.get(key));
      return { memory: entry && isAlive(entry) ? memoryOf(entry) : null };
    }),
  );

/**
 * `list_memories`: what there is, without the values, the newest first.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const listMemories = ({ database = DATABASE }: MemoryOptions = {}) =>
  declarations.list_memories.implement(({ tag, limit }, { signal }) =>
    inMemory(database, "readonly", signal, async (store) => {
      const found = await entries(store, tag);
      return { memories: found.slice(0, limit).map(headingOf), total: found.length };
    }),
  );

/**
 * `search_memories`: the memories in which all words of a query occur, in any case, the newest first.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const searchMemories = ({ database = DATABASE }: MemoryOptions = {}) =>
  declarations.search_memories.implement(({ query, tag, limit }, { signal }) =>
    inMemory(database, "readonly", signal, async (store) => {
      const words = query.toLowerCase().split(/\s+/);
      const found = (await entries(store, tag)).filter(({ key, value, tags }) => {
        const text = [key, value, ...tags].join("\n").toLowerCase();
        return words.every((word) => text.includes(word));
      });
      return { memories: found.slice(0, limit).map(memoryOf), total: found.length };
    }),
  );

/**
 * `forget`: forgets the memory of a key, or all with a tag.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const forget = ({ database = DATABASE }: MemoryOptions = {}) =>
  declarations.forget.implement(({ key, tag }, { signal }) => {
    if ((key === null) === (tag === null)) {
      throw refused("invalid_args", `expected either a key or a tag, got ${key === null ? "none" : "both"}`);
    }
    return inMemory(database, "readwrite", signal, async (store) => {
      const found: readonly Entry[] =
        key === null ? await entries(store, tag) : await requested(store.getAll(key));
      for (const entry of found) store.delete(entry.key);
      return { forgotten: found.filter(isAlive).length };
    });
  });

function headingOf({ key, tags, storedAt, expiresAt }: Entry) {
  const expires_at = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  return { key, tags: [...tags], stored_at: new Date(storedAt).toISOString(), expires_at };
}

function memoryOf(entry: Entry) {
  return { ...headingOf(entry), value: entry.value };
}
