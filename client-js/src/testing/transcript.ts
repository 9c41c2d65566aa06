import type { ServerMessage } from "../wire/messages.ts";

/** A dialogue between pages and a server, as protocol/vectors/README.md describes it. */
export interface Transcript {
  readonly name: string;
  readonly about?: string;
  /** The thread's id. */
  readonly thread: string;
  /** The tools that the server declares. A page implements what its first `client.announce` lists. */
  readonly tools?: readonly { readonly name: string }[];
  /** Each may say which page it is about: `"page"` without that. */
  readonly steps: readonly (TranscriptStep & { readonly page?: string })[];
}

/** What a body does when it is called. */
export interface BodyOutcome {
  readonly returns?: unknown;
  readonly throws?: { readonly code?: string; readonly message: string };
  /** It goes on until a step `tool_ends`. */
  readonly pending?: boolean;
}

/** One step of a transcript. */
export type TranscriptStep =
  | { readonly do: "connect" | "drop" | "lose" | "stop" }
  | { readonly do: "submit"; readonly text: string; readonly message_id?: string; readonly run_id?: string }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly client: { readonly method: string; readonly params: Readonly<Record<string, unknown>> } }
  | { readonly server: ServerMessage }
  | { readonly tool: { readonly name: string; readonly args: unknown } & BodyOutcome }
  | { readonly tool_ends: { readonly name: string } & BodyOutcome }
  | { readonly aborted: { readonly name: string } }
  | { readonly snapshot: Readonly<Record<string, unknown>> };
