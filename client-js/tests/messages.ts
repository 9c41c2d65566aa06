import type { Effect } from "../src/core/effects.ts";
import { Session } from "../src/core/session.ts";
import type { Snapshot } from "../src/core/snapshot.ts";
import type { Call, Command, Event, Method, Result, ToolResult } from "../src/wire/messages.ts";

export const LIMITS = { frame_bytes: 1_000_000, depth: 64, items: 1_000_000 };
export const WELCOME: Result<"client.announce"> = { ping_ms: 20_000, lease_ms: 30_000, limits: LIMITS };
export const SUCCESS: ToolResult = { status: "success", value: 1 };

/** A call that waits for a page. */
export function openCall(fields: Partial<Call> = {}): Call {
  return {
    interrupt_id: "i1",
    tool_call_id: "c1",
    run_id: "run-1",
    name: "get_location",
    args: { high: true },
    state: "open",
    ...fields,
  };
}

/** An event of the thread. */
export function event(seq: number, method: string, data: object, namespace: string[] = []): Event {
  return { type: "event", event_id: `e${seq}`, seq, method, params: { namespace, timestamp: 0, data } };
}

/** Drives a session the way a page does, and remembers the commands it sends. */
export class Driver {
  readonly session: Session;
  readonly sent: Command[] = [];
  now = 1_000_000;
  seq = 0;

  constructor(tools: readonly string[] = ["get_location"]) {
    this.session = new Session({
      threadId: "t",
      clientId: "me",
      agent: "assistant",
      presence: { tools, visible: true, focused: true },
    });
  }

  get snapshot(): Snapshot {
    return this.session.snapshot();
  }

  /** Notes what an input had sent; returns the other effects. */
  note(effects: Effect[]): Effect[] {
    for (const effect of effects) if (effect.type === "send") this.sent.push(effect.message);
    return effects.filter(({ type }) => type !== "send" && type !== "changed" && type !== "wake");
  }

  open(): Effect[] {
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
    return this.note(this.session.receive(message, this.now));
  }

  /** Refuses the newest command of this method. */
  refuse(method: Method, error: string, retryable = false): Effect[] {
    const { id } = this.last(method);
    return this.note(this.session.receive({ type: "error", id, error, message: error, retryable }, this.now));
  }

  /** The thread's next event. */
  event(method: string, data: object, namespace: string[] = []): Effect[] {
    this.seq += 1;
    return this.note(this.session.receive(event(this.seq, method, data, namespace), this.now));
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
    const { interrupt_id, tool_call_id, name, args } = call;
    return this.reply("call.claim", { interrupt_id, tool_call_id, name, args, lease_ms: 30_000 });
  }
}
