import { FarsideError } from "../errors.ts";
import type { CallsData, CustomData, Event, ServerMessage, ToolResult } from "../wire/messages.ts";
import { DEFAULT_LIMITS, type Limits } from "../wire/values.ts";
import { Calls } from "./calls.ts";
import type { Effect } from "./effects.ts";
import { Feed } from "./feed.ts";
import { errorOf, Link } from "./link.ts";
import type { Note } from "./note.ts";
import { Outbox } from "./outbox.ts";
import type { Presence } from "./presence.ts";
import { Projection, type Submission } from "./projection.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Waiting } from "./waiting.ts";

/** How long a connection may take to open. */
const OPENING_MS = 15_000;

/** What a session is about. */
export interface SessionOptions {
  readonly threadId: string;
  readonly agent: string;
  readonly presence: Presence;
  /** Makes an id that nobody can guess. */
  readonly newId: (kind: "claim") => string;
}

/**
 * One thread as one page sees it: a state machine without sockets, timers or randomness. Each input returns the
 * effects that it asks for, in order; times are milliseconds since the epoch.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #projection: Projection;
  readonly #link: Link;
  readonly #feed: Feed;
  readonly #outbox: Outbox;
  readonly #calls: Calls;
  #effects: Effect[] = [];
  /** Who the page is: not known before `begin`. */
  #clientId = "";
  /** The pages that are gone, for whose calls this one answers, if there are any. */
  #gone: { readonly replaces?: string[] } = {};
  #presence: Presence;
  #limits: Limits = DEFAULT_LIMITS;
  /** When the next connection is to be opened, or was. */
  #connectAt = Number.POSITIVE_INFINITY;
  /** When a connection that has not opened by then is given up. */
  #openingUntil = Number.POSITIVE_INFINITY;
  #wakeAt = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #hasMissed = false;

  constructor(options: SessionOptions) {
    const emit = (effect: Effect) => this.#emit(effect);
    this.#options = options;
    this.#presence = options.presence;
    this.#projection = new Projection(options.threadId);
    this.#link = new Link(emit);
    this.#feed = new Feed({
      link: this.#link,
      loaded: (state) => this.#projection.load(state),
      subscribed: (open) => {
        this.#projection.open(open);
        this.#calls.reconcile(open.calls ?? []);
      },
      received: (event, isLive) => this.#event(event, isLive),
      failed: (error) => this.#projection.failed(error),
    });
    this.#outbox = new Outbox(this.#link);
    this.#calls = new Calls({
      threadId: options.threadId,
      newId: options.newId,
      clientId: () => this.#clientId,
      link: this.#link,
      emit,
      implements: (name) => this.#presence.tools.some((tool) => tool.name === name),
      shown: () => this.#projection.toolCalls,
    });
  }

  /** How large a frame the server takes. */
  get limits(): Limits {
    return this.#limits;
  }

  snapshot(): Snapshot {
    return this.#projection.snapshot();
  }

  // --- the connection -------------------------------------------------------------------------------------------

  /** Asks for the first connection. `notes` are those of pages that are gone: this one answers for them. */
  begin(clientId: string, notes: readonly Note[], now: number): Effect[] {
    this.#clientId = clientId;
    if (notes.length > 0) this.#gone = { replaces: [...new Set(notes.map((note) => note.clientId))] };
    this.#calls.adopt(notes);
    return this.connect(now);
  }

  /** The network, or the page, is back: does not wait any longer with the next connection. */
  connect(now: number): Effect[] {
    if (this.#isAwake && !this.#link.isOpen && this.#connectAt > now) this.#connectBy(now);
    return this.#flush();
  }

  /** The page was frozen: what the connection is worth nobody knows, so it is given up for a new one. */
  reconnect(now: number): Effect[] {
    if (this.#isAwake) this.#beginAnew(now);
    return this.#flush();
  }

  /** A connection is open. */
  opened(now: number): Effect[] {
    this.#connectAt = Number.POSITIVE_INFINITY;
    this.#link.opened(now);
    this.#projection.connected("open");
    this.#announce();
    // What is sent before the state is asked for, the state tells of.
    const { isLoaded } = this.#feed;
    if (!isLoaded) this.#outbox.resume();
    this.#feed.resume();
    if (isLoaded) this.#outbox.resume();
    this.#calls.resume(now);
    return this.#flush();
  }

  /** A message has arrived, or what is none. */
  receive(message: ServerMessage | FarsideError, now: number): Effect[] {
    try {
      if (!this.#link.heard(message, now)) this.#beginAnew(now);
      else if (message instanceof FarsideError) this.#projection.failed(message);
      else this.#take(message, now);
      // It tells of what another message should have told.
      if (this.#hasMissed) this.#beginAnew(now);
    } catch (cause) {
      // Only the envelope has been checked.
      const expected = "expected a message as the protocol's schema has it";
      this.#projection.failed(new FarsideError("malformed_frame", expected, { cause }));
    }
    return this.#flush();
  }

  /** A command could not be sent: for whoever waits for its reply, this is it. */
  refused(id: number, { code, message }: FarsideError, now: number): Effect[] {
    this.#link.reply({ type: "error", id, error: code, message }, now);
    return this.#flush();
  }

  /** Something went wrong that belongs to no command. */
  failed(error: FarsideError): Effect[] {
    this.#projection.failed(error);
    return this.#flush();
  }

  /** The connection is lost, or could not be made. `jitter` is a number in [0, 1). */
  closed(now: number, jitter: number): Effect[] {
    if (!this.#isClosed) this.#lost(now, jitter);
    return this.#flush();
  }

  /** Time has passed: `wake` asked for this. */
  tick(now: number, jitter: number): Effect[] {
    this.#wakeAt = Number.POSITIVE_INFINITY;
    const { isOpen } = this.#link;
    if (isOpen ? !this.#link.tick(now) : now >= this.#openingUntil) this.#giveUp(now, jitter);
    else if (isOpen) {
      this.#feed.tick(now);
      this.#calls.tick(now);
    }
    return this.#flush();
  }

  // --- the application ------------------------------------------------------------------------------------------

  /** Starts a run. Its messages are shown at once. */
  submit(input: unknown, submission: Submission, ticket: unknown): Effect[] {
    const { runId } = submission;
    this.#projection.submitted(submission);
    const params = { assistant_id: this.#options.agent, input, run_id: runId };
    this.#outbox.post("run.start", params, (error) => {
      this.#projection.submissionReplied(runId, error);
      this.#emit({ type: "replied", ticket, error });
    });
    return this.#flush();
  }

  /** Stops the run, and at once what this page executes for it. */
  stop(ticket: unknown): Effect[] {
    const runs = new Set(this.#projection.runsToStop);
    let failure: FarsideError | null = null;
    this.#calls.stop();
    for (const runId of runs) {
      this.#outbox.post("run.cancel", runId === undefined ? {} : { run_id: runId }, (error) => {
        if (error?.code !== "no_such_run") failure ??= error;
        runs.delete(runId);
        if (runs.size === 0) this.#emit({ type: "replied", ticket, error: failure });
      });
    }
    return this.#flush();
  }

  /** Answers an interrupt. */
  respond(interruptId: string, value: unknown, ticket: unknown): Effect[] {
    const responses = [{ interrupt_id: interruptId, response: value, namespace: [] }];
    this.#outbox.post("input.respond", { responses }, (error, isRepeated) => {
      const isStored = error === null || (isRepeated && error.code === "call_settled");
      if (isStored) this.#projection.responded(interruptId);
      this.#emit({ type: "replied", ticket, error: isStored ? null : error });
    });
    return this.#flush();
  }

  /** This page implements other tools, may do other things, or is seen or hidden. */
  announce(presence: Presence): Effect[] {
    const isNew = JSON.stringify(presence) !== JSON.stringify(this.#presence);
    this.#presence = presence;
    if (isNew) this.#announce();
    return this.#flush();
  }

  /** The journal has this note now, or could not take it. */
  noted(note: Note, now: number): Effect[] {
    this.#calls.noted(note, now);
    return this.#flush();
  }

  /** A body waits for the user before it begins. */
  bodyWaiting(interruptId: string, waiting: Waiting): Effect[] {
    this.#calls.waits(interruptId, waiting);
    return this.#flush();
  }

  /** A body reports what it does. */
  bodyProgress(interruptId: string, value: unknown, now: number): Effect[] {
    this.#calls.progressed(interruptId, value, now);
    this.#projection.changed();
    return this.#flush();
  }

  /** A body has ended. */
  bodyFinished(interruptId: string, result: ToolResult, now: number): Effect[] {
    this.#calls.finished(interruptId, result, now);
    return this.#flush();
  }

  /** The application needs the thread no longer; running bodies are aborted. */
  close(): Effect[] {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#calls.close();
      this.#link.closed(0, 0);
      this.#openingUntil = Number.POSITIVE_INFINITY;
      this.#projection.connected("closed");
      this.#emit({ type: "drop" });
    }
    return this.#flush();
  }

  // --- within ---------------------------------------------------------------------------------------------------

  /** Whether there is, or should be, a connection. */
  get #isAwake(): boolean {
    return this.#clientId !== "" && !this.#isClosed;
  }

  #emit(effect: Effect): void {
    this.#effects.push(Object.freeze(effect));
  }

  /** Ends an input: adds what follows from all of it, and hands over the effects. */
  #flush(): Effect[] {
    if (this.#projection.takeChange()) this.#emit({ type: "changed" });
    const { isOpen, wakeAt: checkAt } = this.#link;
    const wakeAt = isOpen ? Math.min(checkAt, this.#feed.wakeAt, this.#calls.wakeAt) : this.#openingUntil;
    const isNew = wakeAt !== this.#wakeAt && wakeAt !== Number.POSITIVE_INFINITY;
    if (isNew) this.#emit({ type: "wake", at: wakeAt });
    this.#wakeAt = wakeAt;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #connectBy(at: number): void {
    this.#connectAt = at;
    this.#openingUntil = at + OPENING_MS;
    this.#emit({ type: "connect", at });
  }

  #beginAnew(now: number): void {
    this.#hasMissed = false;
    this.#feed.missed();
    this.#giveUp(now, 0);
  }

  #giveUp(now: number, jitter: number): void {
    this.#emit({ type: "drop" });
    this.#lost(now, jitter);
  }

  #lost(now: number, jitter: number): void {
    this.#calls.disconnected();
    this.#projection.connected("connecting");
    this.#connectBy(this.#link.closed(now, jitter));
  }

  #announce(): void {
    const params = { client_id: this.#clientId, ...this.#gone, ...this.#presence };
    this.#link.send("client.announce", params, ({ result, error, now }) => {
      if (error !== undefined) return this.#projection.failed(error);
      this.#limits = result.limits;
      this.#link.settledIn(result.ping_ms, now);
      if (result.mismatches) this.#emit({ type: "warn", about: result.mismatches });
    });
  }

  #take(message: ServerMessage, now: number): void {
    if (message.type === "event") this.#feed.receive(message);
    else if (message.type !== "ping" && !this.#link.reply(message, now)) {
      if (message.type === "error" && message.id === null) this.#projection.failed(errorOf(message));
    }
  }

  #event(event: Event, isLive: boolean): void {
    this.#projection.receive(event, isLive);
    const { data } = event.params;
    if (event.method === "calls") this.#hasMissed = !this.#calls.receive(data as CallsData, isLive);
    else if (event.method === "custom") {
      this.#emit({ type: "custom", event: { ...(data as CustomData), threadId: this.#options.threadId } });
    }
  }
}
