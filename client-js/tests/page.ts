import { type ClientOptions, createClient, type ToolEvent, tool } from "../src/index.ts";
import {
  type FakeConnection,
  FakeServer,
  ManualClock,
  MemoryJournal,
  quiet,
  type Welcome,
} from "../src/testing/index.ts";
import type { Call } from "../src/wire/messages.ts";
import { claimOf, openCall } from "./messages.ts";

/** What {@link page} takes besides a client's options. */
export interface PageOptions extends Partial<ClientOptions> {
  readonly welcome?: Welcome;
}

/** A page with a client on a fake server, and what it takes to look at it. */
export async function page({ welcome = {}, ...options }: PageOptions = {}) {
  const server = new FakeServer();
  const clock = new ManualClock();
  const heard: ToolEvent[] = [];
  const client = createClient({
    url: "ws://server",
    agent: "assistant",
    WebSocket: server.WebSocket,
    clientId: "me",
    journal: new MemoryJournal(),
    clock,
    random: () => 0,
    onTool: (event) => heard.push(event),
    ...options,
  });
  const thread = client.thread("t");
  const connection = await server.connection();
  await connection.welcome(welcome);
  return { server, clock, client, thread, connection, heard };
}

/** Opens a call and grants the page's claim; returns its id. */
export async function grant(connection: FakeConnection, fields: Partial<Call> = {}): Promise<string> {
  const call = openCall(fields);
  connection.event("calls", { event: "opened", ...call });
  const claim = await connection.take("call.claim");
  connection.reply(claim, claimOf(call));
  await quiet();
  return claim.params.claim_id;
}

/** A tool whose body ends when the test says so. */
export function held(name = "get_location") {
  const started: { args: unknown; signal: AbortSignal; progress: (value: unknown) => void }[] = [];
  let resolve: (value: unknown) => void = () => {};
  const result = new Promise((settle) => {
    resolve = settle;
  });
  const body = {
    started,
    /** Called when the body begins. */
    begun: () => {},
    /** The body returns this, or will at once. */
    end: (value: unknown) => resolve(value),
    tool: tool({ name, description: "" }).implement((args, { signal, progress }) => {
      started.push({ args, signal, progress });
      body.begun();
      return result;
    }),
  };
  return body;
}
