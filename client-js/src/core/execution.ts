import { FarsideError } from "../errors.ts";
import type { CallClaimResult, ErrorBody, ToolResult } from "../wire/messages.ts";
import { settle } from "./answer.ts";
import type { CallContext } from "./call-context.ts";
import type { ToolEvent } from "./effects.ts";
import type { Note } from "./note.ts";
import { granted, type PageCall } from "./page-call.ts";
import { ANSWERED, FINISHING, RUNNING, STARTING } from "./phase.ts";

/** The call is ours. It is noted before its body begins: whatever becomes of this page, the next one knows. */
export function begin(context: CallContext, call: PageCall, claim: CallClaimResult, now: number): void {
  call.claim = claim;
  call.args = claim.args;
  call.phase = STARTING;
  call.startedAt = now;
  call.report = undefined;
  granted(call, claim.lease_ms, now);
  context.shown().claimed(call.interruptId, true);
  note(context, call);
}

/** Has the journal note how far the call is; `noted` goes on from there. */
export function note({ threadId, page, emit }: CallContext, call: PageCall): void {
  const { interruptId, claimId = "", name, toolCallId, startedAt, answer } = call;
  const { clientId } = page();
  const note = { threadId, interruptId, claimId, clientId, name, toolCallId, startedAt };
  call.note = answer === undefined ? note : { ...note, result: answer };
  emit({ type: "note", note: call.note });
}

/** The journal has this note now, or could not take it. An older one says nothing. */
export function noted(context: CallContext, call: PageCall, note: Note, now: number): void {
  if (call.note !== note) return;
  if (call.phase === STARTING) {
    call.phase = RUNNING;
    call.startedAt = now;
    tell(context, call, { phase: "start" });
    context.emit({ type: "execute", call: call.claim as CallClaimResult });
  } else if (call.phase === FINISHING) {
    call.phase = ANSWERED;
    call.dueAt = Number.POSITIVE_INFINITY;
    settle(context, call);
  }
}

/** The body has ended. Its result is noted before it is sent. */
export function finish(context: CallContext, call: PageCall, result: ToolResult, now: number): void {
  call.phase = FINISHING;
  call.answer = result;
  const duration = now - call.startedAt;
  if (result.status === "success") tell(context, call, { phase: "success", result: result.value, duration });
  else tell(context, call, { phase: "error", error: errorFrom(result.error), duration });
  note(context, call);
}

/** Aborts the body, if it runs. */
export function abort(context: CallContext, call: PageCall, reason: ErrorBody): void {
  if (call.phase !== RUNNING) return;
  context.emit({ type: "abort", interruptId: call.interruptId, reason });
  tell(context, call, { phase: "cancelled", error: errorFrom(reason) });
}

/** Tells the application what the tool does. */
export function tell(
  { threadId, emit }: CallContext,
  { name, args, toolCallId }: PageCall,
  event: Pick<ToolEvent, "phase" | "result" | "error" | "duration">,
): void {
  emit({ type: "tool", event: Object.freeze({ ...event, name, args, toolCallId, threadId }) });
}

function errorFrom({ code, message, details }: ErrorBody): FarsideError {
  return new FarsideError(code, message, { details });
}
