import {
  type FakeConnection,
  FakeServer,
  type ManualClock,
  type ReceivedCommand,
} from "../src/testing/index.ts";
import type { Call, Event, ToolResult } from "../src/wire/messages.ts";
import { LIMITS } from "./messages.ts";

const LEASE_MS = 8_000;
const OFFER_MS = 3_000;
const PING_MS = 5_000;

interface ModelCall {
  readonly call: Call;
  readonly isIdempotent: boolean;
  /** The ids of all claims there were, the newest last. */
  readonly claims: string[];
  /** Until then an offer is to be taken, or a claim renewed. */
  until: number;
  result?: ToolResult;
}

/** What a server must do, in a few lines and in memory: one thread, runs that make calls, offers, claims with leases. */
export class ModelServer {
  readonly fake = new FakeServer({ received: (command, connection) => this.#receive(command, connection) });
  readonly calls = new Map<string, ModelCall>();
  /** Whether the network loses this command, the reply to it, or this event. */
  loses: (what: "command" | "reply" | "event") => boolean = () => false;
  readonly #clock: ManualClock;
  readonly #random: () => number;
  readonly #callsPerRun: number;
  readonly #log: Event[] = [];
  readonly #runs = new Map<string, "running" | "completed">();
  readonly #pages = new Map<FakeConnection, string>();
  readonly #listeners = new Set<FakeConnection>();
  /** Connections on which something got lost in the middle, as when a page is frozen. Their pages have not noticed yet. */
  readonly doubtful = new Set<FakeConnection>();
  #pingAt = 0;

  constructor(clock: ManualClock, random: () => number, callsPerRun: number) {
    this.#clock = clock;
    this.#random = random;
    this.#callsPerRun = callsPerRun;
  }

  get isIdle(): boolean {
    return [...this.#runs.values()].every((status) => status === "completed");
  }

  /** Offers and leases end, and connections are asked whether anybody is there. */
  tick(): void {
    const now = this.#clock.now();
    for (const model of this.calls.values()) {
      const { state, client_id } = model.call;
      if (model.result !== undefined) continue;
      const isHeard = this.#candidates().includes(String(client_id));
      if (state === "open" || (state === "offered" && (now >= model.until || !isHeard))) this.#offer(model);
      else if (state === "claimed" && now >= model.until) this.#lose(model);
    }
    const isTime = now >= this.#pingAt;
    if (isTime) this.#pingAt = now + PING_MS;
    for (const connection of this.#pages.keys()) {
      if (connection.isOpen && (isTime || this.doubtful.has(connection))) connection.ping();
    }
    this.doubtful.clear();
  }

  #receive(command: ReceivedCommand, connection: FakeConnection): void {
    const loses = (what: "command" | "reply") => this.loses(what) && !this.doubtful.has(connection);
    const reply = loses("command") ? undefined : this.#carryOut(command, connection);
    if (reply === undefined || loses("reply")) {
      connection.drop();
      return;
    }
    // The state is always without history: all of it is replayed.
    const meta = { applied_through_seq: command.method === "state.get" ? 0 : this.#log.length };
    if (typeof reply === "string")
      connection.send({ type: "error", id: command.id, error: reply, message: reply, meta });
    else connection.send({ type: "success", id: command.id, result: reply as Record<string, unknown>, meta });
    if (command.method === "subscription.subscribe") {
      for (const event of this.#log.slice(Number(command.params["since"]))) connection.send(event);
      this.#listeners.add(connection);
    }
  }

  #carryOut({ method, params }: ReceivedCommand, connection: FakeConnection): object | string {
    const page = this.#pages.get(connection) ?? "";
    switch (method) {
      case "client.announce":
        this.#pages.set(connection, String(params["client_id"]));
        return { ping_ms: PING_MS, lease_ms: LEASE_MS, limits: LIMITS };
      case "state.get":
        return this.#runs.size === 0 ? "not_found" : { values: {}, calls: [] };
      case "subscription.subscribe": {
        const open = [...this.calls.values()].filter(({ result }) => result === undefined);
        const replayed = this.#log.length - Number(params["since"]);
        return {
          subscription_id: "s",
          replayed_events: replayed,
          calls: open.map(({ call }) => ({ ...call })),
        };
      }
      case "run.start":
        return this.#start(String(params["run_id"]), params["input"]);
      case "call.claim":
      case "call.progress":
      case "call.settle":
      case "call.release":
        return this.#call(method, params, page);
      default:
        return {};
    }
  }

  #call(
    method: "call.claim" | "call.progress" | "call.settle" | "call.release",
    params: Record<string, unknown>,
    page: string,
  ): object | string {
    const model = this.calls.get(String(params["interrupt_id"]));
    if (model === undefined) return "not_found";
    if (model.result !== undefined) return "call_settled";
    const { call, claims } = model;
    const claimId = params["claim_id"] as string;
    const isOurs = call.client_id === page;
    const isOffered = call.state === "offered" && isOurs;
    const isProven = call.state === "claimed" && claimId === claims.at(-1);
    if (method === "call.settle") {
      // A late answer counts, unless somebody else has claimed the call since.
      const wasOurs = call.state !== "claimed" && claims.includes(claimId);
      if (!isProven && !wasOurs) return "claim_lost";
      this.#end(model, params["result"] as ToolResult);
      return { result: params["result"] as object };
    }
    if (method === "call.release") {
      const isForgotten = call.state === "claimed" && isOurs && claimId === undefined;
      const isStarted = params["started"] === true;
      if (isStarted && (isProven || isForgotten)) this.#lose(model);
      else if (!isStarted && (isProven || (isOffered && claimId === undefined))) this.#offer(model, page);
      else return "claim_lost";
      return {};
    }
    const isFree = method === "call.claim" && (call.state === "open" || isOffered);
    if (!isProven && !isFree) return "claim_lost";
    model.until = this.#clock.now() + LEASE_MS;
    if (!isProven) {
      const isTaken = [...this.calls.values()].some(
        (other) => other !== model && other.claims.includes(claimId),
      );
      if (claimId === undefined || isTaken) throw new Error(`${claimId} does not name this claim alone`);
      claims.push(claimId);
    }
    if (!isProven || !isOurs) {
      Object.assign(call, { state: "claimed", client_id: page });
      this.#publish("calls", { event: "claimed", interrupt_id: call.interrupt_id, client_id: page });
    }
    return { ...call, lease_ms: LEASE_MS };
  }

  #start(runId: string, input: unknown): object {
    if (this.#runs.has(runId)) return { run_id: runId };
    this.#runs.set(runId, "running");
    this.#publish("lifecycle", { event: "running", run_id: runId, input });
    for (let count = 0; count < this.#callsPerRun; count++) {
      const id = `${runId}:${count}`;
      const call: Call = {
        interrupt_id: id,
        tool_call_id: id,
        run_id: runId,
        name: "work",
        args: { id },
        state: "open",
      };
      const model: ModelCall = { call, isIdempotent: count === 0, claims: [], until: 0 };
      this.calls.set(id, model);
      this.#publish("calls", { event: "opened", ...call });
      this.#offer(model);
    }
    return { run_id: runId };
  }

  /** Those that may be offered a call. */
  #candidates(): string[] {
    const heard = [...this.#listeners].filter(({ isOpen }) => isOpen);
    return heard.flatMap((connection) => this.#pages.get(connection) ?? []);
  }

  #offer({ call, ...model }: ModelCall, except?: string): void {
    const candidates = this.#candidates().filter((page) => page !== except);
    const client_id = candidates[Math.floor(this.#random() * candidates.length)];
    const { interrupt_id, state } = call;
    delete call.client_id;
    if (client_id === undefined) {
      call.state = "open";
      if (state !== "open") this.#publish("calls", { event: "released", interrupt_id });
      return;
    }
    Object.assign(call, { state: "offered", client_id });
    Object.assign(this.calls.get(interrupt_id) ?? model, { until: this.#clock.now() + OFFER_MS });
    this.#publish("calls", { event: "offered", interrupt_id, client_id });
  }

  /** Nobody knows what has become of the call. */
  #lose(model: ModelCall): void {
    if (model.isIdempotent) this.#offer(model);
    else this.#end(model, { status: "error", error: { code: "interrupted", message: "gone" } });
  }

  #end(model: ModelCall, result: ToolResult): void {
    const { interrupt_id, tool_call_id, name, run_id } = model.call;
    model.result = result;
    this.#publish("calls", { event: "settled", interrupt_id, tool_call_id, name, result });
    if ([...this.calls.values()].some(({ call, result }) => call.run_id === run_id && result === undefined))
      return;
    this.#runs.set(run_id, "completed");
    this.#publish("lifecycle", { event: "completed", run_id });
  }

  #publish(method: string, data: object): void {
    const seq = this.#log.length + 1;
    const event: Event = {
      type: "event",
      event_id: `e${seq}`,
      seq,
      method,
      params: { namespace: [], timestamp: this.#clock.now(), data },
    };
    this.#log.push(event);
    for (const listener of this.#listeners) {
      if (!listener.isOpen) continue;
      if (this.loses("event")) {
        this.doubtful.add(listener);
        listener.lose();
      } else listener.send(event);
    }
  }
}
