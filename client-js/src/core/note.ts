import type { ToolResult } from "../wire/messages.ts";

/**
 * What a journal remembers of a call that a page has begun, so that a later page can answer for it. Its arguments are left
 * out: nobody needs them.
 */
export interface Note {
  readonly threadId: string;
  readonly interruptId: string;
  /** Proves the claim, whatever client id the later page has. */
  readonly claimId: string;
  /** The page that has begun it. */
  readonly clientId: string;
  readonly name: string;
  readonly toolCallId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** What the body came to. Without it nobody knows how far the body got. */
  readonly result?: ToolResult;
}
