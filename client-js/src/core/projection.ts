import { FarsideError } from "../errors.ts";
import type {
  CallsData,
  Event,
  InputRequestedData,
  LifecycleData,
  MessagesData,
  StateGetResult,
  SubscribeResult,
  ToolsData,
} from "../wire/messages.ts";
import { isObject } from "../wire/values.ts";
import { Conversation } from "./conversation.ts";
import { messagesIn, Queue } from "./queue.ts";
import type { ConnectionState, Interrupt, Snapshot, ThreadStatus } from "./snapshot.ts";
import type { ToolCalls } from "./tool-calls.ts";

const NONE: readonly Interrupt[] = [];

/** What the application has sent, as a run that the server has not told of yet. */
export interface Submission {
  readonly runId: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

/** Makes snapshots out of the thread's state and its events. */
export class Projection {
  readonly #threadId: string;
  #connection: ConnectionState = "connecting";
  #conversation = new Conversation();
  #status: ThreadStatus = "loading";
  /** The newest run that the server told of. */
  #runId: string | undefined;
  /** The runs that it has not told of, by their ids, and those of them that it has accepted. */
  readonly #submissions = new Map<string, Submission>();
  readonly #accepted = new Set<string>();
  /** The messages that are shown although the server has not confirmed them. */
  readonly #unconfirmed = new Set<string>();
  #queue = new Queue();
  #interrupts = NONE;
  #error: FarsideError | null = null;
  /** Why the last submit was refused: that stays true when the thread's state comes after it. */
  #refusal: FarsideError | null = null;
  #isStale = true;
  #snapshot: Snapshot | undefined;

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  get toolCalls(): ToolCalls {
    return this.#conversation.toolCalls;
  }

