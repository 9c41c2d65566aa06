const GENERATION = 4_096;

/** The ids of the newest events: enough of them to notice whatever is sent twice, and never more than that. */
export class SeenEvents {
  #newer = new Set<string>();
  #older = new Set<string>();

  /** Returns whether the id is new. */
  add(eventId: string): boolean {
    if (this.#newer.has(eventId) || this.#older.has(eventId)) return false;
    if (this.#newer.size === GENERATION) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(eventId);
    return true;
  }
}
