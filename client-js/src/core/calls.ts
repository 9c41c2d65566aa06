import type { Call, CallEnded, CallsData, ErrorBody, ToolResult } from "../wire/messages.ts";
import { giveBack, settle } from "./answer.ts";
import type { CallContext, CallsOptions } from "./call-context.ts";
import { claim, decline, release } from "./claim.ts";
import { abort, finish, note, start, tell } from "./execution.ts";
import { renew, report, reportAt } from "./lease.ts";
import type { Note } from "./note.ts";
import { isHeld, type PageCall, pageCall } from "./page-call.ts";
import { ANSWERED, ASKING, CLAIMING, FINISHING, OPEN, OVER, RELEASING, RUNNING, STARTING } from "./phase.ts";
import type { Waiting } from "./waiting.ts";

/**
 * The calls that this page executes. It notes and claims what it is offered, notes what it begins, keeps its claims, and sends
 * each answer until it is stored. It never executes a call that has ended, that it has answered, or that it does not hold.
 */
export class Calls {
  readonly #context: CallContext;
  readonly #calls = new Map<string, PageCall>();
  /** The calls that have ended, or that this page has answered. */
  readonly #over = new Set<string>();

  constructor(options: CallsOptions) {
    this.#context = {
      ...options,
      lose: (call, code) => this.#lose(call, code),
    };
  }

  /** When `tick` has something to do, while the connection is open. */
  get wakeAt(): number {
    let wakeAt = Number.POSITIVE_INFINITY;
    for (const call of this.#calls.values()) wakeAt = Math.min(wakeAt, call.dueAt, reportAt(call));
    return wakeAt;
  }

  /** Takes on what pages that are gone have noted: answers to send, calls to give back, and calls to begin. */
  adopt(notes: readonly Note[]): void {
    for (const found of notes) {
      const { interruptId, toolCallId, name, startedAt, asked, result } = found;
      // Of several notes of one call the others stay for a later page.
      if (this.#calls.has(interruptId) && !result) continue;
      const call = pageCall(interruptId, toolCallId, name, {});
      const phase = result ? ANSWERED : asked ? ASKING : RELEASING;
      this.#calls.set(interruptId, Object.assign(call, { phase, note: found, startedAt, answer: result }));
      // It becomes our own: the next page has to know whom it comes after.
      if (asked) note(this.#context, call);
    }
  }

  /** What is open now, all of it: what is not in the list has ended. */
  reconcile(calls: readonly Call[]): void {
    const open = new Set(calls.map(({ interrupt_id }) => interrupt_id));
    for (const call of this.#calls.values()) {
      // Of an answer that was not acknowledged, and of what was given back, the reply tells.
      if (open.has(call.interruptId) || !isIdle(call)) continue;
      this.#lose(call, "cancelled");
    }
    for (const call of calls) this.#opened(call);
  }

  /**
   * Follows an event. Only a live one opens, offers or frees a call: replaying events executes nothing (L7). Returns false
   * when the event is about a call that should be known.
   */
  receive(data: CallsData, isLive: boolean): boolean {
    switch (data.event) {
      case "settled":
      case "cancelled":
      case "expired":
        this.#ended(data);
        return true;
      case "opened":
        if (isLive) this.#opened(data);
        return true;
    }
    const call = isLive ? this.#calls.get(data.interrupt_id) : undefined;
    if (call === undefined) return !isLive || this.#over.has(data.interrupt_id);
    const isOurs = "client_id" in data && data.client_id === this.#context.clientId();
    if (data.event === "offered" || data.event === "released") this.#offered(call, isOurs);
    else if (data.event === "claimed" && !isOurs) {
      call.isOffered = false;
      // Of what is asked for or given back, the reply tells.
      if (call.phase !== CLAIMING && call.phase !== RELEASING) this.#lose(call, "claim_lost");
    }
    return true;
  }

  /** The journal has this note now, or could not take it. An older one says nothing. */
  noted(note: Note, now: number): void {
    const call = this.#calls.get(note.interruptId);
    if (call?.note !== note) return;
    if (call.phase === STARTING) start(this.#context, call, now);
    else if (call.phase === ASKING || call.phase === FINISHING) {
      call.phase = call.phase === ASKING ? OPEN : ANSWERED;
      this.#goOn(call, now);
    }
  }

  /** A body has ended with this result. */
  finished(interruptId: string, result: ToolResult, now: number): void {
    const call = this.#running(interruptId);
    if (call !== undefined) finish(this.#context, call, result, now);
  }

  /** A body reports what it does. */
  progressed(interruptId: string, value: unknown, now: number): void {
    const call = this.#running(interruptId);
    if (call === undefined) return;
    tell(this.#context, call, { phase: "progress", result: value });
    this.#context.shown().progressed(interruptId, value);
    call.report = { value };
    report(this.#context, call, now);
  }

  /** A body waits for the user. */
  waits(interruptId: string, waiting: Waiting): void {
    const call = this.#running(interruptId);
    if (call !== undefined) tell(this.#context, call, { phase: "waiting", ...waiting });
  }

  /** The connection is open: goes on where the last one stopped. */
  resume(now: number): void {
    for (const call of this.#calls.values()) this.#goOn(call, now);
  }

  /** The connection is lost; running bodies go on. */
  disconnected(): void {
    for (const call of this.#calls.values()) {
      call.renewal = undefined;
      call.reportAt = 0;
      // The next subscribe reply says to whom it is offered then.
      call.isOffered = false;
      if (call.phase === CLAIMING) call.phase = OPEN;
      if (call.phase === OPEN) call.dueAt = Number.POSITIVE_INFINITY;
    }
  }

  /** The run is stopped: nothing that has no result goes on. */
  stop(): void {
    const reason = { code: "cancelled", message: "The run was stopped." };
    for (const call of this.#calls.values()) if (isIdle(call)) this.#end(call, reason);
  }

  /** The thread is closed. What was begun is given back, now or by whoever finds its note; results are sent. */
  close(): void {
    const reason = { code: "cancelled", message: "The page has closed the thread." };
    for (const call of this.#calls.values()) {
      const { phase } = call;
      abort(this.#context, call, reason);
      if (phase === ASKING && call.isOffered) decline(this.#context, call, "closed");
      else if (phase === CLAIMING || phase === STARTING) {
        release(this.#context, call, "closed");
        // In case that does not arrive: it has not begun.
        call.phase = ASKING;
        note(this.#context, call);
      } else if (phase === RUNNING) giveBack(this.#context, call);
      else if (phase === FINISHING) settle(this.#context, call);
      call.phase = OVER;
    }
    this.#calls.clear();
  }

  tick(now: number): void {
    for (const call of this.#calls.values()) {
      if (now >= call.dueAt) this.#goOn(call, now);
      report(this.#context, call, now);
    }
  }

  #running(interruptId: string): PageCall | undefined {
    const call = this.#calls.get(interruptId);
    return call?.phase === RUNNING ? call : undefined;
  }

  /** Does what the call waits for. */
  #goOn(call: PageCall, now: number): void {
    call.dueAt = Number.POSITIVE_INFINITY;
    if (isHeld(call)) renew(this.#context, call);
    else if (call.phase === ANSWERED) settle(this.#context, call);
    else if (call.phase === RELEASING) giveBack(this.#context, call);
    else claim(this.#context, call);
    report(this.#context, call, now);
  }

  #opened({ interrupt_id, tool_call_id, name, args, state, client_id }: Call): void {
    if (this.#over.has(interrupt_id)) return;
    const call = this.#calls.get(interrupt_id) ?? pageCall(interrupt_id, tool_call_id, name, args);
    this.#calls.set(interrupt_id, call);
    const isOurs = client_id === this.#context.clientId();
    if (state !== "claimed") this.#offered(call, isOurs && state === "offered");
    else if (call.phase <= ASKING) {
      // It may be our claim, or that of a page that is gone: who knows its id has it.
      if (call.note !== undefined) this.#offered(call, true);
      // What the page before had noted is lost.
      else if (isOurs) giveBack(this.#context, call);
    }
  }

  #offered(call: PageCall, isOffered: boolean): void {
    call.isOffered = isOffered;
    // The claim has ended, but the body goes on if the call may be claimed again.
    if (isHeld(call)) renew(this.#context, call);
    else if (isOffered) claim(this.#context, call);
    else if (call.phase <= ASKING) this.#lose(call, "claim_lost");
  }

  /** The call is not ours any more, and nobody wants our answer. */
  #lose(call: PageCall, code: string): void {
    if (code === "claim_lost") {
      abort(this.#context, call, { code, message: "Another client has taken the call." });
      // Should it be offered to us, it may be run again: the server knows whether that is allowed.
      this.#drop(call);
      call.phase = OPEN;
      call.dueAt = Number.POSITIVE_INFINITY;
      claim(this.#context, call);
    } else {
      this.#end(call, { code, message: "The call has ended." });
    }
  }

  #ended({ interrupt_id, result }: CallEnded): void {
    this.#over.add(interrupt_id);
    const call = this.#calls.get(interrupt_id);
    if (call === undefined) return;
    if (result.status === "error") this.#end(call, result.error);
    else this.#lose(call, "call_settled");
  }

  #end(call: PageCall, reason: ErrorBody): void {
    abort(this.#context, call, reason);
    this.#drop(call);
    this.#calls.delete(call.interruptId);
    this.#over.add(call.interruptId);
    call.phase = OVER;
  }

  /** Nothing of the claim is needed any more. */
  #drop(call: PageCall): void {
    if (call.note !== undefined) this.#context.emit({ type: "forget", claimId: call.note.claimId });
    call.note = call.answer = undefined;
  }
}

/** Whether nothing has come of the call that the server must hear. */
function isIdle({ phase }: PageCall): boolean {
  return phase < FINISHING;
}
