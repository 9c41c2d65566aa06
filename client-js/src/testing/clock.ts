import type { Clock } from "../transport/clock.ts";

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ readonly time: number; readonly run: () => void }>();

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  at(time: number, run: () => void): () => void {
    const timer = { time, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** When the next timer is due; undefined when there is none. */
  get next(): number | undefined {
    const times = Array.from(this.#timers, ({ time }) => time);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Moves on by `ms`, running what is due on the way, each at its own time; what follows from it happens before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let due = this.#due(until); due !== undefined; due = this.#due(until)) {
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.time);
      due.run();
      await quiet();
    }
    this.#now = until;
  }

  #due(until: number) {
    return [...this.#timers].filter(({ time }) => time <= until).sort((a, b) => a.time - b.time)[0];
  }
}

/** Lets everything happen that needs no time: all promises that can settle have settled afterwards. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
