/** A share in something: it stays open until `release` is called. */
export interface Share<T> {
  readonly value: T;
  readonly release: () => void;
}

/** Things that are open for as long as somebody has a share in them. */
export class Shared<T extends { close(): void }> {
  readonly #open = new Map<string, { readonly value: T; shares: number }>();

  find(key: string): T | undefined {
    return this.#open.get(key)?.value;
  }

  /** `make` is called for the first share. The last one closes, unless the next comes at once, as StrictMode has it. */
  share(key: string, make: () => T): Share<T> {
    const open = this.#open.get(key) ?? { value: make(), shares: 0 };
    this.#open.set(key, open);
    open.shares += 1;
    const letGo = () => {
      open.shares -= 1;
      if (open.shares > 0) return;
      this.#open.delete(key);
      open.value.close();
    };
    return { value: open.value, release: () => void setTimeout(letGo) };
  }
}
