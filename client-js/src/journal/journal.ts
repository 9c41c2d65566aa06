import type { Note } from "../core/note.ts";

/**
 * What pages remember of the calls that they execute, so that what is in the middle of it when a page is reloaded or dies is
 * neither lost nor done twice. Writes take effect in the order in which they were asked for. Nothing rejects: a journal that
 * cannot store a note goes on without it.
 */
export interface Journal {
  /** Writes a note, in place of the one of the same claim; resolves when it is stored. */
  note(note: Note): Promise<void>;
  /** Removes the note of a claim; resolves when that is stored. */
  forget(claimId: string): Promise<void>;
  /** The notes of a thread. */
  notes(threadId: string): Promise<readonly Note[]>;
}
