import type { CallClaimResult, ToolResult } from "../wire/messages.ts";
import type { Note } from "./note.ts";
import { ASKING, FINISHING, OPEN, STARTING } from "./phase.ts";

/** A call, and what this page does about it. */
export interface PageCall {
  readonly interruptId: string;
  readonly toolCallId: string;
  readonly name: string;
  args: Record<string, unknown>;
  /** One of phase.ts. */
  phase: number;
  /** This page may claim it, and has not done so since. */
  isOffered: boolean;
  /** What the server has told with the claim. */
  claim?: CallClaimResult;
  /** The newest note. It names the claim: without one there is none. */
  note?: Note | undefined;
  startedAt: number;
  /** When to renew the claim, to send the answer again, or to ask again. */
  dueAt: number;
  /** The renewal whose reply is awaited. */
  renewal?: object | undefined;
  answer?: ToolResult | undefined;
  /** The newest progress that has not arrived, and when it may be sent. */
  report?: { readonly value: unknown } | undefined;
  reportAt: number;
}

/** A call that this page has just heard of. */
export function pageCall(
  interruptId: string,
  toolCallId: string,
  name: string,
  args: Record<string, unknown>,
): PageCall {
  return {
    interruptId,
    toolCallId,
    name,
    args,
    phase: OPEN,
    isOffered: false,
    startedAt: 0,
    dueAt: Number.POSITIVE_INFINITY,
    reportAt: 0,
  };
}

/** Whether this page holds the claim, and has not yet the answer's leave to forget it. */
export function isHeld({ phase }: PageCall): boolean {
  return phase >= STARTING && phase <= FINISHING;
}

/** The claim holds for this long. */
export function granted(call: PageCall, leaseMs: number, now: number): void {
  call.dueAt = now + leaseMs / 2;
}

/** How commands name the call, and the claim as soon as the server may know of it. */
export function named({ interruptId, phase, note }: PageCall): { interrupt_id: string; claim_id: string } {
  const claim = phase > ASKING && note && { claim_id: note.claimId };
  // Only what gives a call back is sent without one.
  return { interrupt_id: interruptId, ...(claim as { claim_id: string }) };
}
