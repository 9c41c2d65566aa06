import { attempt } from "../attempt.ts";
import { FarsideError } from "../errors.ts";

const THREAD_ID = /^[A-Za-z0-9_.:~-]{1,128}$/;

/** Refuses what the server would refuse as a thread's id. */
export function checkThreadId(threadId: string): void {
  if (!THREAD_ID.test(threadId)) {
    const expected = "a thread id of letters, digits and _ . : ~ -, 1 to 128 of them";
    throw new FarsideError("invalid_argument", `expected ${expected}, got ${JSON.stringify(threadId)}`);
  }
}

/** The WebSocket address of a thread. `url` is where the server is mounted; relative ones are the page's. */
export function addressOf(url: string, threadId: string): string {
  const address = attempt(() => new URL(url, globalThis.location?.href));
  // Not by the property: it refuses to go from one kind of scheme to another.
  const scheme = address?.protocol.replace(/^http/, "ws");
  if (address === undefined || (scheme !== "ws:" && scheme !== "wss:")) {
    const expected = "a url of http, https, ws or wss (absolute outside of a page)";
    throw new FarsideError("invalid_argument", `expected ${expected}, got ${JSON.stringify(url)}`);
  }
  const path = `${address.pathname.replace(/\/+$/, "")}/threads/${threadId}/stream/events`;
  return `${scheme}//${address.host}${path}${address.search}`;
}
