import { isObject } from "../wire/values.ts";
import { Conversation } from "./conversation.ts";
import type { QueuedRun } from "./snapshot.ts";

/** The messages that a run's input holds, as they came. */
export function messagesIn(input: unknown): readonly unknown[] {
  const messages = isObject(input) ? input["messages"] : undefined;
  return Array.isArray(messages) ? messages : [];
}

/** The runs that wait for their turn, in order. */
export class Queue {
  /** Immutable: the same array for as long as nothing changes. */
  runs: readonly QueuedRun[] = [];

  add(runId: string, input: unknown): void {
    const conversation = new Conversation();
    for (const [index, message] of messagesIn(input).entries()) {
      conversation.add(message, `${runId}:${index}`);
    }
    this.remove(runId);
    this.runs = [...this.runs, { runId, messages: conversation.messages.all() }];
  }

  remove(runId: string | undefined): void {
    const others = this.runs.filter((run) => run.runId !== runId);
    if (others.length < this.runs.length) this.runs = others;
  }
}
