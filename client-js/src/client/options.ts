import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AgentEvent, ToolEvent } from "../core/effects.ts";
import type { Journal } from "../journal/journal.ts";
import type { ImplementedTool, ToolImplementation } from "../tool/tool.ts";
import type { Clock } from "../transport/clock.ts";
import type { Permissions } from "../transport/permissions.ts";
import type { SocketConstructor } from "../transport/socket.ts";
import type { Encoding } from "../transport/transport.ts";
import type { Identity } from "./identity.ts";

/** What a new id is for. */
export type IdKind = "client" | "thread" | "run" | "message" | "claim";

/** What `createClient` takes. */
export interface ClientOptions {
  /** Where the server is mounted: `"/farside"` on the page's own origin, or an absolute http, https, ws or wss url. */
  readonly url: string;
  /** The name of the agent that new runs are for. */
  readonly agent: string;
  /** The tools that this page implements; those of the official clients fit too. */
  readonly tools?: readonly ToolImplementation[] | undefined;
  /** Hears of each step of the tools that this page executes. */
  readonly onTool?: ((event: ToolEvent) => void) | undefined;
  /** Hears what the agent tells beside the conversation. */
  readonly onCustom?: ((event: AgentEvent) => void) | undefined;
  /** The only encoding to offer; without it MessagePack, and JSON for a server that prefers it. */
  readonly encoding?: Encoding | undefined;
  /** What to connect with, where there is no global `WebSocket`. */
  readonly WebSocket?: SocketConstructor | undefined;
  /**
   * Names this page, instead of the id that the client makes and keeps over a reload. Two pages must never have the same one
   * at the same time.
   */
  readonly clientId?: string | undefined;
  /** Where the page remembers what it executes, instead of IndexedDB. */
  readonly journal?: Journal | undefined;
  /** For tests: the time, the randomness of pauses (a number in [0, 1)), and new ids. */
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly newId?: ((kind: IdKind) => string) | undefined;
}

/** What all threads of a client share. */
export interface ClientContext {
  readonly options: ClientOptions;
  /** Who the page is: found out when this is first asked for. */
  readonly identity: () => Promise<Identity>;
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: (kind: IdKind) => string;
  tools: ReadonlyMap<string, ImplementedTool<StandardSchemaV1, StandardSchemaV1>>;
}
