import type { ToolCall, ToolWaiting } from "farside";
import { h } from "./dom.ts";
import { icon } from "./icons.ts";
import { dispose, lookOf, plainly } from "./results.ts";
import { explainCall } from "./words.ts";

const STATES = {
  waiting: "Waiting",
  running: "Running",
  answered: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
} as const;

/** A tool call in the conversation: what was asked of which tool, and what came of it. */
export class ToolCard {
  readonly element = h("article", { class: "card" });
  readonly #state = h("p", { class: "state" });
  readonly #content = h("div", { class: "content" });
  readonly #args = h("details", { class: "args" });
  #call: ToolCall | undefined;
  #waiting: ToolWaiting | undefined;

  constructor(name: string) {
    const look = lookOf(name);
    const title = h("h3", {}, look.title);
    this.element.append(h("header", {}, h("span", { class: "badge" }, icon(look.icon)), title, this.#state));
    this.element.append(this.#content, this.#args);
    this.element.setAttribute("aria-label", `Tool ${look.title}`);
    this.element.dataset["tool"] = name;
  }

  /** Shows the call as it is now. `waiting`: what its tool asks the user. */
  update(call: ToolCall, waiting: ToolWaiting | undefined): void {
    if (call === this.#call && waiting === this.#waiting) return;
    const before = this.#call;
    this.#call = call;
    this.#waiting = waiting;
    this.element.dataset["state"] = waiting ? "waiting" : call.state;
    this.#state.replaceChildren(...stateOf(call, waiting));
    if (call.args !== before?.args) this.#showArgs(call.args);
    if (call.state === before?.state && call.result === before.result && call.state === "answered") return;
    this.dispose();
    this.#content.replaceChildren(...contentOf(call, waiting));
  }

  /** Lets go of what the card holds on to. */
  dispose(): void {
    dispose(this.#content);
  }

  #showArgs(args: ToolCall["args"]): void {
    this.#args.replaceChildren(h("summary", {}, "Arguments"), plainly(args));
    this.#args.hidden = Object.keys(args).length === 0;
  }
}

function stateOf({ state }: ToolCall, waiting: ToolWaiting | undefined): Node[] {
  const text = waiting ? "Asks you" : STATES[state];
  const sign = {
    waiting: h("span", { class: "spinner slow" }),
    running: h("span", { class: "spinner" }),
    answered: icon("check"),
    failed: icon("alert"),
    cancelled: icon("minus"),
  }[state];
  return [sign, document.createTextNode(text)];
}

function contentOf(call: ToolCall, waiting: ToolWaiting | undefined): HTMLElement[] {
  if (waiting !== undefined) {
    const goOn = h("button", { type: "button", class: "button primary" }, "Go on");
    const notNow = h("button", { type: "button", class: "button" }, "Not now");
    goOn.addEventListener("click", waiting.proceed);
    notNow.addEventListener("click", waiting.dismiss);
    return [h("p", { class: "note" }, "The browser allows this only after a click."), goOn, notNow];
  }
  if (call.state === "answered") return [lookOf(call.name).result(call) ?? plainly(call.result)];
  if (call.state === "failed" || call.state === "cancelled") {
    const { title, advice } = explainCall(call);
    const { code, message } = call.error ?? {};
    return [
      h("p", { class: "outcome" }, h("strong", {}, title), code !== undefined && h("code", {}, code)),
      ...[message, advice]
        .filter((text) => text !== undefined)
        .map((text) => h("p", { class: "note" }, text)),
    ];
  }
  if (typeof call.progress === "string") return [h("p", { class: "note" }, call.progress)];
  return [];
}
