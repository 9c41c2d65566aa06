import { type CallContext, refused } from "./call-context.ts";
import { begin } from "./execution.ts";
import { named, type PageCall } from "./page-call.ts";
import { CLAIMING, OPEN } from "./phase.ts";

/** Claims the call, if it is offered to this page and not claimed already; declines it, if the page lacks the tool. */
export function claim(context: CallContext, call: PageCall): void {
  if (call.phase !== OPEN || !call.isOffered || !context.link.isOpen) return;
  call.isOffered = false;
  if (!context.implements(call.name)) {
    decline(context, call, "not_implemented");
    return;
  }
  call.phase = CLAIMING;
  call.wasAsked = true;
  context.link.send("call.claim", named(call), ({ result, error, now }) => {
    if (call.phase !== CLAIMING) return;
    call.phase = OPEN;
    if (error === undefined) {
      call.claimId = result.claim_id;
      if (context.implements(call.name)) begin(context, call, result, now);
      else decline(context, call, "not_implemented");
    } else {
      refused(context, call, error.code, now);
    }
  });
}

/** Gives back a call that has not been begun. */
export function decline(context: CallContext, call: PageCall, reason: string): void {
  context.link.send("call.release", { ...named(call), reason });
  call.claimId = undefined;
}
