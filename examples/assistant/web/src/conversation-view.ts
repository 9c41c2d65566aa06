import type { Snapshot, ToolCall, ToolWaiting } from "farside";
import { arrange, byId, h } from "./dom.ts";
import { MessageView } from "./message-view.ts";
import { lookOf } from "./results.ts";
import { explainRun } from "./words.ts";

const ENDED = { answered: "done", failed: "failed", cancelled: "cancelled" } as const;

/** The messages of a conversation, kept in step with its snapshots. */
export class ConversationView {
  readonly #messages = byId("messages", HTMLOListElement);
  readonly #thinking = byId("thinking", HTMLParagraphElement);
  readonly #problem = byId("problem", HTMLDivElement);
  readonly #announcer = byId("announcer", HTMLParagraphElement);
  readonly #retry: (text: string) => void;
  readonly #views = new Map<string, MessageView>();
  #shown: Snapshot | undefined;

  /** `retry` sends a text again. */
  constructor(retry: (text: string) => void) {
    this.#retry = retry;
  }

  /** Shows the conversation as it is now. `waitingOf` tells what a call's tool asks the user, if it does. */
  update(snapshot: Snapshot, waitingOf: (call: ToolCall) => ToolWaiting | undefined): void {
    const { messages, toolCalls, error } = snapshot;
    const shown = messages.filter(({ role }) => role !== "system");
    for (const message of shown) {
      const view = this.#views.get(message.id) ?? new MessageView(message.role);
      this.#views.set(message.id, view);
      view.update(message, waitingOf);
    }
    const ids = new Set(shown.map(({ id }) => id));
    for (const [id, view] of this.#views) {
      if (ids.has(id)) continue;
      view.dispose();
      this.#views.delete(id);
    }
    arrange(
      this.#messages,
      shown.map(({ id }) => (this.#views.get(id) as MessageView).element),
    );

    const isAnswering = messages.at(-1)?.streaming === true;
    const isWaiting = toolCalls.some(({ state }) => state === "waiting" || state === "running");
    this.#thinking.hidden = snapshot.status !== "running" || isAnswering || isWaiting;
    if (error !== this.#shown?.error) this.#showProblem(snapshot);
    this.#announce(snapshot);
    this.#shown = snapshot;
  }

  /** Another conversation follows. */
  clear(): void {
    for (const view of this.#views.values()) view.dispose();
    this.#views.clear();
    this.#messages.replaceChildren();
    this.#problem.replaceChildren();
    this.#announcer.textContent = "";
    this.#thinking.hidden = true;
    this.#shown = undefined;
  }

  #showProblem({ error, status, messages }: Snapshot): void {
    this.#problem.replaceChildren();
    if (error === null) return;
    const { title, advice } = explainRun(error);
    const panel = h(
      "div",
      { class: "problem" },
      h("p", { class: "outcome" }, h("strong", {}, title), h("code", {}, error.code)),
    );
    panel.append(...[error.message, advice].filter(Boolean).map((text) => h("p", { class: "note" }, text)));
    const last = messages.filter(({ role }) => role === "human").at(-1);
    if (status === "failed" && last !== undefined) {
      const button = h("button", { type: "button", class: "button" }, "Try again");
      button.addEventListener("click", () => this.#retry(last.text));
      panel.append(button);
    }
    this.#problem.append(panel);
  }

  /** Tells screen readers what is new: answers when they are complete, and how tools ended. */
  #announce(snapshot: Snapshot): void {
    const before = this.#shown;
    if (before === undefined || before.connection !== "open") return;
    const news: string[] = [];
    for (const call of snapshot.toolCalls) {
      const was = before.toolCalls.find(
        ({ id, interruptId }) => id === call.id && interruptId === call.interruptId,
      );
      if (was !== undefined && was.state !== call.state && call.state in ENDED) {
        news.push(`${lookOf(call.name).title}: ${ENDED[call.state as keyof typeof ENDED]}.`);
      }
    }
    for (const { id, role, text, streaming } of snapshot.messages) {
      const was = before.messages.find((message) => message.id === id);
      if (role === "ai" && was?.streaming === true && !streaming && text !== "") news.push(text);
    }
    if (news.length > 0) this.#announcer.textContent = news.join(" ");
  }
}
