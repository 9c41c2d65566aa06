import type { StandardSchemaV1 } from "@standard-schema/spec";
import { FarsideError } from "../errors.ts";
import { adopt, type ImplementedTool, type ToolImplementation } from "../tool/tool.ts";
import { checkThreadId } from "../transport/address.ts";
import { PAGE_CLOCK } from "../transport/clock.ts";
import { Permissions } from "../transport/permissions.ts";
import { watchPage } from "../transport/visibility.ts";
import { ClientThread } from "./client-thread.ts";
import { findIdentity, type Identity } from "./identity.ts";
import type { ClientContext, ClientOptions } from "./options.ts";
import type { Thread } from "./thread.ts";

/** How a thread is opened. */
export interface ThreadOptions {
  /** `false`: connect only when the thread is first used (`subscribe`, `submit`, `stop`, `respond`). */
  readonly connect?: boolean | undefined;
}

/** A page as the server knows it: its tools and its threads. It has an id, which outlives a reload. */
export interface Client {
  /** Opens a thread, a new one without an id. While it is open, the same id gives the same object. */
  thread(threadId?: string, options?: ThreadOptions): Thread;
  /** Replaces the tools that this page implements. */
  setTools(tools: readonly ToolImplementation[]): void;
  /** Closes all threads, and gives up the id under which the server knows this page. */
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
  const clock = options.clock ?? PAGE_CLOCK;
  const threads = new Map<string, ClientThread>();
  let stopWatching: (() => void) | undefined;
  let identity: Promise<Identity> | undefined;
  const each = (act: (thread: ClientThread) => void) => () => {
    for (const thread of threads.values()) act(thread);
  };
  const announce = each((thread) => thread.announce());
  const context: ClientContext = {
    options,
    identity: () => (identity ??= findIdentity(options, clock, newId)),
    permissions: new Permissions(announce),
    clock,
    random: options.random ?? Math.random,
    newId,
    tools: byName(options.tools ?? []),
  };
  const watch = () => {
    for (const { tool } of context.tools.values()) {
      for (const name of tool.permissions ?? []) void context.permissions.watch(name);
    }
    stopWatching ??= watchPage(
      announce,
      each((thread) => thread.awake()),
      each((thread) => thread.reconnect()),
    );
  };

  return {
    thread(threadId = newId("thread"), { connect = true } = {}) {
      checkThreadId(threadId);
      let thread = threads.get(threadId);
      if (thread === undefined) {
        thread = new ClientThread(threadId, context, () => threads.delete(threadId));
        threads.set(threadId, thread);
        watch();
      }
      if (connect) thread.connect();
      return thread;
    },

    setTools(tools) {
      context.tools = byName(tools);
      if (stopWatching !== undefined) watch();
      announce();
    },

    close() {
      stopWatching?.();
      stopWatching = undefined;
      each((thread) => thread.close())();
      // Another page may be it now.
      void identity?.then((found) => found.release());
      identity = undefined;
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
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
