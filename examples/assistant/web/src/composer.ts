import { byId } from "./dom.ts";
import { icon } from "./icons.ts";

/** What the composer lets its user do. */
export interface ComposerOptions {
  readonly submit: (text: string) => void;
  readonly stop: () => void;
}

/** The box in which messages are written. */
export class Composer {
  readonly #form = byId("composer", HTMLFormElement);
  readonly #text = byId("text", HTMLTextAreaElement);
  readonly #send = byId("send", HTMLButtonElement);
  readonly #stop = byId("stop", HTMLButtonElement);
  readonly #options: ComposerOptions;
  #canSend = true;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#send.append(icon("send"));
    this.#stop.append(icon("stop"));
    this.#stop.addEventListener("click", options.stop);
    this.#text.addEventListener("input", () => this.#changed());
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#changed();
  }

  /** `isRunning`: there is something to stop. `canSend`: a message would be taken now. */
  update(isRunning: boolean, canSend: boolean): void {
    const hadFocus = document.activeElement === this.#stop;
    this.#stop.hidden = !isRunning;
    if (hadFocus && !isRunning) this.focus();
    this.#canSend = canSend;
    this.#changed();
  }

  /** A message was not taken. */
  giveBack(text: string): void {
    if (this.#text.value !== "") return;
    this.#text.value = text;
    this.#changed();
  }

  focus(): void {
    this.#text.focus();
  }

  #submit(): void {
    const text = this.#text.value.trim();
    if (text === "" || !this.#canSend) return;
    this.#text.value = "";
    this.#changed();
    this.#options.submit(text);
  }

  #changed(): void {
    this.#send.disabled = !this.#canSend || this.#text.value.trim() === "";
    this.#text.style.height = "auto";
    this.#text.style.height = `${this.#text.scrollHeight}px`;
  }
}
