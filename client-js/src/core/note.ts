import type { ToolResult } from "../wire/messages.ts";

/**
 * What a journal remembers of a call that a page has asked for, so that a later page can answer for it. Its arguments are left
 * out: the server tells them.
 */
export interface Note {
  readonly threadId: string;
  readonly interruptId: string;
  /** Proves the claim, whatever client id the later page has. */
  readonly claimId: string;
  /** The page that has asked for it. */
  readonly clientId: string;
  readonly name: string;
  readonly toolCallId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The body has not begun: whoever finds this may claim the call with the same id. */
  readonly asked?: true;
  /** What the body came to. Without it nobody knows how far the body got. */
  readonly result?: ToolResult;
}
