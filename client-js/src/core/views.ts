/**
 * An ordered list of records and the immutable view of each, rebuilt only for the records that changed, and only when
 * somebody looks.
 */
export class Views<Entry extends object, View> {
  readonly #build: (entry: Entry) => View;
  #positions = new Map<Entry, number>();
  readonly #stale = new Set<Entry>();
  #views: readonly View[] = [];

  constructor(build: (entry: Entry) => View) {
    this.#build = build;
  }

  /** Appends a record. */
  add(entry: Entry): void {
    this.#positions.set(entry, this.#positions.size);
    this.#stale.add(entry);
  }

  /** Says that a record has changed. Records that are not listed are none of our business. */
  touch(entry: Entry): void {
    if (this.#positions.has(entry)) this.#stale.add(entry);
  }

  /** Removes a record. */
  remove(entry: Entry): void {
    const position = this.#positions.get(entry);
    if (position === undefined) return;
    const views = this.all();
    this.#positions.delete(entry);
    this.#positions = new Map([...this.#positions.keys()].map((left, index) => [left, index]));
    this.#views = views.filter((_, index) => index !== position);
  }

  /** All views, in order: the same array for as long as nothing changes. */
  all(): readonly View[] {
    if (this.#stale.size > 0) {
      const views = this.#views.slice();
      for (const entry of this.#stale) views[this.#positions.get(entry) as number] = this.#build(entry);
      this.#stale.clear();
      this.#views = views;
    }
    return this.#views;
  }

  /** The view of one listed record. */
  of(entry: Entry): View {
    return this.all()[this.#positions.get(entry) as number] as View;
  }
}
