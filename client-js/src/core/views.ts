/**
 * An ordered list of records and the immutable view of each, rebuilt only for the records that changed, and only when
 * somebody looks.
 */
export class Views<Entry extends object, View> {
  readonly #build: (entry: Entry) => View;
  /** None yet, or none any more, for a record that has changed. */
  readonly #views = new Map<Entry, View | undefined>();
  #all: readonly View[] | undefined;

  constructor(build: (entry: Entry) => View) {
    this.#build = build;
  }

  /** Appends a record. */
  add(entry: Entry): void {
    this.#views.set(entry, undefined);
    this.#all = undefined;
  }

  /** Says that a record has changed. Records that are not listed are none of our business. */
  touch(entry: Entry): void {
    if (this.#views.has(entry)) this.add(entry);
  }

  /** Removes a record. */
  remove(entry: Entry): void {
    if (this.#views.delete(entry)) this.#all = undefined;
  }

  /** All views, in order: the same array for as long as nothing changes. */
  all(): readonly View[] {
    this.#all ??= Array.from(this.#views.keys(), (entry) => this.of(entry));
    return this.#all;
  }

  /** The view of one listed record. */
  of(entry: Entry): View {
    const view = this.#views.get(entry) ?? this.#build(entry);
    this.#views.set(entry, view);
    return view;
  }
}
