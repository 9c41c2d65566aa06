import type { Effect } from "../src/core/effects.ts";
import type { Note } from "../src/core/note.ts";
import { Session } from "../src/core/session.ts";
import type { Snapshot } from "../src/core/snapshot.ts";
import type {
  Call,
  Command,
  Event,
  Method,
  Result,
  ServerMessage,
  ToolResult,
} from "../src/wire/messages.ts";

export const LIMITS = { frame_bytes: 1_000_000, depth: 64, items: 1_000_000 };
export const WELCOME: Result<"client.announce"> = { ping_ms: 20_000, lease_ms: 30_000, limits: LIMITS };
export const SUCCESS: ToolResult = { status: "success", value: 1 };

/** A call that is offered to the page `me`, unless it is told otherwise. */
export function openCall(fields: Partial<Call> = {}): Call {
  return {
    interrupt_id: "i1",
    tool_call_id: "c1",
    run_id: "run-1",
    name: "get_location",
    args: { high: true },
    state: "offered",
    ...(fields.state === undefined ? { client_id: "me" } : {}),
    ...fields,
  };
}

/** The reply to the claim of a call. */
export function claimOf({ interrupt_id, tool_call_id, name, args }: Call) {
  return { interrupt_id, tool_call_id, name, args, lease_ms: 30_000 };
}

/** A note of that call, as a page that is gone has left it. */
export function noteOf(fields: Partial<Note> = {}): Note {
  return {
    threadId: "t",
    interruptId: "i1",
    claimId: "claim-1",
    clientId: "me",
    name: "get_location",
    toolCallId: "c1",
    startedAt: 1_000_000,
    ...fields,
  };
}

/** An event of the thread. */
export function event(seq: number, method: string, data: object, namespace: string[] = []): Event {
  return { type: "event", event_id: `e${seq}`, seq, method, params: { namespace, timestamp: 0, data } };
}

/** What a page with these tools announces. */
export function presenceOf(tools: readonly string[], fields: object = {}) {
  const declared = tools.map((name) => ({ name }));
  return { tools: declared, visible: true, focused: true, permissions: {}, ...fields };
}

/** How a {@link Driver} begins. */
interface DriverOptions {
  readonly notes?: readonly Note[];
  /** Whether notes are stored at once; else they are effects, and the test says when. */
  readonly isNoting?: boolean;
}

/** Drives a session the way a page does, and remembers the commands it sends. */
export class Driver {
  readonly session: Session;
  readonly sent: Command[] = [];
  /** What the journal has been told to note, in order. */
  readonly notes: Note[] = [];
  now = 1_000_000;
  seq = 0;
  /** How many messages the connection has brought. */
  received = 0;
  readonly #isNoting: boolean;

  constructor(tools: readonly string[] = ["get_location"], options: DriverOptions = {}) {
    const { notes = [], isNoting = true } = options;
    this.#isNoting = isNoting;
    let claims = 0;
    const newId = (kind: string) => `${kind}-${++claims}`;
    this.session = new Session({ threadId: "t", agent: "assistant", presence: presenceOf(tools), newId });
    this.note(this.session.begin("me", notes, this.now));
  }

  get snapshot(): Snapshot {
    return this.session.snapshot();
  }

  /** Notes what an input had sent; returns the other effects. */
  note(effects: Effect[]): Effect[] {
    return effects.flatMap((effect) => {
      switch (effect.type) {
        case "send":
          this.sent.push(effect.message);
          return [];
        case "changed":
        case "wake":
          return [];
        case "note":
          this.notes.push(effect.note);
          return this.#isNoting ? this.noted(effect.note) : [effect];
        case "forget":
          return this.#isNoting ? [] : [effect];
        default:
          return [effect];
      }
    });
  }

  /** The journal has stored a note: the newest, unless it is told otherwise. */
  noted(note = this.notes.at(-1)): Effect[] {
    if (note === undefined) throw new Error("expected the session to note something");
    return this.note(this.session.noted(note, this.now));
  }

  open(): Effect[] {
    this.received = 0;
    return this.note(this.session.opened(this.now));
  }

  close(): Effect[] {
    return this.note(this.session.closed(this.now, 0.5));
  }

  /** The newest command of this method. */
  last(method: Method): Command {
    const command = this.sent.filter((each) => each.method === method).at(-1);
    if (command === undefined) throw new Error(`expected the session to send ${method}`);
    return command;
  }

  count(method: Method): number {
    return this.sent.filter((each) => each.method === method).length;
  }

  /** Answers the newest command of this method. */
  reply<M extends Method>(method: M, result: Result<M>, seq: number = this.seq): Effect[] {
    const { id } = this.last(method);
    const meta = { applied_through_seq: seq };
    const message = { type: "success", id, result: result as Record<string, unknown>, meta } as const;
    return this.receive(message);
  }

  /** Refuses the newest command of this method. */
  refuse(method: Method, error: string, retryable = false): Effect[] {
    const { id } = this.last(method);
    return this.receive({ type: "error", id, error, message: error, retryable });
  }

  /** The thread's next event. */
  event(method: string, data: object, namespace: string[] = []): Effect[] {
    this.seq += 1;
    return this.receive(event(this.seq, method, data, namespace));
  }

  /** The server pings, and has counted that many messages more than have come. */
  ping(difference = 0): Effect[] {
    return this.receive({ type: "ping", sent: this.received + difference });
  }

  receive(message: ServerMessage): Effect[] {
    this.received += 1;
    return this.note(this.session.receive(message, this.now));
  }

  tick(ms: number): Effect[] {
    this.now += ms;
    return this.note(this.session.tick(this.now, 0.5));
  }

  /** Opens the connection and gets through what is said first. */
  welcome(state?: Result<"state.get">, calls: Call[] = []): this {
    this.open();
    this.reply("client.announce", WELCOME);
    if (state === undefined) this.refuse("state.get", "not_found");
    else this.reply("state.get", state);
    this.subscribed(calls);
    this.sent.length = 0;
    return this;
  }

  subscribed(calls: Call[] = [], interrupts: Result<"subscription.subscribe">["interrupts"] = []): Effect[] {
    return this.reply("subscription.subscribe", {
      subscription_id: "s",
      replayed_events: 0,
      calls,
      interrupts,
    });
  }

  /** A call is opened and claimed, and its body runs. */
  execute(fields: Partial<Call> = {}): Effect[] {
    const call = openCall(fields);
    this.event("calls", { event: "opened", ...call });
    return this.reply("call.claim", claimOf(call));
  }
}
