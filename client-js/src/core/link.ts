import { FarsideError } from "../errors.ts";
import type {
  ErrorReply,
  Method,
  Params,
  Ping,
  Result,
  ServerMessage,
  SuccessReply,
} from "../wire/messages.ts";
import type { Effect } from "./effects.ts";

/** When a reply came; `seq` is the thread's newest one at that time, where the server tells it. */
interface ReplyTime {
  readonly seq: number | undefined;
  readonly now: number;
}

/** How a command ended. */
export type Reply<M extends Method> =
  | (ReplyTime & { readonly result: Result<M>; readonly error?: undefined })
  | (ReplyTime & { readonly result?: undefined; readonly error: FarsideError });

type OnReply = (reply: ReplyTime & { result?: never; error?: FarsideError }) => void;

const UNTOLD_PING_MS = 20_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** One connection after another: the ids of commands and their replies, signs of life, and when to try again. */
export class Link {
  readonly #emit: (effect: Effect) => void;
  readonly #pending = new Map<number, OnReply>();
  #isOpen = false;
  #lastId = 0;
  #attempts = 0;
  /** How often the server wants to be pinged. */
  #pingMs = UNTOLD_PING_MS;
  #checkAt = 0;
  /** When something came last. */
  heardAt = 0;
  /** Whether nothing has been heard since the last ping of ours. */
  #isProbing = false;
  /** How many messages this connection has brought. */
  #received = 0;
  /** The oldest command without a reply, and since when that has been so. */
  #oldest: number | undefined;
  #oldestSince = 0;

  constructor(emit: (effect: Effect) => void) {
    this.#emit = emit;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** When `tick` has something to do. */
  get wakeAt(): number {
    return this.#checkAt;
  }

  opened(now: number): void {
    this.#isOpen = true;
    this.#lastId = 0;
    this.heardAt = now;
    this.#checkAt = now + this.#pingMs;
    this.#isProbing = false;
    this.#received = 0;
    this.#oldest = undefined;
  }

  /** Forgets the connection and what it still owed; returns when to try again. `jitter` is a number in [0, 1). */
  closed(now: number, jitter: number): number {
    this.#isOpen = false;
    this.#pending.clear();
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    return now + Math.floor(pause * jitter);
  }

  /** The server talks to us: the next lost connection begins with a short pause again. */
  settledIn(pingMs: number, now: number): void {
    this.#attempts = 0;
    this.#pingMs = pingMs;
    this.#checkAt = now + pingMs;
  }

  /** Sends a command if the connection is open; else nothing happens. */
  send<M extends Method>(method: M, params: Params<M>, onReply: (reply: Reply<M>) => void = () => {}): void {
    if (!this.#isOpen) return;
    this.#lastId += 1;
    // The reply to a command is that command's: the map cannot say so.
    this.#pending.set(this.#lastId, onReply as unknown as OnReply);
    this.#emit({ type: "send", message: { id: this.#lastId, method, params: { ...params } } });
  }

  /**
   * Something has come: a message, or what is none. Returns false if the connection cannot be trusted any more: a message
   * got lost on it, or a command has no reply although others come.
   */
  heard(message: ServerMessage | FarsideError, now: number): boolean {
    const patience = 2 * this.#pingMs;
    const [oldest] = this.#pending.keys();
    // A page that slept has not waited.
    if (oldest !== this.#oldest || now - this.heardAt >= patience) {
      this.#oldest = oldest;
      this.#oldestSince = now;
    }
    this.heardAt = now;
    this.#isProbing = false;
    const received = this.#received++;
    const { type, sent, id } = message as Partial<Ping & SuccessReply>;
    if (type === "ping") {
      if (sent !== received) return false;
      this.send("connection.ping", {});
    }
    return oldest === undefined || oldest === id || now - this.#oldestSince < patience;
  }

  /** Hands a reply to whoever sent the command. Returns false if nobody waits for it. */
  reply(message: SuccessReply | ErrorReply, now: number): boolean {
    // No command has the id 0.
    const id = message.id ?? 0;
    const onReply = this.#pending.get(id);
    if (onReply === undefined) return false;
    this.#pending.delete(id);
    const seq = message.meta?.applied_through_seq;
    if (message.type === "success") onReply({ result: message.result as never, seq, now });
    else onReply({ error: errorOf(message), seq, now });
    return true;
  }

  /** Pings when nothing has come for a while. Returns false if that had no effect: the connection is dead. */
  tick(now: number): boolean {
    if (now < this.#checkAt) return true;
    // A page that slept has not heard anything either: silence counts only after a ping.
    if (this.#isProbing) return false;
    // The server pings too: only if that does not come it is our turn.
    this.#checkAt = this.heardAt + 1.5 * this.#pingMs;
    if (now >= this.#checkAt) {
      this.#isProbing = true;
      this.#checkAt = now + this.#pingMs / 2;
      this.send("connection.ping", {});
    }
    return true;
  }
}

/** The error of a reply. */
export function errorOf({ error, message, retryable, details }: ErrorReply): FarsideError {
  return new FarsideError(error, message, { retryable, details });
}
