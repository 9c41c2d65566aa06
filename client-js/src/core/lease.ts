import { type CallContext, GONE, RETRY_MS } from "./call-context.ts";
import type { Reply } from "./link.ts";
import { granted, isHeld, named, type PageCall } from "./page-call.ts";
import { RUNNING } from "./phase.ts";

/** The shortest time between two reports of progress. */
const REPORT_MS = 100;

/** Renews the claim. One that has ended is had again, if the call is open or offered to this page. */
export function renew(context: CallContext, call: PageCall): void {
  const renewal = {};
  call.renewal = renewal;
  call.dueAt = Number.POSITIVE_INFINITY;
  call.isOffered = false;
  context.link.send("call.claim", named(call), (reply) => {
    if (call.renewal !== renewal || !isHeld(call)) return;
    call.renewal = undefined;
    renewed(context, call, reply);
  });
}

/** When the newest progress may be sent; not while one is on its way. */
export function reportAt({ phase, report, reportAt }: PageCall): number {
  return phase === RUNNING && report !== undefined ? reportAt : Number.POSITIVE_INFINITY;
}

/** Sends the newest progress, if it is time to. That renews the claim too. */
export function report(context: CallContext, call: PageCall, now: number): void {
  const { report: newest, claim } = call;
  if (newest === undefined || now < reportAt(call) || !context.link.isOpen) return;
  call.reportAt = Number.POSITIVE_INFINITY;
  context.link.send("call.progress", { ...named(call), value: newest.value }, (reply) => {
    call.reportAt = now + REPORT_MS;
    if (call.report === newest) call.report = undefined;
    // A renewal that is on its way knows better, and so does a newer claim.
    if (call.phase !== RUNNING || call.renewal !== undefined || call.claim !== claim) return;
    renewed(context, call, reply);
    report(context, call, reply.now);
  });
}

function renewed(
  context: CallContext,
  call: PageCall,
  { result, error, now }: Reply<"call.claim"> | Reply<"call.progress">,
): void {
  if (error === undefined) granted(call, result.lease_ms, now);
  else if (GONE.has(error.code)) context.lose(call, error.code);
  else call.dueAt = now + RETRY_MS;
}
