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
  let address: URL;
  try {
    address = new URL(url, globalThis.location?.href);
  } catch (cause) {
    throw new FarsideError(
      "invalid_argument",
      `expected the url of a server, got ${JSON.stringify(url)}; outside of a page it must be absolute`,
      { cause },
    );
  }
  // Not by the property: it refuses to go from one kind of scheme to another.
  const scheme = address.protocol.replace(/^http/, "ws");
  if (scheme !== "ws:" && scheme !== "wss:") {
    throw new FarsideError(
      "invalid_argument",
      `expected a url with http, https, ws or wss, got ${address.href}`,
    );
  }
  const path = `${address.pathname.replace(/\/+$/, "")}/threads/${threadId}/stream/events`;
  return `${scheme}//${address.host}${path}${address.search}`;
}
