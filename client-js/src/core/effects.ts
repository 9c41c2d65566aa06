import type { FarsideError } from "../errors.ts";
import type { CallClaimResult, Command, ErrorBody, ToolMismatch } from "../wire/messages.ts";
import type { Note } from "./note.ts";
import type { Waiting } from "./waiting.ts";

/** What `onTool` hears about the calls that this page executes. */
export type ToolEvent = ToolStep | ToolWaiting;

/** Of which call `onTool` hears. */
export interface ToolEventCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly toolCallId: string;
  readonly threadId: string;
}

/** A tool waits for the user: `proceed` or `dismiss` it. Should the call end meanwhile, `cancelled` comes. */
export interface ToolWaiting extends ToolEventCall, Waiting {
  readonly phase: "waiting";
  readonly result?: undefined;
  readonly error?: undefined;
  readonly duration?: undefined;
}

/** How far a tool is. */
export interface ToolStep extends ToolEventCall {
  /**
   * `start`: the tool begins. `progress`: the tool reported. `success`, `error`: the tool has ended. `cancelled`: the call was
   * withdrawn, or expired, while the tool ran.
   */
  readonly phase: "start" | "progress" | "success" | "error" | "cancelled";
  /** The value (`success`) or what was reported (`progress`). */
  readonly result?: unknown;
  /** With `error` and `cancelled`. */
  readonly error?: FarsideError;
  /** Milliseconds since `start`, once the tool has ended. */
  readonly duration?: number;
}

/** What the agent tells beside the conversation (channel `custom`). */
export interface AgentEvent {
  readonly name?: string;
  readonly payload: unknown;
  readonly threadId: string;
}

/** What a session wants done, in order. */
export type Effect =
  /** Send this over the open connection. */
  | { readonly type: "send"; readonly message: Command }
  /** Open a connection at this time. */
  | { readonly type: "connect"; readonly at: number }
  /** Give up the connection: nothing more is expected from it. */
  | { readonly type: "drop" }
  /** Call `tick` at this time; replaces the one before. */
  | { readonly type: "wake"; readonly at: number }
  /** Write this into the journal; report with `noted` when it is durable, or cannot be. Later ones come after it. */
  | { readonly type: "note"; readonly note: Note }
  /** Take the note of this claim out of the journal. */
  | { readonly type: "forget"; readonly claimId: string }
  /** Run the tool's body; report with `bodyFinished`. */
  | { readonly type: "execute"; readonly call: CallClaimResult }
  /** Abort the tool's body; what it still returns is of no use. */
  | { readonly type: "abort"; readonly interruptId: string; readonly reason: ErrorBody }
  /** Tell who writes the page: these tools were made for other schemas than the server's. */
  | { readonly type: "warn"; readonly about: readonly ToolMismatch[] }
  /** The snapshot has changed. */
  | { readonly type: "changed" }
  | { readonly type: "tool"; readonly event: ToolEvent }
  | { readonly type: "custom"; readonly event: AgentEvent }
  /** What the application asked for under this ticket is done, or has failed. */
  | { readonly type: "replied"; readonly ticket: unknown; readonly error: FarsideError | null };
