import type { ToolResult } from "../wire/messages.ts";
import { type CallContext, refused, UNSENDABLE } from "./call-context.ts";
import { named, type PageCall } from "./page-call.ts";
import { ANSWERED, RELEASING } from "./phase.ts";

/** Sends the answer, until it is stored. `isComplaint`: it is sent instead of one that could not be. */
export function settle(context: CallContext, call: PageCall, isComplaint = false): void {
  const result = call.answer as ToolResult;
  context.link.send("call.settle", { ...named(call), result }, ({ result, error, now }) => {
    if (call.phase !== ANSWERED) return;
    if (error === undefined) {
      context.shown().settled(call.interruptId, result.result);
      context.lose(call, "call_settled");
    } else if (UNSENDABLE.has(error.code) && !isComplaint) {
      const message = `The result cannot be sent (${error.code}): ${error.message}`;
      call.answer = failure("invalid_result", message);
      settle(context, call, true);
    } else {
      refused(context, call, error.code, now);
    }
  });
}

/** Gives back a call that may have been executed, until the server knows: it decides whether it may be again (L8). */
export function giveBack(context: CallContext, call: PageCall): void {
  call.phase = RELEASING;
  const params = { ...named(call), started: true, reason: "the page is gone" };
  context.link.send("call.release", params, ({ error, now }) => {
    if (call.phase !== RELEASING) return;
    refused(context, call, error?.code ?? "claim_lost", now);
  });
}

/** A tool result without a value. */
export function failure(code: string, message: string): ToolResult {
  return { status: "error", error: { code, message } };
}
