import type { Call, CallEnded, CallsData, SettledCall, ToolResult, ToolsData } from "../wire/messages.ts";
import { isObject } from "../wire/values.ts";
import { resultOf } from "./content.ts";
import type { MessageRecord } from "./conversation.ts";
import type { ToolCall, ToolCallState } from "./snapshot.ts";
import { Views } from "./views.ts";

type Args = Record<string, unknown>;

/** What is known of one tool call. */
export interface ToolCallRecord {
  readonly id: string;
  interruptId?: string;
  /** The message that asked for it. */
  message?: MessageRecord;
  name: string;
  args: Args;
  state: ToolCallState;
  progress?: unknown;
  result?: unknown;
  error?: { readonly code: string; readonly message: string };
}

/** All tool calls of a thread, those of browser tools and those of server tools, in the order they were heard of. */
export class ToolCalls {
  readonly views = new Views<ToolCallRecord, ToolCall>(viewOf);
  readonly #touchMessage: (message: MessageRecord) => void;
  readonly #byInterrupt = new Map<string, ToolCallRecord>();
  /** The model's ids repeat: the newest call comes last. */
  readonly #byId = new Map<string, ToolCallRecord[]>();
  readonly #unfinished = new Set<ToolCallRecord>();

  constructor(touchMessage: (message: MessageRecord) => void) {
    this.#touchMessage = touchMessage;
  }

  /** An AI message asks for a call; `key` tells the calls of one message apart. */
  requested(message: MessageRecord, key: string, call: { id: string; name: string; args: Args }): void {
    let record = message.toolCalls.get(key);
    if (record === undefined) {
      const unclaimed = this.#byId.get(call.id)?.find(({ message }) => message === undefined);
      record = unclaimed ?? this.#add(call);
      record.message = message;
      message.toolCalls.set(key, record);
    }
    record.name = call.name;
    record.args = call.args;
    this.#touch(record);
  }

  has(interruptId: string): boolean {
    return this.#byInterrupt.has(interruptId);
  }

  /** The call of a browser tool is open, or claimed. */
  opened(call: Call | SettledCall): void {
    const record = this.#byInterrupt.get(call.interrupt_id) ?? this.#adopt(call);
    record.args = call.args;
    if ("result" in call) this.#settle(record, call.result);
    else this.#work(record, call.state === "claimed", record.progress);
  }

  /** Somebody works on the call now, or nobody any more. */
  claimed(interruptId: string, isClaimed: boolean): void {
    this.#work(this.#byInterrupt.get(interruptId), isClaimed);
  }

  progressed(interruptId: string, value: unknown): void {
    this.#work(this.#byInterrupt.get(interruptId), true, value);
  }

  /** The server has stored a browser tool's result. */
  settled(interruptId: string, result: ToolResult): void {
    const record = this.#byInterrupt.get(interruptId);
    if (record !== undefined) this.#settle(record, result);
  }

  /** Follows an event of the channel `calls`. */
  receiveCall(data: CallsData): void {
    switch (data.event) {
      case "opened":
        this.opened(data);
        return;
      case "claimed":
      case "released":
        this.claimed(data.interrupt_id, data.event === "claimed");
        return;
      case "progress":
        this.progressed(data.interrupt_id, data.value);
        return;
      case "settled":
      case "cancelled":
      case "expired":
        this.#ended(data);
        return;
    }
  }

  /** Follows an event of the channel `tools`. Of browser tools the channel `calls` tells more. */
  receiveTool(data: ToolsData): void {
    switch (data.event) {
      case "tool-started":
        this.#started(data.tool_call_id, data.tool_name, isObject(data.input) ? data.input : {});
        return;
      case "tool-output-delta":
        this.#reported(data.tool_call_id, data.delta);
        return;
      case "tool-finished": {
        const { tool_call_id, output } = data;
        const isMessage = isObject(output) && output["type"] === "tool";
        this.finished(tool_call_id, isMessage ? resultOf(output) : { status: "success", value: output });
        return;
      }
      case "tool-error": {
        const { tool_call_id, code = "failed", message } = data;
        this.finished(tool_call_id, { status: "error", error: { code, message } });
        return;
      }
    }
  }

