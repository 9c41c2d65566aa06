import type { Effect } from "../core/effects.ts";
import type { Note } from "../core/note.ts";
import { Session } from "../core/session.ts";
import type { Snapshot } from "../core/snapshot.ts";
import { FarsideError } from "../errors.ts";
import { addressOf } from "../transport/address.ts";
import { socketConstructor } from "../transport/socket.ts";
import { Transport } from "../transport/transport.ts";
import { visibility } from "../transport/visibility.ts";
import type { ToolDeclaration } from "../wire/messages.ts";
import { plain } from "../wire/values.ts";
import { Bodies } from "./bodies.ts";
import type { Identity } from "./identity.ts";
import { type SubmitInput, submissionOf } from "./input.ts";
import type { ClientContext } from "./options.ts";
import type { Thread } from "./thread.ts";

/** Another page has connected under our client id: going on would only take it from that page again. */
const SUPERSEDED = 4001;

/** By which the reply to what the application has asked for is known. */
interface Ticket {
  resolve(): void;
  reject(error: FarsideError): void;
}

/** A thread of a client: does what its session asks for. */
export class ClientThread implements Thread {
  readonly threadId: string;
  readonly #context: ClientContext;
  readonly #session: Session;
  readonly #transport: Transport;
  readonly #bodies: Bodies;
  readonly #onClose: () => void;
  #identity: Identity | undefined;
  /** Leaves the notes of other pages to others. */
  #letGo = () => {};
  readonly #tickets = new Set<Ticket>();
  readonly #listeners = new Set<() => void>();
  readonly #effects: Effect[] = [];
  #isPerforming = false;
  #isNotifying = false;
  #isConnected = false;
  #isClosed = false;
  #cancelWake = () => {};

