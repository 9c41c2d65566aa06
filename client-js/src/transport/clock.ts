/** Where a client has the time from; tests bring their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` at the given time, or as soon after it as possible. Returns how to call it off. */
  at(time: number, run: () => void): () => void;
}

/** The clock of the page. */
export const PAGE_CLOCK: Clock = {
  now: () => Date.now(),
  at(time, run) {
    const timer = setTimeout(run, Math.max(0, time - Date.now()));
    return () => clearTimeout(timer);
  },
};
