import type { FarsideError } from "../errors.ts";
import type { Event, StateGetResult, SubscribeParams, SubscribeResult } from "../wire/messages.ts";
import { RETRY_MS } from "./call-context.ts";
import type { Link } from "./link.ts";
import { SeenEvents } from "./seen-events.ts";

const CHANNELS: SubscribeParams["channels"] = ["lifecycle", "messages", "tools", "calls", "input", "custom"];

/** Whom a feed tells what it gets. */
export interface FeedOptions {
  readonly link: Link;
  /** The thread's state, from which events go on; none for a thread that does not exist yet. */
  readonly loaded: (state: StateGetResult | undefined) => void;
  /** What is open now. */
  readonly subscribed: (open: SubscribeResult) => void;
  /** An event. One that is not live is older than what `subscribed` told: it is history, not what is open (L7). */
  readonly received: (event: Event, isLive: boolean) => void;
  readonly failed: (error: FarsideError) => void;
}

/** The thread's state once, and then its events, each of them once, over all connections. */
export class Feed {
  readonly #options: FeedOptions;
  /** Whether the next connection goes on with events; else it begins with the state. */
  isLoaded = false;
  /** The newest seq that has arrived. */
  #newestSeq = 0;
  /** Up to here the subscribe reply has told what is open. */
  #subscribedSeq = 0;
  #seen = new SeenEvents();
  /** When to ask again for what the server could not give. */
  #retryAt = Number.POSITIVE_INFINITY;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** When `tick` has something to do. */
  get wakeAt(): number {
    return this.#retryAt;
  }

  /** The connection is open: begins, or goes on. */
  resume(): void {
    this.#retryAt = Number.POSITIVE_INFINITY;
    if (this.isLoaded) this.#subscribe();
    else this.#load();
  }

  /** Something that was sent has not arrived, and later things have: the next connection begins with the state again. */
  missed(): void {
    this.isLoaded = false;
  }

  tick(now: number): void {
    if (now >= this.#retryAt) this.resume();
  }

  receive(event: Event): void {
    if (!this.#seen.add(event.event_id)) return;
    this.#newestSeq = Math.max(this.#newestSeq, event.seq);
    this.#options.received(event, event.seq > this.#subscribedSeq);
  }

  #load(): void {
    const { link, loaded } = this.#options;
    link.send("state.get", { namespace: [] }, ({ result, error, seq, now }) => {
      if (error !== undefined && error.code !== "not_found") return this.#failed(error, now);
      this.isLoaded = true;
      this.#newestSeq = seq ?? 0;
      this.#seen = new SeenEvents();
      loaded(result);
      this.#subscribe();
    });
  }

  #subscribe(): void {
    const { link, subscribed } = this.#options;
    const since = this.#newestSeq;
    link.send("subscription.subscribe", { channels: CHANNELS, since }, ({ result, error, seq, now }) => {
      if (error !== undefined) return this.#failed(error, now);
      if (seq !== undefined && seq < since) {
        // The server has lost its log.
        this.isLoaded = false;
        return this.#load();
      }
      this.#subscribedSeq = seq ?? since;
      subscribed(result);
    });
  }

  #failed(error: FarsideError, now: number): void {
    if (error.retryable) this.#retryAt = now + RETRY_MS;
    this.#options.failed(error);
  }
}
