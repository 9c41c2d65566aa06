import { FarsideError } from "../errors.ts";
import type { CallClaimResult, ErrorBody, ToolResult } from "../wire/messages.ts";
import type { CallContext } from "./call-context.ts";
import type { ToolEvent, ToolEventCall, ToolStep, ToolWaiting } from "./effects.ts";
import type { Note } from "./note.ts";
import { granted, type PageCall } from "./page-call.ts";
import { ASKING, FINISHING, RUNNING, STARTING } from "./phase.ts";

/** The call is ours. That is noted before its body begins: whatever becomes of this page, the next one knows. */
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

/** Has the journal note how far the call is; `Calls.noted` goes on from there. The first note makes the claim's id. */
export function note({ threadId, clientId, newId, emit }: CallContext, call: PageCall): void {
  const { interruptId, name, toolCallId, startedAt, answer, phase } = call;
  const note: Note = {
    threadId,
    interruptId,
    claimId: call.note?.claimId ?? newId("claim"),
    clientId: clientId(),
    name,
    toolCallId,
    startedAt,
    ...(phase === ASKING && { asked: true }),
    ...(answer && { result: answer }),
  };
  call.note = note;
  emit({ type: "note", note });
}

/** Runs the body. */
export function start(context: CallContext, call: PageCall, now: number): void {
  call.phase = RUNNING;
  call.startedAt = now;
  tell(context, call, { phase: "start" });
  context.emit({ type: "execute", call: call.claim as CallClaimResult });
}

/** The body has ended. Its result is noted before it is sent. */
export function finish(context: CallContext, call: PageCall, result: ToolResult, now: number): void {
  call.phase = FINISHING;
  call.answer = result;
  const ended =
    result.status === "success"
      ? ({ phase: "success", result: result.value } as const)
      : ({ phase: "error", error: errorFrom(result.error) } as const);
  tell(context, call, { ...ended, duration: now - call.startedAt });
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
  event: Omit<ToolStep, keyof ToolEventCall> | Omit<ToolWaiting, keyof ToolEventCall>,
): void {
  emit({ type: "tool", event: Object.freeze({ ...event, name, args, toolCallId, threadId }) as ToolEvent });
}

/** A tool's error, as the application gets it. */
export function errorFrom({ code, message, details }: ErrorBody): FarsideError {
  return new FarsideError(code, message, { details });
}
