import type { Socket } from "../transport/socket.ts";

/** The server's end of a fake socket. */
export interface Peer {
  /** The page has sent a frame. */
  received(data: string | Uint8Array<ArrayBuffer>): void;
  /** The page has closed the socket. */
  closed(): void;
}

/** The page's end of a WebSocket that is only memory. */
export class FakeSocket implements Socket {
  binaryType = "blob";
  protocol = "";
  readonly readyState = 1;
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  readonly url: string;
  readonly protocols: readonly string[];
  /** Whether the page has closed the socket. */
  isClosed = false;
  #peer: Peer | undefined;

  constructor(url: string, protocols: readonly string[]) {
    this.url = url;
    this.protocols = protocols;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.#peer?.received(data);
  }

  close(): void {
    this.isClosed = true;
    this.#peer?.closed();
    this.#peer = undefined;
  }

  /** The server takes the connection. */
  open(peer: Peer, protocol: string): void {
    this.#peer = peer;
    this.protocol = protocol;
    this.onopen?.({ type: "open" });
  }

  /** A frame of the server arrives. */
  deliver(data: string | ArrayBuffer): void {
    this.onmessage?.({ data });
  }

  /** The connection breaks, or the server refuses or closes it. */
  break(code: number): void {
    this.#peer = undefined;
    if (code === 1006) this.onerror?.({ type: "error" });
    this.onclose?.({ code });
  }
}
