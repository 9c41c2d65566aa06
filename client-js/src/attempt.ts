/** What `use` returns; undefined where it throws: a page's storage may be missing, forbidden or full. */
export function attempt<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
