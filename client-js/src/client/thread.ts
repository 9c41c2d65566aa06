import type { Snapshot } from "../core/snapshot.ts";
import type { SubmitInput } from "./input.ts";

/** A durable conversation with an agent, as this page sees it. */
export interface Thread {
  readonly threadId: string;
  /**
   * Starts a run: with a text of the user, with `{ messages }`, or with whatever the agent takes. Resolves when the
   * server has accepted it. A failure shows in the snapshot's `error` too, so the promise may be ignored.
   */
  submit(input: SubmitInput): Promise<void>;
  /** Stops the run. The tools that this page executes are aborted at once. The promise may be ignored. */
  stop(): Promise<void>;
  /** Answers one of the snapshot's `interrupts`. The promise may be ignored. */
  respond(interruptId: string, value: unknown): Promise<void>;
  /** Calls `listener` after changes, once for all that came together. Returns how to stop. */
  subscribe(listener: () => void): () => void;
  /** All there is to show, immutable: the same object for as long as nothing changes. */
  getSnapshot(): Snapshot;
  /**
   * Ends the connection and aborts the tools that run; their calls are given back. The thread itself lives on, on the server.
   */
  close(): void;
}
