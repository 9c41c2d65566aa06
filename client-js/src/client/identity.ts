import { attempt } from "../attempt.ts";
import type { Note } from "../core/note.ts";
import type { Journal } from "../journal/journal.ts";
import { PageJournal } from "../journal/page-journal.ts";
import type { Clock } from "../transport/clock.ts";
import type { ClientOptions, IdKind } from "./options.ts";

/** How long the page before a reload may take to be gone. A page that was duplicated waits in vain. */
const PATIENCE_MS = 500;

type Release = () => void;

/** Who this page is, and what it remembers. */
export interface Identity {
  readonly clientId: string;
  readonly journal: Journal;
  /**
   * The notes of a thread that this page has to deal with: those of its own id, which are of the page before a reload, and those
   * of pages that are gone and that no other page deals with. `letGo` leaves them to others.
   */
  left(threadId: string): Promise<{ readonly notes: readonly Note[]; readonly letGo: Release }>;
  /** Gives the id up. */
  readonly release: Release;
}

/**
 * Takes the id of the page before a reload, or a new one. The tab's sessionStorage keeps it; a duplicated tab inherits a copy of
 * that, so a held Web Lock proves that no other page has the id.
 */
export async function findIdentity(
  options: ClientOptions,
  clock: Clock,
  newId: (kind: IdKind) => string,
): Promise<Identity> {
  const storage = attempt(() => globalThis.sessionStorage);
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const journal = options.journal ?? (await new PageJournal().open(clock));
  const key = `farside:${options.url}:${options.agent}`;
  let clientId = options.clientId || storage?.getItem(key) || newId("client");

  const take = async (id: string) => {
    const patience = new AbortController();
    const stop = clock.at(clock.now() + PATIENCE_MS, () => patience.abort());
    const release = await hold(locks, lockOf(id), { signal: patience.signal });
    stop();
    return release;
  };
  let release = await take(clientId);
  if (!options.clientId && !release) {
    clientId = newId("client");
    release = await take(clientId);
  }
  if (!options.clientId && release) attempt(() => storage?.setItem(key, clientId));

  return {
    clientId,
    journal,
    release: () => release?.(),

    async left(threadId) {
      const notes: Note[] = [];
      const held: Release[] = [];
      for (const note of await journal.notes(threadId)) {
        if (note.clientId !== clientId) {
          // Shared with whoever deals with other threads of that page; the page itself wants it alone.
          const page = await hold(locks, lockOf(note.clientId), { mode: "shared", ifAvailable: true });
          if (page === undefined) continue;
          held.push(page);
          const call = await hold(locks, `farside:call:${note.interruptId}`, { ifAvailable: true });
          if (call === undefined) continue;
          held.push(call);
        }
        notes.push(note);
      }
      const letGo = () => {
        for (const release of held) release();
      };
      return { notes, letGo };
    },
  };
}

function lockOf(clientId: string): string {
  return `farside:client:${clientId}`;
}

/** Holds a lock until what it resolves with is called; resolves with undefined when the lock is not to be had. */
function hold(
  locks: LockManager | undefined,
  name: string,
  options: LockOptions,
): Promise<Release | undefined> {
  return new Promise((resolve) => {
    if (locks === undefined) return resolve(undefined);
    const granted = (lock: Lock | null) =>
      lock === null ? resolve(undefined) : new Promise<void>((release) => resolve(release));
    locks.request(name, options, granted).catch(() => resolve(undefined));
  });
}
