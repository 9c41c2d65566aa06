import type { StandardSchemaV1 } from "@standard-schema/spec";
import { createClient } from "../client/client.ts";
import type { Thread } from "../client/thread.ts";
import { FarsideError } from "../errors.ts";
import { MemoryJournal } from "../journal/memory-journal.ts";
import { type ToolContext, tool } from "../tool/tool.ts";
import type { Encoding } from "../transport/transport.ts";
import type { ClientAnnounceParams } from "../wire/messages.ts";
import { type ManualClock, quiet } from "./clock.ts";
import type { FakeConnection } from "./connection.ts";
import { assertContains, assertEqual } from "./equality.ts";
import { FakeServer } from "./server.ts";
import type { BodyOutcome, Transcript, TranscriptStep } from "./transcript.ts";

/** A tool's body that has been called and has not ended. */
interface BodyCall {
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Arguments as they come. */
const ANYTHING: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "farside", validate: (value) => ({ value }) },
};

/** A page with a real client that does what a transcript says. */
export class FakePage {
  readonly #server = new FakeServer({ accepts: false });
  readonly #thread: Thread;
  /** The ids of the next submit. */
  readonly #ids = new Map<string, string>();
  #submits = 0;
  #connection: FakeConnection | undefined;
  /** Bodies that have been called and that no step has told of yet. */
  readonly #called: BodyCall[] = [];
  /** Bodies that go on. */
  readonly #pending: BodyCall[] = [];

  constructor(transcript: Transcript, name: string, encoding: Encoding, clock: ManualClock) {
    const { thread, steps } = transcript;
    const sent = (method: string) =>
      steps.flatMap((step) =>
        "client" in step && step.client.method === method && (step.page ?? "page") === name
          ? [step.client.params]
          : [],
      );
    const announced = sent("client.announce")[0] as Partial<ClientAnnounceParams> | undefined;
    const implemented = announced?.tools ?? [];
    const claimIds = [...new Set(sent("call.claim").map((params) => String(params["claim_id"])))];
    const client = createClient({
      url: "ws://server",
      agent: String(sent("run.start")[0]?.["assistant_id"] ?? "assistant"),
      tools: implemented.map(({ name, permissions }) =>
        tool({ name, description: name, schema: ANYTHING, permissions }).implement((args, context) =>
          this.#call(name, args, context),
        ),
      ),
      encoding,
      WebSocket: this.#server.WebSocket,
      clientId: announced?.client_id ?? name,
      journal: new MemoryJournal(),
      clock,
      random: () => 0,
      newId: (kind) => (kind === "claim" ? claimIds.shift() : this.#ids.get(kind)) ?? kind,
    });
    this.#thread = client.thread(thread);
  }

  async play(step: TranscriptStep): Promise<void> {
    await quiet();
    if ("do" in step) this.#do(step);
    else if ("client" in step) assertEqual(await this.#open().take(), step.client, "the page's message");
    else if ("server" in step) this.#open().send(step.server);
    else if ("tool" in step) this.#body(step.tool);
    else if ("tool_ends" in step) this.#end(step.tool_ends);
    else if ("aborted" in step) this.#aborted(step.aborted.name);
    else if ("snapshot" in step) assertContains(this.#thread.getSnapshot(), step.snapshot, "the snapshot");
    else throw new Error("expected a step that vectors/README.md knows");
    await quiet();
  }

  /** Nothing may have happened that no step has told of. */
  async end(name: string): Promise<void> {
    await quiet();
    assertEqual(this.#connection?.unread ?? [], [], `${name}: what the page sent besides`);
    assertEqual(
      this.#called.map((call) => call.name),
      [],
      `${name}: what the page executed besides`,
    );
    this.#thread.close();
  }

  #do(step: Extract<TranscriptStep, { do: string }>): void {
    switch (step.do) {
      case "connect":
        this.#connection = this.#server.accept();
        return;
      case "drop":
        assertEqual(this.#open().unread, [], "what the page sent besides before the drop");
        this.#open().drop();
        return;
      case "stop":
        void this.#thread.stop();
        return;
      case "submit":
        this.#submits += 1;
        this.#ids.set("message", step.message_id ?? `message-${this.#submits}`);
        this.#ids.set("run", step.run_id ?? `run-${this.#submits}`);
        void this.#thread.submit(step.text);
        return;
      case "lose":
        return;
      case "advance":
        throw new Error("expected the player to move the clock");
    }
  }

  #open(): FakeConnection {
    if (this.#connection === undefined) throw new Error('expected a step {"do": "connect"} before');
    return this.#connection;
  }

  #call(name: string, args: unknown, { signal }: ToolContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#called.push({ name, args, signal, resolve, reject });
    });
  }

  #body({ name, args, ...outcome }: { readonly name: string; readonly args: unknown } & BodyOutcome): void {
    const call = take(this.#called, name, "called");
    assertEqual(call.args, args, `the arguments of ${name}`);
    if (outcome.pending === true) this.#pending.push(call);
    else end(call, outcome);
  }

  #end({ name, ...outcome }: { readonly name: string } & BodyOutcome): void {
    end(take(this.#pending, name, "running"), outcome);
  }

  #aborted(name: string): void {
    const isAborted = this.#pending.some((call) => call.name === name && call.signal.aborted);
    assertEqual(isAborted, true, `whether the signal of ${name} has fired`);
  }
}

/** Takes the oldest call of this tool. */
function take(calls: BodyCall[], name: string, what: string): BodyCall {
  const position = calls.findIndex((call) => call.name === name);
  const call = calls[position];
  if (call === undefined) {
    const others = calls.map((other) => other.name).join(", ") || "none";
    throw new Error(`expected the body of ${name} to be ${what}; of those that are: ${others}`);
  }
  calls.splice(position, 1);
  return call;
}

function end(call: BodyCall, { returns, throws }: BodyOutcome): void {
  if (throws === undefined) call.resolve(returns);
  else if (throws.code === undefined) call.reject(new Error(throws.message));
  else call.reject(new FarsideError(throws.code, throws.message));
}
