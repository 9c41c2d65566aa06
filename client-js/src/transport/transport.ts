import { FarsideError } from "../errors.ts";
import { type Codec, type Frame, JSON_CODEC, MESSAGEPACK_CODEC } from "../wire/codec.ts";
import { isServerMessage, type Request, type ServerMessage } from "../wire/messages.ts";
import { INCOMING_LIMITS, type Limits } from "../wire/values.ts";
import type { Clock } from "./clock.ts";
import { type Socket, type SocketConstructor, socketConstructor } from "./socket.ts";

/** The encodings of a message. */
export type Encoding = "msgpack" | "json";

const CODECS: Readonly<Record<Encoding, Codec>> = { msgpack: MESSAGEPACK_CODEC, json: JSON_CODEC };

/** What a transport is made of, and whom it tells. */
export interface TransportOptions {
  readonly address: string;
  /** In the order of preference. */
  readonly encodings: readonly Encoding[];
  /** What to connect with instead of the global one. */
  readonly WebSocket: SocketConstructor | undefined;
  readonly clock: Clock;
  readonly opened: () => void;
  /** A message has come, or a frame that holds none, or nothing can come. */
  readonly received: (message: ServerMessage | FarsideError) => void;
  readonly closed: (code?: number) => void;
}

/** Moves messages between a session and a socket, one socket after another. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #codecs: readonly Codec[];
  #socket: Socket | undefined;
  #codec: Codec | undefined;
  #cancelConnect = () => {};

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#codecs = options.encodings.map((encoding) => CODECS[encoding]);
  }

  /** Opens a socket at this time; an earlier plan is given up. */
  connect(at: number): void {
    const { clock } = this.#options;
    this.#cancelConnect();
    if (at <= clock.now()) this.#open();
    else this.#cancelConnect = clock.at(at, () => this.#open());
  }

  /** Sends a message over the open socket. Throws if it cannot be encoded. */
  send(message: Request, limits: Limits): void {
    const frame = this.#codec?.encode(message, limits);
    // A socket that is closing says so soon.
    if (frame !== undefined && this.#socket?.readyState === 1) this.#socket.send(frame);
  }

  /** Closes the socket, or the plan to open one, and hears nothing more from it. */
  drop(): void {
    this.#cancelConnect();
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#forget(socket);
    socket.close();
  }

  #open(): void {
    const { WebSocket, address, opened, received, closed } = this.#options;
    const protocols = this.#codecs.map(({ protocol }) => protocol);
    const fail = (code: string, message: string, cause?: unknown) => {
      this.drop();
      received(new FarsideError(code, message, { cause }));
      closed();
    };
    let socket: Socket;
    try {
      socket = new (socketConstructor(WebSocket))(address, protocols);
    } catch (cause) {
      fail("unavailable", `The browser refuses to connect to ${address}: ${cause}`, cause);
      return;
    }
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#codec = this.#codecs.find(({ protocol }) => protocol === socket.protocol);
      if (this.#codec !== undefined) opened();
      else fail("not_supported", `The server at ${address} speaks none of our subprotocols.`);
    };
    socket.onmessage = ({ data }) => {
      let message: unknown;
      try {
        const frame = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
        message = this.#codec?.decode(frame as Frame, INCOMING_LIMITS);
        if (!isServerMessage(message))
          throw new FarsideError("malformed_frame", "expected a message as the protocol's schema has it");
      } catch (error) {
        if (!(error instanceof FarsideError)) throw error;
        return received(error);
      }
      received(message);
    };
    // An error is followed by a close.
    socket.onerror = () => {};
    socket.onclose = ({ code }) => {
      this.#forget(socket);
      closed(code);
    };
  }

  #forget(socket: Socket): void {
    socket.onopen = socket.onmessage = socket.onclose = null;
    this.#socket = undefined;
    this.#codec = undefined;
  }
}
