import { type Client, createClient } from "../client/client.ts";
import { shielded } from "../client/client-thread.ts";
import type { ClientOptions } from "../client/options.ts";
import type { Thread } from "../client/thread.ts";
import type { ToolEvent } from "../core/effects.ts";
import { FarsideError } from "../errors.ts";
import { adopt, type ToolImplementation } from "../tool/tool.ts";
import { type Share, Shared } from "./shared.ts";

/** What a component wants to hear. */
export interface Callbacks extends Pick<ClientOptions, "onTool" | "onCustom"> {
  /** Hears the id of a new thread when it is told something for the first time. */
  readonly onThreadId?: ((threadId: string) => void) | undefined;
}

/** A component that listens to a thread. */
export interface Listener {
  readonly thread: { readonly key: string; readonly id: string };
  readonly callbacks: Callbacks;
}

/** All that listen on this page. It is filled by effects, as `clients` is: on a server both stay empty. */
export const listeners = new Set<Listener>();
const clients = new Shared<PageClient>();

export function keyOf({ url, agent }: ClientOptions): string {
  return JSON.stringify([url, agent]);
}

/** The client of this page for an agent, if any component has it. */
export function findClient(key: string): PageClient | undefined {
  return clients.find(key);
}

/** A share in the client of this page for an agent. The options are those of whoever comes first. */
export function shareClient(options: ClientOptions): Share<PageClient> {
  return clients.share(keyOf(options), () => new PageClient(options));
}

/** The client of all components that are about the same agent, with the tools of them all. */
export class PageClient {
  readonly threads = new Shared<Thread>();
  readonly #client: Client;
  readonly #added = new Set<{ readonly tools: readonly ToolImplementation[] }>();
  #isStale = false;

  constructor(options: ClientOptions) {
    const key = keyOf(options);
    const isAsked = () =>
      [...listeners].some(({ thread, callbacks }) => thread.key === key && callbacks.onTool);
    const hear = (event: ToolEvent) => tell(event.threadId, ({ onTool }) => onTool?.(event));
    const tell = (threadId: string, hear: (callbacks: Callbacks) => void) => {
      for (const { thread, callbacks } of listeners) {
        if (thread.key === key && thread.id === threadId) shielded(() => hear(callbacks));
      }
    };
    this.#client = createClient({
      ...options,
      tools: [],
      // Only where a component hears them can tools ask the user.
      get onTool() {
        return isAsked() ? hear : undefined;
      },
      onCustom: (event) => tell(event.threadId, ({ onCustom }) => onCustom?.(event)),
    });
  }

  shareThread(id: string): Share<Thread> {
    return this.threads.share(id, () => this.#client.thread(id, { connect: false }));
  }

  /** Adds the tools of a component; returns how to take them away. All changes of a turn are announced at once. */
  addTools(tools: readonly ToolImplementation[]): () => void {
    const names = new Set<string>();
    for (const tool of new Set([...this.#all(), ...tools])) {
      const { name } = adopt(tool).tool;
      if (names.has(name)) {
        const advice = "name them differently, or make the tool once, outside of components";
        throw new FarsideError("invalid_argument", `expected one tool named ${name}, got two: ${advice}`);
      }
      names.add(name);
    }
    const added = { tools };
    this.#added.add(added);
    this.#changed();
    return () => {
      this.#added.delete(added);
      this.#changed();
    };
  }

  close(): void {
    this.#client.close();
  }

  #changed(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    queueMicrotask(() => {
      this.#isStale = false;
      this.#client.setTools([...new Set(this.#all())]);
    });
  }

  #all(): ToolImplementation[] {
    return Array.from(this.#added, ({ tools }) => tools).flat();
  }
}
