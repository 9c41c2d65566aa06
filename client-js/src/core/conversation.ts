import type { ContentBlockDelta, MessagesData } from "../wire/messages.ts";
import { isObject } from "../wire/values.ts";
import { type Block, blocksOf, resultOf, textOf } from "./content.ts";
import type { Message } from "./snapshot.ts";
import { type ToolCallRecord, ToolCalls } from "./tool-calls.ts";
import { Views } from "./views.ts";

/** What is known of one message. Its blocks are replaced, never changed. */
export interface MessageRecord {
  readonly id: string;
  readonly role: Message["role"] | "tool";
  blocks: Block[];
  streaming: boolean;
  /** By `id#n`: the n-th call of that id in the message, which may come from its blocks and from its `tool_calls`. */
  readonly toolCalls: Map<string, ToolCallRecord>;
  /** The keys of `toolCalls` by block or position, of the one source that is being read. */
  readonly slots: Map<number, string>;
}

const ROLES: ReadonlyMap<unknown, MessageRecord["role"]> = new Map([
  ["human", "human"],
  ["user", "human"],
  ["ai", "ai"],
  ["assistant", "ai"],
  ["system", "system"],
  ["developer", "system"],
  ["tool", "tool"],
]);

/** Blocks that are shown as tool calls. The last two are how model providers write them in an agent's state. */
const CALL_BLOCK = /^((invalid_)?tool_call|tool_call_chunk|tool_use|input_json_delta)$/;

/** The messages of a thread and the tool calls that they ask for. */
export class Conversation {
  readonly toolCalls = new ToolCalls((message) => this.messages.touch(message));
  readonly messages = new Views<MessageRecord, Message>((record) => ({
    id: record.id,
    role: record.role as Message["role"],
    text: textOf(record.blocks),
    content: record.blocks.filter((block) => !CALL_BLOCK.test(String(block["type"]))),
    toolCalls: Array.from(record.toolCalls.values(), (call) => this.toolCalls.views.of(call)),
    streaming: record.streaming,
  }));
  readonly #byId = new Map<string, MessageRecord>();
  /** The message that streams in each namespace: events without `message_id` belong to it. */
  readonly #current = new Map<string, MessageRecord>();
  readonly #streaming = new Set<MessageRecord>();

  /** Adds a message as an agent's state or a run's input holds it, or replaces the one with its id. */
  add(message: unknown, fallbackId: string): void {
    if (!isObject(message)) return;
    const role = ROLES.get(message["type"] ?? message["role"]);
    const content = blocksOf(message["content"]);
    if (role === "tool") {
      this.toolCalls.finished(String(message["tool_call_id"]), resultOf(message));
    } else if (role !== undefined) {
      const record = this.#record(typeof message["id"] === "string" ? message["id"] : fallbackId, role);
      record.blocks = content;
      record.slots.clear();
      this.messages.touch(record);
      const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : content;
      for (const [index, call] of calls.entries()) this.#request(record, index, call);
    }
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Takes back a message that the server did not take. */
  remove(id: string): void {
    const record = this.#byId.get(id);
    if (record === undefined) return;
    this.#byId.delete(id);
    this.messages.remove(record);
  }

  /** Follows a message as it streams. A message that has not been started begins with the first of its deltas. */
  receive(data: MessagesData, namespace: readonly string[]): void {
    const lane = namespace.join("|");
    if (data.event === "message-start") {
      const record = this.#record(data.id, ROLES.get(data.role) ?? "ai");
      record.blocks = [];
      record.slots.clear();
      this.#stream(record, true);
      this.#current.set(lane, record);
      return;
    }
    const id = data.message_id;
    const isEnd = data.event === "error" || data.event === "message-finish";
    const known = id === undefined ? this.#current.get(lane) : this.#byId.get(id);
    const record = known ?? (id === undefined || isEnd ? undefined : this.#record(id, "ai"));
    if (record === undefined) return;
    switch (data.event) {
      case "content-block-start":
      case "content-block-finish":
        if (!isObject(data.content)) return;
        record.blocks[data.index] = data.content;
        if (data.event === "content-block-finish") this.#request(record, data.index, data.content);
        this.#stream(record, true);
        return;
      case "content-block-delta":
        if (!isObject(data.delta)) return;
        record.blocks[data.index] = extended(record.blocks[data.index], data.delta);
        this.#stream(record, true);
        return;
      case "message-finish":
        this.#stream(record, false);
        return;
      case "message-removed":
        this.#void(record);
        return;
      case "error":
        // A server that died in the middle of a message has it made again, as another message.
        if (data.code === "interrupted" && record.streaming) this.#void(record);
        else this.#stream(record, false);
        return;
    }
  }

  /** The run goes on after its server died: what was being said is made again. */
  runRecovered(): void {
    for (const record of this.#streaming) this.#void(record);
  }

  /** The run is over: no message streams any more. */
  runEnded(): void {
    for (const record of this.#streaming) this.#stream(record, false);
    this.toolCalls.runEnded();
  }

  #record(id: string, role: MessageRecord["role"]): MessageRecord {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const record: MessageRecord = {
      id,
      role,
      blocks: [],
      streaming: false,
      toolCalls: new Map(),
      slots: new Map(),
    };
    this.#byId.set(id, record);
    // A tool message is shown as the result of its call.
    if (role !== "tool") this.messages.add(record);
    return record;
  }

  #void(record: MessageRecord): void {
    this.#streaming.delete(record);
    this.remove(record.id);
  }

  #stream(record: MessageRecord, streaming: boolean): void {
    record.streaming = streaming;
    if (streaming) this.#streaming.add(record);
    else this.#streaming.delete(record);
    this.messages.touch(record);
  }

  #request(record: MessageRecord, slot: number, call: unknown): void {
    if (!isObject(call) || typeof call["name"] !== "string" || typeof call["id"] !== "string") return;
    if (call["type"] !== undefined && call["type"] !== "tool_call") return;
    const { id, name } = call as { id: string; name: string };
    const args = isObject(call["args"]) ? call["args"] : {};
    const before = [...record.slots.values()].filter((key) => key.startsWith(`${id}#`)).length;
    const key = record.slots.get(slot) ?? `${id}#${before}`;
    record.slots.set(slot, key);
    this.toolCalls.requested(record, key, { id, name, args });
  }
}

function extended(block: Block | undefined, delta: ContentBlockDelta["delta"]): Block {
  const appended = (type: string, key: string, piece: string): Block => {
    const before = block?.[key];
    return { ...(block ?? { type }), [key]: (typeof before === "string" ? before : "") + piece };
  };
  switch (delta.type) {
    case "text-delta":
      return appended("text", "text", delta.text);
    case "reasoning-delta":
      return appended("reasoning", "reasoning", delta.reasoning);
    case "data-delta":
      return appended("file", "data", delta.data);
    case "tool-call-delta":
      return appended("tool_call_chunk", "args", delta.args);
    case "block-delta":
      return { ...block, ...delta.fields };
    default:
      return block ?? { type: "unknown" };
  }
}
