import { FarsideError } from "../errors.ts";

/** The part of a WebSocket that a client uses. */
export interface Socket {
  binaryType: string;
  readonly protocol: string;
  /** 1 while it is open. */
  readonly readyState: number;
  onopen: { listen(event: unknown): void }["listen"] | null;
  onmessage: { listen(event: { readonly data: unknown }): void }["listen"] | null;
  onclose: { listen(event: { readonly code: number }): void }["listen"] | null;
  onerror: { listen(event: unknown): void }["listen"] | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** What makes a socket: the global `WebSocket`, that of a package such as `ws`, or a fake one. */
export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

/** The constructor to use: the given one, else the global one. */
export function socketConstructor(given: SocketConstructor | undefined): SocketConstructor {
  const found = given ?? (globalThis.WebSocket as SocketConstructor | undefined);
  if (found === undefined) {
    throw new FarsideError(
      "unsupported",
      "expected a global WebSocket, or the option WebSocket (of the package ws)",
    );
  }
  return found;
}