  constructor(threadId: string, context: ClientContext, onClose: () => void) {
    const { options, clock, random } = context;
    this.threadId = threadId;
    this.#context = context;
    this.#onClose = onClose;
    const presence = this.#presence();
    const session = new Session({ threadId, agent: options.agent, presence, newId: context.newId });
    this.#session = session;
    this.#transport = new Transport({
      address: addressOf(options.url, threadId),
      encodings: options.encoding === undefined ? ["msgpack", "json"] : [options.encoding],
      WebSocket: options.WebSocket,
      clock,
      opened: () => this.#perform(session.opened(clock.now())),
      received: (message) => this.#perform(session.receive(message, clock.now())),
      closed: (code) =>
        code === SUPERSEDED ? this.close() : this.#perform(session.closed(clock.now(), random())),
    });
    this.#bodies = new Bodies({
      threadId,
      context,
      waiting: (interruptId, waiting) => this.#perform(session.bodyWaiting(interruptId, waiting)),
      progress: (interruptId, value) => this.#perform(session.bodyProgress(interruptId, value, clock.now())),
      finished: (interruptId, result) =>
        this.#perform(session.bodyFinished(interruptId, result, clock.now())),
    });
  }

  submit(input: SubmitInput): Promise<void> {
    return this.#ask((ticket) => {
      const { input: value, submission } = submissionOf(input, this.#context.newId);
      return this.#session.submit(value, submission, ticket);
    });
  }

  stop(): Promise<void> {
    return this.#ask((ticket) => this.#session.stop(ticket));
  }

  respond(interruptId: string, value: unknown): Promise<void> {
    return this.#ask((ticket) => this.#session.respond(interruptId, plain(value), ticket));
  }

  subscribe(listener: () => void): () => void {
    if (!this.#isClosed) this.connect();
    // The same listener may be given twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  getSnapshot(): Snapshot {
    return this.#session.snapshot();
  }

  /** Opens the connection, if that has not happened yet. */
  connect(): void {
    if (this.#isConnected) return;
    // Throws where there is nothing to connect with.
    socketConstructor(this.#context.options.WebSocket);
    this.#isConnected = true;
    void this.#begin();
  }

  /** The network, or the page, is back: a connection that is waited for is tried at once. */
  awake(): void {
    this.#perform(this.#session.connect(this.#context.clock.now()));
  }

  /** The page was frozen. */
  reconnect(): void {
    this.#perform(this.#session.reconnect(this.#context.clock.now()));
  }

  /** What is announced may have changed. */
  announce(): void {
    this.#perform(this.#session.announce(this.#presence()));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#perform(this.#session.close());
    this.#cancelWake();
    this.#letGo();
    for (const { reject } of this.#tickets) reject(this.#closedError());
    this.#tickets.clear();
    this.#onClose();
  }

  #presence() {
    const { tools, permissions } = this.#context;
    const declared = Array.from(tools.values(), ({ tool: { name, permissions, fingerprint } }) => {
      return { name, permissions, fingerprint };
    });
    return {
      tools: plain(declared) as unknown as ToolDeclaration[],
      ...visibility(),
      permissions: permissions.states,
    };
  }

  /** Finds out who the page is and what pages before it have left undone, and connects. */
  async #begin(): Promise<void> {
    const { identity, clock } = this.#context;
    this.#identity = await identity();
    const { notes, letGo } = await this.#identity.left(this.threadId);
    this.#letGo = letGo;
    if (this.#isClosed) letGo();
    else this.#perform(this.#session.begin(this.#identity.clientId, notes, clock.now()));
  }

  async #note(note: Note): Promise<void> {
    // An answer that cannot be noted is sent all the same.
    await this.#identity?.journal.note(note);
    this.#perform(this.#session.noted(note, this.#context.clock.now()));
  }

  /** Asks the session for something under a ticket. */
  #ask(input: (ticket: Ticket) => Effect[]): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      const ticket = { resolve, reject };
      this.#tickets.add(ticket);
      try {
        if (this.#isClosed) throw this.#closedError();
        this.connect();
        this.#perform(input(ticket));
      } catch (error) {
        if (error instanceof FarsideError) this.#perform(this.#session.failed(error));
        this.#tickets.delete(ticket);
        reject(error);
      }
    });
    // Whoever ignores the promise reads the snapshot instead.
    promise.catch(() => {});
    return promise;
  }

  #closedError(): FarsideError {
    return new FarsideError("unavailable", "The page has closed the thread. Ask the client for it again.");
  }

  /** Does what a session wants done, in order: what is asked for meanwhile comes after it. */
  #perform(effects: readonly Effect[]): void {
    this.#effects.push(...effects);
    if (this.#isPerforming) return;
    this.#isPerforming = true;
    try {
      for (let effect = this.#effects.shift(); effect !== undefined; effect = this.#effects.shift()) {
        this.#do(effect);
      }
    } finally {
      this.#isPerforming = false;
    }
  }

  #do(effect: Effect): void {
    const { clock, random, options } = this.#context;
    switch (effect.type) {
      case "send":
        try {
          this.#transport.send(effect.message, this.#session.limits);
          return;
        } catch (error) {
          if (!(error instanceof FarsideError)) throw error;
          this.#perform(this.#session.refused(effect.message.id, error, clock.now()));
          return;
        }
      case "connect":
        this.#transport.connect(effect.at);
        return;
      case "drop":
        this.#transport.drop();
        return;
      case "wake":
        this.#cancelWake();
        this.#cancelWake = clock.at(effect.at, () =>
          this.#perform(this.#session.tick(clock.now(), random())),
        );
        return;
      case "note":
        void this.#note(effect.note);
        return;
      case "forget":
        void this.#identity?.journal.forget(effect.claimId);
        return;
      case "execute":
        this.#bodies.execute(effect.call);
        return;
      case "abort":
        this.#bodies.abort(effect.interruptId, effect.reason);
        return;
      case "warn":
        console.warn("farside: schema_mismatch", effect.about);
        return;
      case "changed":
        this.#notify();
        return;
      case "tool":
        shielded(() => options.onTool?.(effect.event));
        return;
      case "custom":
        shielded(() => options.onCustom?.(effect.event));
        return;
      case "replied": {
        const ticket = effect.ticket as Ticket;
        this.#tickets.delete(ticket);
        effect.error === null ? ticket.resolve() : ticket.reject(effect.error);
        return;
      }
    }
  }

  /** Tells the listeners, once for all changes of this turn. */
  #notify(): void {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    queueMicrotask(() => {
      this.#isNotifying = false;
      for (const listener of [...this.#listeners]) shielded(listener);
    });
  }
}

/** Runs code of the application that must not break what goes on around it. */
export function shielded(run: () => void): void {
  try {
    run();
  } catch (error) {
    console.error(error);
  }
}
