import {
  type FakeConnection,
  FakeServer,
  type ManualClock,
  type ReceivedCommand,
} from "../src/testing/index.ts";
import type { Call, Event, ToolResult } from "../src/wire/messages.ts";
import { LIMITS } from "./messages.ts";

const LEASE_MS = 8_000;
const PING_MS = 5_000;

interface ModelCall {
  readonly call: Call;
  leaseUntil: number;
  result?: ToolResult;
}

/** What a server must do, in a few lines and in memory: one thread, runs that make calls, claims with leases. */
export class ModelServer {
  readonly fake = new FakeServer({ received: (command, connection) => this.#receive(command, connection) });
  readonly calls = new Map<string, ModelCall>();
  /** Whether the network loses this command, or the reply to it. */
  loses: (what: "command" | "reply") => boolean = () => false;
  readonly #clock: ManualClock;
  readonly #callsPerRun: number;
  readonly #log: Event[] = [];
  readonly #runs = new Map<string, "running" | "completed">();
  readonly #pages = new Map<FakeConnection, string>();
  readonly #listeners = new Set<FakeConnection>();

  constructor(clock: ManualClock, callsPerRun: number) {
    this.#clock = clock;
    this.#callsPerRun = callsPerRun;
  }

  get isIdle(): boolean {
    return [...this.#runs.values()].every((status) => status === "completed");
  }

  /** Leases end. */
  tick(): void {
    for (const model of this.calls.values()) {
      const { call } = model;
      if (model.result !== undefined || call.state === "open" || this.#clock.now() < model.leaseUntil)
        continue;
      this.#end(model, { status: "error", error: { code: "interrupted", message: "gone" } });
    }
  }

  #receive(command: ReceivedCommand, connection: FakeConnection): void {
    const reply = this.loses("command") ? undefined : this.#carryOut(command, connection);
    if (reply === undefined || this.loses("reply")) {
      connection.drop();
      return;
    }
    const meta = { applied_through_seq: this.#log.length };
    if (typeof reply === "string")
      connection.send({ type: "error", id: command.id, error: reply, message: reply, meta });
    else connection.send({ type: "success", id: command.id, result: reply as Record<string, unknown>, meta });
    if (command.method === "subscription.subscribe") {
      for (const event of this.#log.slice(Number(command.params["since"]))) connection.send(event);
      this.#listeners.add(connection);
    }
  }

  #carryOut({ method, params }: ReceivedCommand, connection: FakeConnection): object | string {
    const model = this.calls.get(String(params["interrupt_id"]));
    const page = this.#pages.get(connection) ?? "";
    switch (method) {
      case "client.announce":
        this.#pages.set(connection, String(params["client_id"]));
        return { ping_ms: PING_MS, lease_ms: LEASE_MS, limits: LIMITS };
      case "state.get":
        // Always without history: all of it is replayed.
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
        if (model === undefined) return "not_found";
        if (model.result !== undefined) return "call_settled";
        if ((model.call.client_id ?? page) !== page) return "claim_lost";
        model.leaseUntil = this.#clock.now() + LEASE_MS;
        if (model.call.state === "open") {
          Object.assign(model.call, { state: "claimed", client_id: page });
          this.#publish("calls", {
            event: "claimed",
            interrupt_id: model.call.interrupt_id,
            client_id: page,
          });
        }
        return { ...model.call, lease_ms: LEASE_MS };
      case "call.settle":
        if (model === undefined) return "not_found";
        if (model.result !== undefined) return "call_settled";
        if (model.call.client_id !== page) return "claim_lost";
        this.#end(model, params["result"] as ToolResult);
        return { result: params["result"] as object };
      default:
        return {};
    }
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
      this.calls.set(id, { call, leaseUntil: 0 });
      this.#publish("calls", { event: "opened", ...call });
    }
    return { run_id: runId };
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
    for (const listener of this.#listeners) if (listener.isOpen) listener.send(event);
  }
}
