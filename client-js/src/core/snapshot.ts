import type { FarsideError } from "../errors.ts";

/** Where the connection of a thread is: `connecting` until it is first open, and again whenever it was lost. */
export type ConnectionState = "connecting" | "open" | "closed";

/**
 * What the newest run does. `loading`: the thread's state has not arrived yet. `running` includes that the run waits for a
 * tool, or for an answer to an interrupt, and that another run is queued.
 */
export type ThreadStatus = "loading" | "idle" | "running" | "failed";

/**
 * What a tool call does. `waiting`: nobody has it yet; `running`: a server, this page or another one works on it;
 * then it ends as `answered`, `failed` or `cancelled`.
 */
export type ToolCallState = "waiting" | "running" | "answered" | "failed" | "cancelled";

/** A tool call of the thread, of a browser tool or a server tool. Immutable. */
export interface ToolCall {
  /** The model's id. It may repeat in a thread. */
  readonly id: string;
  /** Names the call of a browser tool, uniquely. Server tools have none. */
  readonly interruptId?: string;
  /** The message that asked for the call, where that is known. */
  readonly messageId?: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly state: ToolCallState;
  /** What the tool last reported while it ran. */
  readonly progress?: unknown;
  /** The value, once `answered`. */
  readonly result?: unknown;
  /** Why there is no value, once `failed` or `cancelled`. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** A piece of a message: `{type: "text", text}`, `{type: "reasoning", reasoning}`, an image, ... */
export type ContentBlock = Readonly<Record<string, unknown>>;

/** A message of the thread. Immutable. */
export interface Message {
  readonly id: string;
  readonly role: "human" | "ai" | "system";
  /** All its text blocks, joined. */
  readonly text: string;
  readonly content: readonly ContentBlock[];
  /** The calls that this message asked for. */
  readonly toolCalls: readonly ToolCall[];
  /** Whether more of it may come. */
  readonly streaming: boolean;
}

/** A run that starts when those before it have ended. Immutable. */
export interface QueuedRun {
  readonly runId: string;
  /** What was said with it; not yet among the thread's messages. */
  readonly messages: readonly Message[];
}

/** A pause of the agent that is no tool call: answer it with `respond`. */
export interface Interrupt {
  readonly id: string;
  readonly payload: unknown;
}

/**
 * All there is to show of a thread. Immutable: what did not change between two snapshots is the same object in both,
 * and a snapshot is the same object for as long as nothing changes.
 */
export interface Snapshot {
  readonly threadId: string;
  readonly connection: ConnectionState;
  readonly status: ThreadStatus;
  readonly messages: readonly Message[];
  /** All tool calls of the thread, in order. */
  readonly toolCalls: readonly ToolCall[];
  readonly interrupts: readonly Interrupt[];
  /** The runs that wait for their turn, in order. */
  readonly queued: readonly QueuedRun[];
  /** Why the last run, or the last submit, failed. */
  readonly error: FarsideError | null;
}
