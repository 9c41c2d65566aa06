import type { SocketConstructor } from "../transport/socket.ts";
import type { Encoding } from "../transport/transport.ts";
import { FakeConnection, type ReceivedCommand } from "./connection.ts";
import { FakeSocket } from "./socket.ts";

/** How a fake server behaves. */
export interface FakeServerOptions {
  /** The encodings it speaks, in the order of the page's preference; all by default. */
  readonly encodings?: readonly Encoding[];
  /** `false`: connections wait until `accept` or `refuse`. */
  readonly accepts?: boolean;
  /** Hears each command as it arrives; without it they wait for `take`. */
  readonly received?: (command: ReceivedCommand, connection: FakeConnection) => void;
}

/**
 * A server that is only memory and does nothing by itself: a test reads what the page sent and says what comes back.
 *
 * ```ts
 * const server = new FakeServer();
 * const client = createClient({ url: "ws://server", agent: "assistant", tools, WebSocket: server.WebSocket });
 * const thread = client.thread("thread-1");
 * const connection = await server.connection();
 * await connection.welcome();
 * connection.event("calls", { event: "opened", ... });
 * ```
 */
export class FakeServer {
  /** Pass this to `createClient`. */
  readonly WebSocket: SocketConstructor;
  /** All connections there were, oldest first. */
  readonly connections: FakeConnection[] = [];
  readonly #encodings: readonly Encoding[];
  readonly #received: FakeServerOptions["received"];
  #knocking: FakeSocket[] = [];
  #accepts: boolean;
  #wanted: ((connection: FakeConnection) => void)[] = [];

  constructor({ encodings = ["msgpack", "json"], accepts = true, received }: FakeServerOptions = {}) {
    this.#encodings = encodings;
    this.#received = received;
    this.#accepts = accepts;
    const knock = (socket: FakeSocket) => this.#knock(socket);
    this.WebSocket = class extends FakeSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        // A socket opens after whoever made it has had the time to listen.
        queueMicrotask(() => knock(this));
      }
    };
  }

  /** The addresses that wait for `accept` or `refuse`. */
  get knocking(): readonly string[] {
    return this.#waiting().map(({ url }) => url);
  }

  /** From now on connections are taken as they come, or have to wait. */
  set accepts(accepts: boolean) {
    this.#accepts = accepts;
  }

  /** The next connection that is not taken yet by another call of this method. */
  async connection(): Promise<FakeConnection> {
    const untaken = this.connections.find((connection) => !connection.isTaken);
    const connection =
      untaken ?? (await new Promise<FakeConnection>((resolve) => this.#wanted.push(resolve)));
    connection.isTaken = true;
    return connection;
  }

  /** Takes the oldest waiting connection. */
  accept(): FakeConnection {
    const socket = this.#waiting().shift();
    if (socket === undefined) throw new Error("expected a page that wants to connect; there is none");
    return this.#open(socket);
  }

  /** Turns the oldest waiting connection away. */
  refuse(): void {
    this.#waiting().shift()?.break(1006);
  }

  /** The sockets that have neither been taken nor given up. */
  #waiting(): FakeSocket[] {
    this.#knocking = this.#knocking.filter(({ isClosed }) => !isClosed);
    return this.#knocking;
  }

  #knock(socket: FakeSocket): void {
    if (this.#accepts) this.#open(socket);
    else this.#knocking.push(socket);
  }

  #open(socket: FakeSocket): FakeConnection {
    const connection = new FakeConnection(socket, this.#encodings, this.#received);
    this.connections.push(connection);
    this.#wanted.shift()?.(connection);
    return connection;
  }
}
