import { FarsideError } from "../errors.ts";
import type { Call, CallClaimResult, CallEnded, CallsData, ErrorBody, ToolResult } from "../wire/messages.ts";
import type { Effect, ToolEvent } from "./effects.ts";
import type { Link, Reply } from "./link.ts";
import { type PageCall, pageCall } from "./page-call.ts";
import type { ToolCalls } from "./tool-calls.ts";

const RETRY_MS = 2_000;
const GONE = new Set(["call_settled", "not_found", "claim_lost"]);
const UNSENDABLE = new Set(["invalid_argument", "invalid_value", "malformed_frame", "too_deep", "too_large"]);

/** What the calls of a page need from the session around them. */
export interface CallsContext {
  readonly threadId: string;
  readonly clientId: string;
  readonly link: Link;
  readonly emit: (effect: Effect) => void;
  /** The newest names of the tools that this page implements, as far as the server knows them. */
  readonly implements: (name: string) => boolean;
  /** Where the calls are shown. */
  readonly shown: () => ToolCalls;
}

/**
 * The calls that this page executes. It claims what it implements, keeps its claims, and sends each answer until it
 * is stored. It never executes a call that has ended, that it has answered, or that it does not hold.
 */
export class Calls {
  readonly #context: CallsContext;
  readonly #calls = new Map<string, PageCall>();
  /** The calls that have ended, or that this page has answered. */
  readonly #over = new Set<string>();

  constructor(context: CallsContext) {
    this.#context = context;
  }

