import type { Note } from "../core/note.ts";
import type { Journal } from "./journal.ts";

/** A journal that ends with the page. */
export class MemoryJournal implements Journal {
  isDurable = false;
  readonly #notes = new Map<string, Note>();

  async note(note: Note): Promise<void> {
    this.#notes.set(`${note.threadId} ${note.interruptId}`, note);
  }

  async forget(threadId: string, interruptId: string): Promise<void> {
    this.#notes.delete(`${threadId} ${interruptId}`);
  }

  async notes(threadId: string): Promise<readonly Note[]> {
    return [...this.#notes.values()].filter((note) => note.threadId === threadId);
  }
}