  /**
   * The runs that `stop` is about: the one under way, with which the server ends those that are queued, and those that it has not
   * told of.
   */
  get runsToStop(): readonly (string | undefined)[] {
    const active = this.#status === "running" ? [this.#runId] : [];
    const runs = [...active, ...this.#submissions.keys()];
    return runs.length > 0 ? runs : [undefined];
  }

  /** Whether anything has changed since the last look. */
  takeChange(): boolean {
    const changed = this.#isStale;
    this.#isStale = false;
    return changed;
  }

  snapshot(): Snapshot {
    const { messages, toolCalls } = this.#conversation;
    const next: Snapshot = {
      threadId: this.#threadId,
      connection: this.#connection,
      status: this.#submissions.size + this.#queue.runs.length > 0 ? "running" : this.#status,
      toolCalls: toolCalls.views.all(),
      messages: messages.all(),
      interrupts: this.#interrupts,
      queued: this.#queue.runs,
      error: this.#error,
    };
    const last = this.#snapshot;
    const isSame =
      last !== undefined && (Object.keys(next) as (keyof Snapshot)[]).every((key) => next[key] === last[key]);
    if (!isSame) this.#snapshot = next;
    return this.#snapshot as Snapshot;
  }

  /** Something outside of the events has changed a tool call. */
  changed(): void {
    this.#isStale = true;
  }

  connected(connection: ConnectionState): void {
    this.#connection = connection;
    this.changed();
  }

  failed(error: FarsideError): void {
    this.#error = error;
    this.changed();
  }

  /** Begins anew with the thread's state; without one the thread is empty. */
  load(state?: StateGetResult): void {
    this.#conversation = new Conversation();
    this.#unconfirmed.clear();
    this.#queue = new Queue();
    this.#interrupts = NONE;
    this.#status = "idle";
    this.#error = this.#refusal;
    this.#runId = state?.run?.run_id;
    const messages = state?.values["messages"];
    if (Array.isArray(messages)) {
      for (const [index, message] of messages.entries()) this.#conversation.add(message, `state:${index}`);
    }
    for (const call of state?.calls ?? []) this.toolCalls.opened(call);
    const run = state?.run;
    if (run?.status === "running") this.#status = "running";
    else this.#conversation.runEnded();
    if (run?.status === "failed") this.#fail(run.error?.code, run.error?.message);
    for (const { run_id, input } of state?.queued ?? []) this.#enqueue(run_id, input);
    for (const [runId, submission] of this.#submissions) {
      const isNewest = runId === run?.run_id;
      const isAccepted = this.#accepted.has(runId);
      // An accepted one that the state does not tell of is over.
      if (isNewest || !isAccepted) this.#show(submission);
      if (isNewest || isAccepted) this.#told(runId);
    }
    this.changed();
  }

  /**
   * What is open now, as the subscribe reply tells. A call that is still unknown comes with the events that are
   * replayed after it, in its place among the others.
   */
  open({ calls = [], interrupts = [], replayed_events }: SubscribeResult): void {
    for (const call of calls) {
      if (replayed_events === 0 || this.toolCalls.has(call.interrupt_id)) this.toolCalls.opened(call);
    }
    const open = interrupts.map(({ interrupt_id, payload }) => ({ id: interrupt_id, payload }));
    this.#interrupts = open.length === 0 ? NONE : open;
    this.changed();
  }

  /** The application has submitted something. */
  submitted(submission: Submission): void {
    this.#submissions.set(submission.runId, submission);
    this.#error = this.#refusal = null;
    this.#show(submission);
    this.changed();
  }

  /** The server has answered a submission. What becomes of the run, its events tell, or have told. */
  submissionReplied(runId: string, error: FarsideError | null): void {
    const submission = this.#submissions.get(runId);
    if (submission === undefined) return;
    if (error === null) this.#accepted.add(runId);
    else {
      this.#told(runId);
      this.#takeBack(submission.messages);
      this.#error = this.#refusal = error;
      this.changed();
    }
  }

  /** The application has answered an interrupt. */
  responded(interruptId: string): void {
    this.#interrupts = this.#interrupts.filter(({ id }) => id !== interruptId);
    this.changed();
  }

  /**
   * Follows an event. What it does not know changes nothing. An event that is not live is older than what `open` told:
   * it opens and closes no interrupt.
   */
  receive({ event_id, method, params: { namespace, data } }: Event, isLive: boolean): void {
    switch (method) {
      case "lifecycle":
        if (namespace.length > 0) return;
        this.#lifecycle(data as LifecycleData, event_id, isLive);
        break;
      case "messages":
        // Deeper ones are what agents inside of tools say.
        if (namespace.length > 1) return;
        this.#conversation.receive(data as MessagesData, namespace);
        break;
      case "calls":
        this.toolCalls.receiveCall(data as CallsData);
        break;
      case "tools":
        this.toolCalls.receiveTool(data as ToolsData);
        break;
      case "input.requested":
        if (isLive) this.#input(data as InputRequestedData);
        break;
      default:
        return;
    }
    this.changed();
  }

  #lifecycle(data: LifecycleData, eventId: string, isLive: boolean): void {
    const { event, run_id, code } = data;
    this.#told(run_id);
    this.#queue.remove(run_id);
    if (event === "queued") {
      this.#enqueue(run_id, data.input);
    } else if (event === "running") {
      if (isLive) this.#interrupts = NONE;
      if (data.input === undefined) this.#conversation.runRecovered();
      this.#runId = run_id;
      this.#status = "running";
      this.#error = null;
      for (const [index, message] of messagesIn(data.input).entries()) {
        // What this page has said already has its place now.
        this.#takeBack([message]);
        this.#conversation.add(message, `${eventId}:${index}`);
      }
      // Interrupted without a code it pauses: it goes on when it is answered.
    } else if (
      event === "completed" ||
      event === "failed" ||
      (event === "interrupted" && code !== undefined)
    ) {
      // The end of a run that another one has replaced, or that was queued, says nothing about the one under way.
      const isOther = (run_id ?? this.#runId) !== (this.#runId ?? run_id);
      if (isOther && this.#status === "running") return;
      if (isLive) this.#interrupts = NONE;
      this.#status = "idle";
      this.#conversation.runEnded();
      if (event === "failed") this.#fail(code, data.error);
    }
  }

  /** The server has told of a run: from now on what it tells is what is so. */
  #told(runId: string | undefined): void {
    this.#submissions.delete(runId as string);
    this.#accepted.delete(runId as string);
  }

  #fail(code = "agent_failed", message = "The run failed."): void {
    this.#status = "failed";
    this.#error = new FarsideError(code, message);
  }

  /** The run waits for its turn: so do its messages, if they are shown already. */
  #enqueue(runId: string | undefined, input: unknown): void {
    if (runId === undefined) return;
    this.#told(runId);
    this.#takeBack(messagesIn(input));
    this.#queue.add(runId, input);
  }

  #takeBack(messages: readonly unknown[]): void {
    for (const message of messages) {
      const id = isObject(message) ? String(message["id"]) : "";
      if (this.#unconfirmed.delete(id)) this.#conversation.remove(id);
    }
  }

  #input({ interrupt_id, payload }: InputRequestedData): void {
    // Of a tool call the channel `calls` tells more.
    if (isObject(payload) && payload["type"] === "tool" && isObject(payload["tool_call"])) return;
    if (this.#interrupts.some(({ id }) => id === interrupt_id)) return;
    this.#interrupts = [...this.#interrupts, { id: interrupt_id, payload }];
  }

  #show({ messages }: Submission): void {
    for (const message of messages) {
      const id = String(message["id"]);
      if (!this.#conversation.has(id)) this.#unconfirmed.add(id);
      this.#conversation.add(message, id);
    }
  }
}
