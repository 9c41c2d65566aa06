import * as declarations from "./declarations.gen.ts";
import { refused } from "./refusal.ts";

/** Options of {@link navigate}. */
export interface NavigateOptions {
  /**
   * The paths that the agent may go to: `"/orders"` is that path alone, `"/orders/*"` all below it; a RegExp has to be found in
   * it, so anchor it: `/^\/help$/`.
   */
  readonly paths: readonly (string | RegExp)[];
  /** Whether the agent may choose what follows the `?` too. By default it may not. */
  readonly query?: boolean;
  /**
   * How the app goes there, `(url) => router.push(url.pathname)`. Without it the page is loaded, unless the app intercepts
   * that; then the call ends on the new page, which therefore needs this tool, too.
   */
  readonly go?: (url: URL) => unknown;
}

/**
 * `navigate`: the agent takes the user to another page of the app.
 *
 * Permission: none. Click: none. Idempotent: who is there already stays there.
 */
export const navigate = (options: NavigateOptions) =>
  declarations.navigate.implement(async ({ path }, { signal, threadId, toolCallId }) => {
    const url = urlOf(path, location.origin, options);
    const { go } = options;
    const isThere = () => location.pathname + location.search === url.pathname + url.search;
    if (go) {
      if (!isThere()) await go(url);
    } else {
      // Models choose the ids of their calls, and may choose one twice.
      const note = `farside:navigate ${threadId} ${toolCallId} ${url.pathname}`;
      try {
        if (!isThere()) await load(url, note, signal);
        else if (url.hash && url.hash !== location.hash) location.assign(url);
      } finally {
        sessionStorage.removeItem(note);
      }
    }
    return { path: location.pathname + location.search + location.hash, title: document.title };
  });

/**
 * Loads a page. Returns where the app has shown it itself; otherwise not at all: this page ends before. `note`: the key in the
 * tab's storage under which the call finds that it has.
 */
function load(url: URL, note: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // This call has loaded a page before, and was led to this one: to a login, perhaps.
    if (sessionStorage.getItem(note) !== null) return resolve();
    sessionStorage.setItem(note, "");
    signal.addEventListener("abort", () => reject(signal.reason));
    location.assign(url);
    if (location.href === url.href) resolve();
  });
}

/**
 * The address of a path that is allowed.
 *
 * @throws FarsideError `invalid_args`: it is no path, leads elsewhere, or is not among those that are allowed.
 */
function urlOf(path: string, origin: string, { paths, query = false }: NavigateOptions): URL {
  // What a server may take for a slash could lead out of a folder that is allowed.
  const url = /^\/(?![/\\])/.test(path) && !/\\|%2f|%5c/i.test(path) ? new URL(path, origin) : undefined;
  if (url?.origin === origin && (query || !url.search) && paths.some((each) => allows(each, url.pathname))) {
    return url;
  }
  const list = paths.join(", ");
  throw refused(
    "invalid_args",
    `Expected a path of this app (${list})${query ? "" : " without ?"}, got ${path}.`,
  );
}

function allows(allowed: string | RegExp, pathname: string): boolean {
  if (typeof allowed !== "string") return pathname.search(allowed) >= 0;
  return allowed.endsWith("/*") ? pathname.startsWith(allowed.slice(0, -1)) : pathname === allowed;
}
