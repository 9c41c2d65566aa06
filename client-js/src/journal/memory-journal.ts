import type { Note } from "../core/note.ts";
import type { Journal } from "./journal.ts";

/** A journal that ends with the page. */
export class MemoryJournal implements Journal {
  readonly #notes = new Map<string, Note>();

  async note(note: Note): Promise<void> {
    this.#notes.set(note.claimId, note);
  }

  async forget(claimId: string): Promise<void> {
    this.#notes.delete(claimId);
  }

  async notes(threadId: string): Promise<readonly Note[]> {
    return [...this.#notes.values()].filter((note) => note.threadId === threadId);
  }
}
