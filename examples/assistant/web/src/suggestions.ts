import { type About, fetchAbout } from "./about.ts";
import { byId, h } from "./dom.ts";

const SCRIPTED =
  "A small script plays the language model, so that this works without an API key: it understands the sentences below and what resembles them. The tools are real, and run in this page.";
const REAL = "Ask for something that needs your browser. The tools run in this page.";

/** What the page says about who answers, and sentences to begin with. */
export class Suggestions {
  readonly #welcome = byId("welcome", HTMLElement);
  readonly #shortcuts = byId("shortcuts", HTMLUListElement);
  readonly #choose: (sentence: string) => void;

  /** `choose` is called with a sentence that was clicked. */
  constructor(choose: (sentence: string) => void) {
    this.#choose = choose;
  }

  async load(): Promise<void> {
    this.#show(await fetchAbout());
  }

  /** A conversation that has not begun is introduced; later the sentences stay within reach. */
  update(hasBegun: boolean, canSend: boolean): void {
    this.#welcome.hidden = hasBegun;
    this.#shortcuts.hidden = !hasBegun;
    for (const list of [this.#welcome, this.#shortcuts]) {
      for (const button of list.querySelectorAll("button")) button.disabled = !canSend;
    }
  }

  #show({ model, scripted, sentences }: About): void {
    const chip = byId("model", HTMLParagraphElement);
    chip.textContent = scripted ? "Scripted model" : model;
    chip.hidden = false;
    byId("introduction", HTMLParagraphElement).textContent = scripted ? SCRIPTED : REAL;
    for (const list of [byId("suggestions", HTMLUListElement), this.#shortcuts]) {
      list.replaceChildren(...sentences.map((sentence) => h("li", {}, this.#button(sentence))));
    }
  }

  #button(sentence: string): HTMLButtonElement {
    const button = h("button", { type: "button" }, sentence);
    button.addEventListener("click", () => this.#choose(sentence));
    return button;
  }
}
