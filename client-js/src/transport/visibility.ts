/** Whether the page is seen, and has the focus. */
export interface Visibility {
  readonly visible: boolean;
  readonly focused: boolean;
}

/** Reads the page's visibility; without a document (a worker, Node) there is nothing to hide. */
export function visibility(): Visibility {
  const page = globalThis.document;
  if (page === undefined) return { visible: true, focused: false };
  return { visible: page.visibilityState !== "hidden", focused: page.hasFocus() };
}

/**
 * Calls `changed` when the page's visibility may have changed, `awake` when the network, or the page, is back, and `thawed`
 * when the page was frozen, so that it may have missed anything. Returns how to stop.
 */
export function watchPage(changed: () => void, awake: () => void, thawed: () => void): () => void {
  if (typeof globalThis.addEventListener !== "function") return () => {};
  const stop = new AbortController();
  const options = { signal: stop.signal };
  const seen = () => {
    changed();
    if (visibility().visible) awake();
  };
  globalThis.addEventListener("online", awake, options);
  const shown = (event: Event) => {
    // It comes out of the back/forward cache.
    if ((event as PageTransitionEvent).persisted) thawed();
    seen();
  };
  globalThis.addEventListener("pageshow", shown, options);
  globalThis.addEventListener("focus", changed, options);
  globalThis.addEventListener("blur", changed, options);
  globalThis.document?.addEventListener("visibilitychange", seen, options);
  globalThis.document?.addEventListener("resume", thawed, options);
  return () => stop.abort();
}
