import type { Call, ToolResult } from "../wire/messages.ts";

/** An unsettled call, and what this page does about it. */
export interface PageCall {
  readonly interruptId: string;
  readonly toolCallId: string;
  readonly name: string;
  args: Record<string, unknown>;
  /** `open`: not ours. `claiming`: asked for. `running`: its body runs. `answered`: the answer is not yet stored. */
  phase: "open" | "claiming" | "running" | "answered";
  /** Another client holds it. */
  isTaken: boolean;
  /** This page has asked for it before: a claim under our id may be of that. */
  wasAsked: boolean;
  startedAt: number;
  /** When to renew the claim, to send the answer again, or to ask again. */
  dueAt: number;
  leaseMs: number;
  answer?: ToolResult;
  /** The newest progress that waits for the reply to the one before. */
  progress: { isSending: boolean; next?: { readonly value: unknown } };
}

/** A call that this page has just heard of. */
export function pageCall({ interrupt_id, tool_call_id, name, args }: Call): PageCall {
  return {
    interruptId: interrupt_id,
    toolCallId: tool_call_id,
    name,
    args,
    phase: "open",
    isTaken: false,
    wasAsked: false,
    startedAt: 0,
    dueAt: Number.POSITIVE_INFINITY,
    leaseMs: 0,
    progress: { isSending: false },
  };
}
