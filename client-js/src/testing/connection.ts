import type { Encoding } from "../transport/transport.ts";
import { type Codec, type Frame, JSON_CODEC, MESSAGEPACK_CODEC } from "../wire/codec.ts";
import type { Command, Method, Params, Result, ServerMessage } from "../wire/messages.ts";
import { quiet } from "./clock.ts";
import type { FakeSocket } from "./socket.ts";

/** A command as the server has received it. */
export interface ReceivedCommand<M extends Method = Method> extends Command {
  readonly method: M;
  readonly params: Params<M> & Record<string, unknown>;
}

const CODECS: Readonly<Record<Encoding, Codec>> = { msgpack: MESSAGEPACK_CODEC, json: JSON_CODEC };

/** One connection of a page, as a fake server sees it. */
export class FakeConnection {
  /** All commands there were, oldest first. */
  readonly received: ReceivedCommand[] = [];
  /** Whether the connection is still open, for both ends. */
  isOpen = true;
  /** Whether a test has it already. */
  isTaken = false;
  readonly #socket: FakeSocket;
  readonly #codec: Codec;
  #read = 0;
  #seq = 0;
  #sent = 0;
  #waiting: (() => void) | undefined;
  #held: (string | ArrayBuffer)[] | undefined;
  #isSilent = false;
  #last: string | ArrayBuffer = "";

  constructor(
    socket: FakeSocket,
    encodings: readonly Encoding[],
    onCommand?: (command: ReceivedCommand, connection: FakeConnection) => void,
  ) {
    const codecs = encodings.map((encoding) => CODECS[encoding]);
    this.#codec =
      socket.protocols.flatMap((protocol) => codecs.filter((codec) => codec.protocol === protocol))[0] ??
      JSON_CODEC;
    this.#socket = socket;
    const spoken = socket.protocols.includes(this.#codec.protocol) ? this.#codec.protocol : "";
    const received = (data: Frame) => {
      if (this.#isSilent) return;
      const command = this.#codec.decode(data) as ReceivedCommand;
      this.received.push(command);
      this.#waiting?.();
      onCommand?.(command, this);
    };
    const closed = () => {
      this.isOpen = false;
    };
    socket.open({ received, closed }, spoken);
  }

  /** The subprotocol that was agreed on. */
  get protocol(): string {
    return this.#codec.protocol;
  }

  /** The address that the page asked for. */
  get url(): string {
    return this.#socket.url;
  }

  /** The newest seq that was sent. */
  get seq(): number {
    return this.#seq;
  }

  /** The commands that no `take` has read. */
  get unread(): readonly ReceivedCommand[] {
    return this.received.slice(this.#read);
  }

  /** Reads the oldest unread command; with a method it must be of that. */
  async take<M extends Method>(method?: M): Promise<ReceivedCommand<M>> {
    await quiet();
    const command = this.received[this.#read];
    if (command === undefined)
      throw new Error(`expected the page to send ${method ?? "a command"}; it sent nothing`);
    if (method !== undefined && command.method !== method) {
      throw new Error(`expected the page to send ${method}; it sent ${command.method}`);
    }
    this.#read += 1;
    return command as ReceivedCommand<M>;
  }

  /** Like `take`, but waits for the command to come: for what needs more than promises, such as a database. */
  async next<M extends Method>(method?: M): Promise<ReceivedCommand<M>> {
    while (this.unread.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    return this.take(method);
  }

  /** Asks whether the page is there; `sent` is what the page has to have received by then. */
  ping(sent = this.#sent): void {
    this.send({ type: "ping", sent });
  }

  /** Sends a message as it is. */
  send(message: ServerMessage): void {
    const frame = this.#codec.encode(message);
    this.sendFrame(typeof frame === "string" ? frame : frame.slice().buffer);
  }

  /** Sends a message that never arrives. */
  lose(): void {
    this.#sent += 1;
  }

  /** Sends a frame as it is, be it a message or not. */
  sendFrame(frame: string | ArrayBuffer): void {
    this.#sent += 1;
    this.#deliver(frame);
  }

  #deliver(frame: string | ArrayBuffer): void {
    this.#last = frame;
    if (this.#held !== undefined) this.#held.push(frame);
    else if (this.isOpen && !this.#isSilent) this.#socket.deliver(frame);
  }

  /** Sends the last frame once more, as a network never should. */
  repeat(): void {
    this.#deliver(this.#last);
  }

  /** Answers a command. */
  reply<M extends Method>({ id }: ReceivedCommand<M>, result: Result<M>, seq = this.#seq): void {
    this.send({
      type: "success",
      id,
      result: result as Record<string, unknown>,
      meta: { applied_through_seq: seq },
    });
  }

  /** Refuses a command. */
  refuse({ id }: ReceivedCommand, error: string, message: string = error): void {
    this.send({ type: "error", id, error, message, meta: { applied_through_seq: this.#seq } });
  }

  /** Sends the next event of the thread. */
  event(method: string, data: Record<string, unknown>, namespace: string[] = []): void {
    this.#seq += 1;
    const event_id = `event-${this.#seq}`;
    this.send({ type: "event", event_id, seq: this.#seq, method, params: { namespace, timestamp: 0, data } });
  }

  /**
   * Answers what a page says first: it is announced, the thread is as `state` says (without one it is new), and
   * nothing happened since.
   */
  async welcome({ state, subscription, seq = 0 }: Welcome = {}): Promise<void> {
    this.#seq = seq;
    const limits = { frame_bytes: 48 * 1024 * 1024, depth: 64, items: 1_000_000 };
    this.reply(await this.take("client.announce"), { ping_ms: 20_000, lease_ms: 30_000, limits });
    const next = await this.take();
    if (next.method === "state.get") {
      if (state === undefined) this.refuse(next, "not_found", "no such thread");
      else this.reply(next as ReceivedCommand<"state.get">, state);
    }
    const subscribe =
      next.method === "subscription.subscribe" ? next : await this.take("subscription.subscribe");
    this.reply(subscribe as ReceivedCommand<"subscription.subscribe">, {
      subscription_id: "subscription-1",
      replayed_events: 0,
      calls: [],
      interrupts: [],
      ...subscription,
    });
    await quiet();
  }

  /** Keeps what is sent from now on until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  /** Delivers what was kept. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const frame of held) this.#deliver(frame);
  }

  /** The network goes silent: nothing arrives any more at either end, and nobody is told. */
  silence(): void {
    this.#isSilent = true;
  }

  /** The connection breaks. */
  drop(code = 1006): void {
    this.isOpen = false;
    this.#socket.break(code);
  }
}

/** How a thread is when a page comes. */
export interface Welcome {
  readonly state?: Result<"state.get">;
  readonly subscription?: Partial<Result<"subscription.subscribe">>;
  /** The thread's newest seq. */
  readonly seq?: number;
}