  /** When `tick` has something to do. */
  get wakeAt(): number {
    if (!this.#context.link.isOpen) return Number.POSITIVE_INFINITY;
    let wakeAt = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#calls.values()) wakeAt = Math.min(wakeAt, dueAt);
    return wakeAt;
  }

  /** What is open now, all of it: what is not in the list has ended. */
  reconcile(calls: readonly Call[]): void {
    const open = new Set(calls.map(({ interrupt_id }) => interrupt_id));
    for (const call of [...this.#calls.values()]) {
      // An answer that was not acknowledged is asked about by sending it again.
      if (open.has(call.interruptId) || call.phase === "answered") continue;
      this.#end(call, { code: "cancelled", message: "The call ended while the connection was lost." });
    }
    for (const call of calls) this.#opened(call);
  }

  /** Follows an event. Only a live one opens or frees a call: replaying events executes nothing (L7). */
  receive(data: CallsData, isLive: boolean): void {
    switch (data.event) {
      case "opened":
        if (isLive) this.#opened(data);
        return;
      case "claimed":
        if (isLive) this.#claimed(data.interrupt_id, data.client_id);
        return;
      case "released":
        if (isLive) this.#released(data.interrupt_id);
        return;
      case "settled":
      case "cancelled":
      case "expired":
        this.#ended(data);
        return;
    }
  }

  /** This page implements other tools now. */
  toolsChanged(): void {
    for (const call of this.#calls.values()) this.#claim(call);
  }

  /** A body has ended with this result. */
  finished(interruptId: string, result: ToolResult, now: number): void {
    const call = this.#calls.get(interruptId);
    if (call?.phase !== "running") return;
    call.phase = "answered";
    call.answer = result;
    call.dueAt = Number.POSITIVE_INFINITY;
    const duration = now - call.startedAt;
    if (result.status === "success") this.#tell(call, { phase: "success", result: result.value, duration });
    else this.#tell(call, { phase: "error", error: errorFrom(result.error), duration });
    this.#settle(call, result);
  }

  /** A body reports what it does. */
  progressed(interruptId: string, value: unknown): void {
    const call = this.#calls.get(interruptId);
    if (call?.phase !== "running") return;
    this.#tell(call, { phase: "progress", result: value });
    this.#context.shown().progressed(interruptId, value);
    call.progress.next = { value };
    if (!call.progress.isSending) this.#sendProgress(call);
  }

  /** A body waits for the user. */
  waits(interruptId: string): void {
    const call = this.#calls.get(interruptId);
    if (call?.phase === "running") this.#tell(call, { phase: "waiting" });
  }

  /** The connection is open: goes on where the last one stopped. */
  resume(): void {
    for (const call of this.#calls.values()) {
      if (call.phase === "running") this.#renew(call);
      if (call.phase === "answered" && call.answer !== undefined) this.#settle(call, call.answer);
    }
  }

  /** The connection is lost; running bodies go on. */
  disconnected(): void {
    for (const call of this.#calls.values()) {
      call.progress = { isSending: false };
      if (call.phase === "claiming") call.phase = "open";
    }
  }

  /** Nothing that is not answered goes on. */
  stop(message: string): void {
    for (const call of [...this.#calls.values()]) {
      if (call.phase !== "answered") this.#end(call, { code: "cancelled", message });
    }
  }

  tick(now: number): void {
    if (!this.#context.link.isOpen) return;
    for (const call of this.#calls.values()) {
      if (now < call.dueAt) continue;
      call.dueAt = Number.POSITIVE_INFINITY;
      if (call.phase === "running") this.#renew(call);
      else if (call.answer !== undefined) this.#settle(call, call.answer);
      else this.#claim(call);
    }
  }

  #opened(opened: Call): void {
    if (this.#over.has(opened.interrupt_id)) return;
    const call = this.#calls.get(opened.interrupt_id) ?? pageCall(opened);
    this.#calls.set(call.interruptId, call);
    if (call.phase !== "open") return;
    const isOurs = call.wasAsked && opened.client_id === this.#context.clientId;
    call.isTaken = opened.state === "claimed" && !isOurs;
    this.#claim(call);
  }

  #claimed(interruptId: string, clientId: string): void {
    const call = this.#calls.get(interruptId);
    if (call === undefined || clientId === this.#context.clientId) return;
    call.isTaken = true;
    if (call.phase === "running" || call.phase === "answered") this.#lose(call, "claim_lost");
  }

  #released(interruptId: string): void {
    const call = this.#calls.get(interruptId);
    if (call === undefined) return;
    call.isTaken = false;
    if (call.phase === "running") this.#renew(call);
    else this.#claim(call);
  }

  #ended({ event, interrupt_id, result }: CallEnded): void {
    const call = this.#calls.get(interrupt_id);
    this.#over.add(interrupt_id);
    if (call === undefined) return;
    const message =
      event === "settled" ? "Somebody else has answered the call." : `The call has been ${event}.`;
    this.#end(call, result.status === "error" ? result.error : { code: "call_settled", message });
  }

  #claim(call: PageCall): void {
    const { link } = this.#context;
    if (call.phase !== "open" || call.isTaken || !link.isOpen || !this.#context.implements(call.name)) return;
    call.phase = "claiming";
    call.wasAsked = true;
    link.send("call.claim", { interrupt_id: call.interruptId }, (reply) => {
      if (!this.#isCurrent(call, "claiming")) return;
      call.phase = "open";
      if (reply.error === undefined) return this.#begin(call, reply.result, reply.now);
      if (reply.error.code === "claim_lost") call.isTaken = true;
      else if (GONE.has(reply.error.code)) this.#forget(call);
      else if (!UNSENDABLE.has(reply.error.code)) call.dueAt = reply.now + RETRY_MS;
    });
  }

  #begin(call: PageCall, claim: CallClaimResult, now: number): void {
    const { link, emit, shown } = this.#context;
    if (!this.#context.implements(call.name)) {
      call.wasAsked = false;
      link.send("call.release", { interrupt_id: call.interruptId, reason: "not_implemented" });
      return;
    }
    call.phase = "running";
    call.args = claim.args;
    call.startedAt = now;
    this.#lease(call, claim.lease_ms, now);
    shown().claimed(call.interruptId, true);
    this.#tell(call, { phase: "start" });
    emit({ type: "execute", call: claim });
  }

  #lease(call: PageCall, leaseMs: number, now: number): void {
    call.leaseMs = leaseMs;
    call.dueAt = now + leaseMs / 2;
  }

  #renew(call: PageCall): void {
    call.dueAt = Number.POSITIVE_INFINITY;
    this.#context.link.send("call.claim", { interrupt_id: call.interruptId }, (reply) =>
      this.#renewed(call, reply),
    );
  }

