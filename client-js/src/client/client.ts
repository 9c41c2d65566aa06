import type { StandardSchemaV1 } from "@standard-schema/spec";
import { FarsideError } from "../errors.ts";
import { adopt, type ImplementedTool, type ToolImplementation } from "../tool/tool.ts";
import { checkThreadId } from "../transport/address.ts";
import { PAGE_CLOCK } from "../transport/clock.ts";
import { watchPage } from "../transport/visibility.ts";
import { ClientThread } from "./client-thread.ts";
import type { ClientContext, ClientOptions } from "./options.ts";
import type { Thread } from "./thread.ts";

/** How a thread is opened. */
export interface ThreadOptions {
  /** `false`: connect only when the thread is first used (`subscribe`, `submit`, `stop`, `respond`). */
  readonly connect?: boolean | undefined;
}

/** A page as the server knows it: its tools and its threads. */
export interface Client {
  readonly clientId: string;
  /** Opens a thread, a new one without an id. While it is open, the same id gives the same object. */
  thread(threadId?: string, options?: ThreadOptions): Thread;
  /** Replaces the tools that this page implements. */
  setTools(tools: readonly ToolImplementation[]): void;
  /** Closes all threads. */
  close(): void;
}

/**
 * Makes a client: one for each page.
 *
 * ```ts
 * const client = createClient({ url: "/farside", agent: "assistant", tools: [getLocation] });
 * const thread = client.thread();
 * thread.subscribe(() => render(thread.getSnapshot()));
 * thread.submit("Where am I?");
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const newId = options.newId ?? randomId;
  const context: ClientContext = {
    options,
    clientId: options.clientId ?? newId("client"),
    clock: options.clock ?? PAGE_CLOCK,
    random: options.random ?? Math.random,
    newId,
    tools: byName(options.tools ?? []),
  };
  const threads = new Map<string, ClientThread>();
  let stopWatching: (() => void) | undefined;
  const announce = () => {
    for (const thread of threads.values()) thread.announce();
  };
  const awake = () => {
    for (const thread of threads.values()) thread.awake();
  };

  return {
    clientId: context.clientId,

    thread(threadId = newId("thread"), { connect = true } = {}) {
      checkThreadId(threadId);
      let thread = threads.get(threadId);
      if (thread === undefined) {
        thread = new ClientThread(threadId, context, () => threads.delete(threadId));
        threads.set(threadId, thread);
        stopWatching ??= watchPage(announce, awake);
      }
      if (connect) thread.connect();
      return thread;
    },

    setTools(tools) {
      context.tools = byName(tools);
      announce();
    },

    close() {
      stopWatching?.();
      stopWatching = undefined;
      for (const thread of [...threads.values()]) thread.close();
    },
  };
}

function byName(
  tools: readonly ToolImplementation[],
): ReadonlyMap<string, ImplementedTool<StandardSchemaV1, StandardSchemaV1>> {
  const byName = new Map<string, ImplementedTool<StandardSchemaV1, StandardSchemaV1>>();
  for (const tool of tools.map(adopt)) {
    const { name } = tool.tool;
    if (byName.has(name))
      throw new FarsideError("invalid_argument", `expected one tool named ${name}, got two`);
    byName.set(name, tool);
  }
  return byName;
}

/** 128 random bits. `crypto.randomUUID` would need a secure context. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