  #ended(call: CallEnded): void {
    const record = this.#byInterrupt.get(call.interrupt_id) ?? this.#adopt(call);
    this.#settle(record, call.result, call.event === "cancelled");
  }

  #started(id: string, name: string, args: Args): void {
    const newest = this.#newest(id);
    // Ids repeat: a server tool that has ended does not start again, another call of it does.
    const isOver = newest !== undefined && newest.interruptId === undefined && !isUnfinished(newest);
    const record = newest === undefined || isOver ? this.#add({ id, name, args }) : newest;
    if (record.interruptId === undefined) this.#move(record, "running");
  }

  #reported(id: string, value: unknown): void {
    const record = this.#newest(id);
    if (record?.interruptId === undefined) this.#work(record, true, value);
  }

  /** A tool has ended. */
  finished(id: string, result: ToolResult): void {
    const record = this.#newest(id);
    if (record !== undefined && isUnfinished(record)) this.#settle(record, result);
  }

  /** The run is over: what nobody answered stays without an answer. The calls of browser tools tell for themselves. */
  runEnded(): void {
    for (const record of this.#unfinished) {
      if (record.interruptId !== undefined) continue;
      record.error = { code: "cancelled", message: "The run ended before the tool did." };
      this.#move(record, "cancelled");
    }
  }

  #newest(id: string): ToolCallRecord | undefined {
    const records = this.#byId.get(id);
    return records?.find(isUnfinished) ?? records?.at(-1);
  }

  /** Finds the requested call that an interrupt belongs to, or adds one. */
  #adopt(
    call: Pick<CallEnded, "interrupt_id" | "tool_call_id" | "name"> & { args?: Args; result?: ToolResult },
  ): ToolCallRecord {
    const candidates = this.#byId
      .get(call.tool_call_id)
      ?.filter(({ interruptId }) => interruptId === undefined);
    // Calls come in their order. One that has ended belongs to the first request, which a tool message may have
    // answered; an open one to a request that nothing has answered.
    const request = call.result === undefined ? candidates?.find(isUnfinished) : candidates?.[0];
    const record = request ?? this.#add({ id: call.tool_call_id, name: call.name, args: call.args ?? {} });
    record.interruptId = call.interrupt_id;
    this.#byInterrupt.set(call.interrupt_id, record);
    this.#touch(record);
    return record;
  }

  #add({ id, name, args }: { id: string; name: string; args: Args }): ToolCallRecord {
    const record: ToolCallRecord = { id, name, args, state: "waiting" };
    const sameId = this.#byId.get(id);
    if (sameId === undefined) this.#byId.set(id, [record]);
    else sameId.push(record);
    this.#unfinished.add(record);
    this.views.add(record);
    return record;
  }

  #settle(record: ToolCallRecord, result: ToolResult, isCancelled = false): void {
    delete record.progress;
    delete record.result;
    delete record.error;
    if (result.status === "success") {
      record.result = result.value;
      this.#move(record, "answered");
    } else {
      record.error = { code: result.error.code, message: result.error.message };
      this.#move(record, isCancelled || result.error.code === "cancelled" ? "cancelled" : "failed");
    }
  }

  /** An unfinished call is worked on, or not; `progress` is what was reported last. */
  #work(record: ToolCallRecord | undefined, isRunning: boolean, progress?: unknown): void {
    if (record === undefined || !isUnfinished(record)) return;
    if (progress === undefined) delete record.progress;
    else record.progress = progress;
    this.#move(record, isRunning ? "running" : "waiting");
  }

  #move(record: ToolCallRecord, state: ToolCallState): void {
    record.state = state;
    if (!isUnfinished(record)) this.#unfinished.delete(record);
    this.#touch(record);
  }

  #touch(record: ToolCallRecord): void {
    this.views.touch(record);
    if (record.message !== undefined) this.#touchMessage(record.message);
  }
}

function isUnfinished({ state }: ToolCallRecord): boolean {
  return state === "waiting" || state === "running";
}

function viewOf({ message, ...record }: ToolCallRecord): ToolCall {
  return message === undefined ? record : { ...record, messageId: message.id };
}