  #renewed(call: PageCall, reply: Reply<"call.claim"> | Reply<"call.progress">): void {
    if (!this.#isCurrent(call, "running")) return;
    if (reply.error === undefined) this.#lease(call, reply.result.lease_ms, reply.now);
    else if (GONE.has(reply.error.code)) this.#lose(call, reply.error.code);
    else call.dueAt = reply.now + Math.min(RETRY_MS, call.leaseMs / 2);
  }

  #sendProgress(call: PageCall): void {
    const { link } = this.#context;
    const { next } = call.progress;
    if (next === undefined || !link.isOpen) return;
    const progress: PageCall["progress"] = { isSending: true };
    call.progress = progress;
    link.send("call.progress", { interrupt_id: call.interruptId, value: next.value }, (reply) => {
      this.#renewed(call, reply);
      progress.isSending = false;
      if (this.#isCurrent(call, "running")) this.#sendProgress(call);
    });
  }

  /** `isComplaint`: this is what is sent instead of a result that could not be. */
  #settle(call: PageCall, result: ToolResult, isComplaint = false): void {
    this.#context.link.send("call.settle", { interrupt_id: call.interruptId, result }, (reply) => {
      if (!this.#isCurrent(call, "answered")) return;
      if (reply.error === undefined) {
        this.#context.shown().settled(call.interruptId, reply.result.result);
        this.#forget(call);
      } else if (GONE.has(reply.error.code)) {
        this.#lose(call, reply.error.code);
      } else if (UNSENDABLE.has(reply.error.code)) {
        const { code, message } = reply.error;
        call.answer = failure("invalid_result", `The result could not be sent (${code}): ${message}`);
        if (isComplaint) this.#forget(call);
        else this.#settle(call, call.answer, true);
      } else {
        call.dueAt = reply.now + RETRY_MS;
      }
    });
  }

  /** The call is not ours any more, and nobody wants our answer. */
  #lose(call: PageCall, code: string): void {
    if (code !== "claim_lost") {
      this.#end(call, { code, message: "The call has ended." });
      return;
    }
    this.#abort(call, { code, message: "Another client has taken the call." });
    // Should it be given back, it may be run again: the server knows whether that is allowed.
    call.phase = "open";
    call.isTaken = true;
    call.wasAsked = false;
    call.dueAt = Number.POSITIVE_INFINITY;
    delete call.answer;
  }

  #end(call: PageCall, reason: ErrorBody): void {
    this.#forget(call);
    this.#abort(call, reason);
  }

  #abort(call: PageCall, reason: ErrorBody): void {
    if (call.phase !== "running") return;
    this.#context.emit({ type: "abort", interruptId: call.interruptId, reason });
    this.#tell(call, { phase: "cancelled", error: errorFrom(reason) });
  }

  #forget(call: PageCall): void {
    this.#calls.delete(call.interruptId);
    this.#over.add(call.interruptId);
  }

  #isCurrent(call: PageCall, phase: PageCall["phase"]): boolean {
    return call.phase === phase && this.#calls.get(call.interruptId) === call;
  }

  #tell(
    { name, args, toolCallId }: PageCall,
    event: Pick<ToolEvent, "phase" | "result" | "error" | "duration">,
  ): void {
    const { threadId, emit } = this.#context;
    emit({ type: "tool", event: Object.freeze({ ...event, name, args, toolCallId, threadId }) });
  }
}

/** A tool result without a value. */
export function failure(code: string, message: string): ToolResult {
  return { status: "error", error: { code, message } };
}

function errorFrom({ code, message, details }: ErrorBody): FarsideError {
  return new FarsideError(code, message, { details });
}
