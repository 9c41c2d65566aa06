import { type CallContext, refused } from "./call-context.ts";
import { begin, note } from "./execution.ts";
import { named, type PageCall } from "./page-call.ts";
import { ASKING, CLAIMING, OPEN } from "./phase.ts";

/**
 * Claims the call, if it is offered to this page and not claimed already; declines it, if the page lacks the tool. The claim is
 * noted before it is made: a page that dies in the middle of it leaves a claim of which the next one knows.
 */
export function claim(context: CallContext, call: PageCall): void {
  if (call.phase !== OPEN || !call.isOffered || !context.link.isOpen) return;
  if (call.note !== undefined) ask(context, call);
  else if (context.implements(call.name)) {
    call.phase = ASKING;
    call.startedAt = context.link.heardAt;
    note(context, call);
  } else decline(context, call, "not_implemented");
}

function ask(context: CallContext, call: PageCall): void {
  call.isOffered = false;
  call.phase = CLAIMING;
  context.link.send("call.claim", named(call), ({ result, error, now }) => {
    if (call.phase !== CLAIMING) return;
    if (error !== undefined) {
      call.phase = OPEN;
      refused(context, call, error.code, now);
    } else if (context.implements(call.name)) begin(context, call, result, now);
    else decline(context, call, "not_implemented");
  });
}

/** Gives back a call that has not been begun, for good. */
export function decline(context: CallContext, call: PageCall, reason: string): void {
  call.isOffered = false;
  release(context, call, reason);
  context.lose(call, "claim_lost");
}

/** Gives back a call that has not been begun. */
export function release({ link }: CallContext, call: PageCall, reason: string): void {
  link.send("call.release", { ...named(call), reason });
}
