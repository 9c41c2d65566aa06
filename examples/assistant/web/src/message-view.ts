import type { Message, ToolCall, ToolWaiting } from "farside";
import { arrange, h } from "./dom.ts";
import { markdown } from "./markdown.ts";
import { ToolCard } from "./tool-card.ts";

/** A message with the tool calls that it asked for. */
export class MessageView {
  readonly element: HTMLLIElement;
  readonly #speaker = h("h3", { class: "visually-hidden" });
  readonly #text = h("div", { class: "text" });
  readonly #cards: ToolCard[] = [];
  #shown: Message | undefined;

  constructor(role: Message["role"]) {
    this.#speaker.textContent = role === "human" ? "You" : "Assistant";
    this.element = h("li", { class: `message ${role}` }, this.#speaker, this.#text);
  }

  /** Shows the message as it is now. `waitingOf` tells what a call's tool asks the user, if it does. */
  update(message: Message, waitingOf: (call: ToolCall) => ToolWaiting | undefined): void {
    if (message.text !== this.#shown?.text) {
      this.#text.replaceChildren(message.role === "human" ? message.text : markdown(message.text));
    }
    this.#text.hidden = message.text === "";
    this.element.classList.toggle("streaming", message.streaming);
    this.#shown = message;
    for (const [index, call] of message.toolCalls.entries()) {
      const card = this.#cards[index] ?? new ToolCard(call.name);
      this.#cards[index] = card;
      card.update(call, waitingOf(call));
    }
    arrange(this.element, [this.#speaker, this.#text, ...this.#cards.map(({ element }) => element)]);
  }

  dispose(): void {
    for (const card of this.#cards) card.dispose();
  }
}
