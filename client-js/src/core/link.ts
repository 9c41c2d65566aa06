import { FarsideError } from "../errors.ts";
import type { ErrorReply, Method, Params, Result, SuccessReply } from "../wire/messages.ts";
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
  #pingAt = 0;
  #heardAt = 0;
  /** When the ping was sent after which nothing has been heard. */
  #unansweredSince: number | undefined;

  constructor(emit: (effect: Effect) => void) {
    this.#emit = emit;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** When `tick` has something to do. */
  get wakeAt(): number {
    return this.#isOpen ? this.#pingAt : Number.POSITIVE_INFINITY;
  }

  opened(now: number): void {
    this.#isOpen = true;
    this.#lastId = 0;
    this.#heardAt = now;
    this.#pingAt = now + this.#pingMs;
    this.#unansweredSince = undefined;
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
    this.#pingAt = now + pingMs;
  }

  /** Sends a command if the connection is open; else nothing happens. */
  send<M extends Method>(method: M, params: Params<M>, onReply: (reply: Reply<M>) => void = () => {}): void {
    if (!this.#isOpen) return;
    this.#lastId += 1;
    // The reply to a command is that command's: the map cannot say so.
    this.#pending.set(this.#lastId, onReply as unknown as OnReply);
    this.#emit({ type: "send", message: { id: this.#lastId, method, params: { ...params } } });
  }

  heard(now: number): void {
    this.#heardAt = now;
    this.#unansweredSince = undefined;
  }

  /** Hands a reply to whoever sent the command. Returns false if nobody waits for it. */
  reply(message: SuccessReply | ErrorReply, now: number): boolean {
    const onReply = message.id === null ? undefined : this.#pending.get(message.id);
    if (message.id === null || onReply === undefined) return false;
    this.#pending.delete(message.id);
    const seq = message.meta?.applied_through_seq;
    if (message.type === "success") onReply({ result: message.result as never, seq, now });
    else onReply({ error: errorOf(message), seq, now });
    return true;
  }

  /** Pings when it is time. Returns false if the connection is dead. */
  tick(now: number): boolean {
    if (!this.#isOpen || now < this.#pingAt) return true;
    // A page that slept has not pinged either: silence counts only after a ping.
    const waited = this.#unansweredSince === undefined ? 0 : now - this.#unansweredSince;
    if (waited >= this.#pingMs && now - this.#heardAt >= 2 * this.#pingMs) return false;
    this.#unansweredSince ??= now;
    this.#pingAt = now + this.#pingMs;
    this.send("connection.ping", {});
    return true;
  }
}

/** The error of a reply. */
export function errorOf({ error, message, retryable, details }: ErrorReply): FarsideError {
  return new FarsideError(error, message, { retryable, details });
}
