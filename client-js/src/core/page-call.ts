import type { CallClaimResult, ToolResult } from "../wire/messages.ts";
import type { Note } from "./note.ts";
import { FINISHING, OPEN, STARTING } from "./phase.ts";

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
  /** This page has asked for it, and its body has not begun: a claim under our id may be of that. */
  wasAsked: boolean;
  /** The claim that this page holds, or has taken on. */
  claim?: CallClaimResult;
  claimId?: string | undefined;
  /** The newest note. */
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
  args: Record<string, unknown> = {},
): PageCall {
  return {
    interruptId,
    toolCallId,
    name,
    args,
    phase: OPEN,
    isOffered: false,
    wasAsked: false,
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

/** How commands name the call: with the proof of the claim, where there is one. */
export function named({ interruptId, claimId }: PageCall): { interrupt_id: string; claim_id?: string } {
  return { interrupt_id: interruptId, ...(claimId && { claim_id: claimId }) };
}
