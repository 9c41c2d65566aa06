import type { Effect } from "./effects.ts";
import type { Link } from "./link.ts";
import type { PageCall } from "./page-call.ts";
import { OPEN } from "./phase.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** What the calls of a page need from the session around them. */
export interface CallsOptions {
  readonly threadId: string;
  readonly clientId: () => string;
  /** Makes an id that nobody can guess. */
  readonly newId: (kind: "claim") => string;
  readonly link: Link;
  readonly emit: (effect: Effect) => void;
  /** The newest names of the tools that this page implements, as far as the server knows them. */
  readonly implements: (name: string) => boolean;
  /** Where the calls are shown. */
  readonly shown: () => ToolCalls;
}

/** What each step of a call's life needs, and whom it tells when the call is not this page's any more. */
export interface CallContext extends CallsOptions {
  /** `claim_lost`: the claim has ended, and the call may be offered anew. Any other code: the call has ended. */
  readonly lose: (call: PageCall, code: string) => void;
}

/** How long to wait with a command that the server could not carry out. */
export const RETRY_MS = 2_000;

/** The call is not this page's any more. */
export const GONE: ReadonlySet<string> = new Set(["call_settled", "not_found", "claim_lost"]);

/** Sending the same again is of no use. */
export const UNSENDABLE: ReadonlySet<string> = new Set([
  "invalid_argument",
  "invalid_value",
  "malformed_frame",
  "too_deep",
  "too_large",
]);

/** The server has refused a command that the call needs: either the call is not ours any more, or it is sent again. */
export function refused(context: CallContext, call: PageCall, code: string, now: number): void {
  if (GONE.has(code) || UNSENDABLE.has(code)) {
    context.lose(call, code);
  } else {
    call.isOffered ||= call.phase === OPEN;
    call.dueAt = now + RETRY_MS;
  }
}
