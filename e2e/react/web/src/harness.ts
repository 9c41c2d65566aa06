/** What a test sees and does, `window.harness`, as the page of the browser tests has it; and tools whose ends the test decides. */
import { type Tool, type ToolEvent, tool } from "farside";
import type { Stream } from "farside/react";

/** How long something may take to come. */
const PATIENCE_MS = 20_000;
/** Arguments as they come. */
const schema = {
  "~standard": { version: 1, vendor: "harness", validate: (value: unknown) => ({ value }) },
} as const;

/** What the page shows; the test changes it. */
export interface Settings {
  readonly threadId: string | null;
  /** What the inline tool answers. */
  readonly word: string;
  /** The tools that components have. */
  readonly extra: readonly string[];
  readonly isConversationShown: boolean;
  readonly isPageShown: boolean;
}

interface Entry {
  readonly tool: string;
  readonly phase?: ToolEvent["phase"];
  readonly body?: "begun" | "aborted";
  readonly given?: unknown;
  /** What the callback that heard of it has closed over. */
  readonly word?: string;
}

export interface Harness {
  thread: Pick<Stream, "submit" | "stop">;
  view(): unknown;
  until(condition: (seen: unknown) => boolean): Promise<unknown>;
  set(settings: Partial<Settings>): void;
  release(name: string, value: unknown): void;
}

declare global {
  interface Window {
    harness: Harness;
  }
}

const query = new URLSearchParams(location.search);
export const agent = query.get("agent") ?? "function";
export const scene = query.get("scene") ?? "provider";
export const isStrict = query.has("strict");
export const said = query.get("say");
/** The thread at which the page begins; the address keeps the one that the hook makes, so that a reload finds it. */
export const firstThread = query.get("thread") || null;

export function rememberThread(threadId: string): void {
  told.push(threadId);
  query.set("thread", threadId);
  history.replaceState(null, "", `?${query}`);
}

const log: Entry[] = [];
/** What `onThreadId` has heard. */
const told: string[] = [];
/** How often each component has rendered. */
const renders: Record<string, number> = {};
/** What the components that show a conversation have, by their names. */
const streams: Record<string, Stream> = {};
const caught: string[] = [];
const held = new Map<string, (value: unknown) => void>();
const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

export function note(entry: Entry): void {
  log.push(entry);
  notify();
}

export function rendered(component: string): void {
  renders[component] = (renders[component] ?? 0) + 1;
}

/** A component has this, until what is returned is called. */
export function show(component: string, stream: Stream): () => void {
  streams[component] = stream;
  window.harness.thread = stream;
  notify();
  return () => {
    delete streams[component];
    // If it only changes, it is there again by then.
    queueMicrotask(notify);
  };
}

export function caughtBy(code: string): void {
  caught.push(code);
  notify();
}

/** A tool of this name that does what `body` does. */
export function implemented(name: string, body: (args: Record<string, string>) => unknown): Tool {
  return tool({ name, description: name, schema }).implement((given, { signal }) => {
    note({ tool: name, body: "begun", given });
    signal.addEventListener("abort", () => note({ tool: name, body: "aborted" }));
    return body(given as Record<string, string>);
  });
}

const hold = (args: Record<string, string>) =>
  new Promise((resolve) => held.set(String(args["name"]), resolve));
export const heldTools = [implemented("hold", hold), implemented("hold_again", hold)];

function view() {
  const all = Object.entries(streams).map(([name, stream]) => [name, summaryOf(stream)]);
  const first = Object.values(streams)[0];
  return {
    ...(first === undefined ? { connection: "none" } : summaryOf(first)),
    streams: Object.fromEntries(all),
    log,
    told,
    renders,
    caught,
  };
}

function summaryOf({ connection, status, isLoading, error, messages, toolCalls, threadId }: Stream) {
  return {
    connection,
    status,
    isLoading,
    threadId,
    error: error?.code ?? null,
    messages: messages.map(({ role, text, streaming }) => ({ role, text, streaming })),
    calls: toolCalls.map(({ name, state, result, error }) => ({ name, state, result, code: error?.code })),
  };
}

/** The view, as soon as the condition holds for it. */
function until(condition: (seen: unknown) => boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      listeners.delete(look);
      clearTimeout(timer);
      settle();
    };
    const look = () => {
      const seen = view();
      if (condition(seen)) end(() => resolve(seen));
    };
    const giveUp = () =>
      reject(new Error(`waited for ${condition} and saw ${JSON.stringify(view(), null, 1)}`));
    const timer = setTimeout(() => end(giveUp), PATIENCE_MS);
    listeners.add(look);
    look();
  });
}

/** Makes the harness of a page that takes settings. */
export function expose(set: Harness["set"]): void {
  const release: Harness["release"] = (name, value) => held.get(name)?.(value);
  const nothing = () => Promise.reject(new Error("expected a conversation on the page"));
  window.harness = { thread: { submit: nothing, stop: nothing }, view, until, set, release };
}
