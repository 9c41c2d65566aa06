/**
 * What the pages have in common, whatever the framework: the options that the address gives the hook, tools whose ends
 * the test decides, and what the hook shows, as lines of text.
 */
import type { BaseMessage } from "@langchain/core/messages";
import type { Client } from "@langchain/langgraph-sdk";

const query = new URLSearchParams(location.search);

export const options = {
  apiUrl: query.get("server") ?? `${location.origin}/farside`,
  assistantId: query.get("agent") ?? "chat",
  transport: query.get("transport") === "sse" ? ("sse" as const) : ("websocket" as const),
  ...(query.has("client") ? { defaultHeaders: { "Farside-Client": query.get("client") } } : {}),
};
export const isStrict = query.has("strict");
export const listensToCustom = query.has("custom");
/** The thread at which the page begins; the address keeps the one that the hook makes, so that a reload finds it. */
export const firstThread = query.get("thread");

export function rememberThread(threadId: string): void {
  query.set("thread", threadId);
  history.replaceState(null, "", `?${query}`);
}

/** What a test does with the page, `window.hook`. */
export interface Hook {
  submit(text: string): Promise<void>;
  /** Goes on from a checkpoint: with a message, or with `null`, which does again what came next there. */
  fork(checkpointId: string, text: string | null): Promise<void>;
  /** The newest checkpoint with this many messages. */
  checkpoint(messages: number): Promise<string>;
  stop(): Promise<void>;
  respond(value: unknown): Promise<void>;
  /** Switches to a thread, `null` for a new one. */
  open(threadId: string | null): void;
  /** Ends the execution with this key. */
  finish(key: string, value: unknown): void;
  fail(key: string, message: string): void;
}

declare global {
  interface Window {
    hook: Hook;
  }
}

const held = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();

function execution(key: string) {
  const found = held.get(key);
  if (found === undefined) throw new Error(`expected one of ${[...held.keys()]}, got ${key}`);
  return found;
}

type Input = { messages: { type: "human"; content: string }[] };

function saying(text: string): Input {
  return { messages: [{ type: "human", content: text }] };
}

async function checkpointOf(stream: Shown, messages: number): Promise<string> {
  const states = await stream.client.threads.getHistory<Partial<Input>>(stream.threadId as string);
  const found = states.find(({ values }) => (values.messages ?? []).length === messages);
  if (!found?.checkpoint.checkpoint_id)
    throw new Error(`expected a state with ${messages} messages, found none`);
  return found.checkpoint.checkpoint_id;
}

/** Shows the hook to the test. */
export function expose(stream: Shown & Pick<Hook, "stop" | "respond">, open: Hook["open"]): void {
  window.hook = {
    submit: (text) => stream.submit(saying(text)),
    fork: (checkpointId, text) =>
      stream.submit(text === null ? null : saying(text), { forkFrom: checkpointId }),
    checkpoint: (messages) => checkpointOf(stream, messages),
    stop: () => stream.stop(),
    respond: (value) => stream.respond(value),
    open,
    finish: (key, value) => execution(key).resolve(value),
    fail: (key, message) => execution(key).reject(new Error(message)),
  };
}

/** A tool whose executions are listed on the page and, for all pages of the browser, in its storage. They wait for the test. */
function holding(name: string) {
  const execute = ({ key }: { key: string }) => {
    const line = document.createElement("li");
    line.textContent = `${name} ${key}`;
    document.querySelector("#executions")?.append(line);
    localStorage.setItem("executions", `${localStorage.getItem("executions") ?? ""}${name} ${key};`);
    return new Promise<unknown>((resolve, reject) => held.set(key, { resolve, reject }));
  };
  return { tool: { name }, execute };
}

export const tools = (query.get("tools") ?? "hold,hold_again").split(",").map(holding);

/** What of a hook is shown. */
export interface Shown {
  messages: BaseMessage[];
  toolCalls: { name: string; status: string }[];
  interrupts: { value?: unknown }[];
  isLoading: boolean;
  isThreadLoading: boolean;
  error: unknown;
  threadId: string | null;
  subgraphs: ReadonlyMap<string, { nodeName?: string }>;
  client: Pick<Client, "threads">;
  submit(input: Input | null, options?: { forkFrom?: string }): Promise<void>;
}

/** The lists of the page, each with its lines. */
export function listsOf(stream: Shown): [string, string[]][] {
  return [
    ["messages", stream.messages.map(lineOf)],
    ["tools", stream.toolCalls.map(({ name, status }) => `${name}: ${status}`)],
    ["interrupts", stream.interrupts.map(({ value }) => JSON.stringify(value))],
    ["status", [stream.isThreadLoading ? "hydrating" : stream.isLoading ? "loading" : "idle"]],
    ["error", stream.error === undefined ? [] : [String(stream.error)]],
    ["thread", stream.threadId === null ? [] : [stream.threadId]],
    ["subgraphs", [...stream.subgraphs.keys()]],
  ];
}

function lineOf(message: BaseMessage): string {
  const calls = "tool_calls" in message ? (message.tool_calls as { name: string }[]) : [];
  return `${message.type}: ${[message.text.trim(), ...calls.map(({ name }) => name)].join(" ").trim()}`;
}
