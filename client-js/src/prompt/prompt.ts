import type { ToolEvent, ToolWaiting } from "../index.ts";
import { STYLE } from "./style.ts";

/** What {@link createPrompt} takes. */
export interface PromptOptions {
  /** What the dialog says about a tool; without it the tool's name, as words. */
  readonly describe?: ((waiting: ToolWaiting) => string) | undefined;
  /** The dialog's words, in the language of the page. */
  readonly words?: Partial<Words> | undefined;
  /** Where the dialog is put; the page's body without it. */
  readonly parent?: Element | undefined;
}

interface Words {
  /** Below the tool, when the user has to agree. */
  readonly consent: string;
  /** Below the tool, when the browser wants a click. */
  readonly activation: string;
  readonly proceed: string;
  readonly dismiss: string;
}

/** Takes what `onTool` hears. */
export interface Prompt {
  (event: ToolEvent): void;
  /** Takes the dialog out of the page; what waits goes on waiting. */
  remove(): void;
}

const WORDS: Words = {
  consent: "The assistant wants to use this on your device.",
  activation: "The browser allows this only after a click.",
  proceed: "Go on",
  dismiss: "Not now",
};

/**
 * Makes the dialog that asks the user for clicks and consent, one tool after the other.
 *
 * ```ts
 * const client = createClient({ url: "/farside", agent: "assistant", tools, onTool: createPrompt() });
 * ```
 *
 * It stands in a shadow root, does not take the page from the user, and works under a strict Content-Security-Policy. The custom
 * properties `--farside-background`, `-text`, `-accent`, `-on-accent`, `-border`, `-radius`, `-focus` and `-font` change its look.
 */
export function createPrompt({ describe = wordsOf, words, parent }: PromptOptions = {}): Prompt {
  const said = { ...WORDS, ...words };
  const waiting = new Set<ToolWaiting>();
  let dialog: Dialog | undefined;
  let shown: ToolWaiting | undefined;

  const show = () => {
    const [next] = waiting;
    if (next === shown) return;
    shown = next;
    if (next === undefined) return dialog?.hide();
    dialog ??= makeDialog(parent, said, (answer) => {
      const answered = shown;
      if (answered === undefined) return;
      waiting.delete(answered);
      // While the click lasts.
      answered[answer]();
      show();
    });
    dialog.show(described(next), said[next.reason]);
  };

  /** A page's own words must not hold up the questions behind this one. */
  const described = (next: ToolWaiting) => {
    try {
      return describe(next);
    } catch (error) {
      console.error(error);
      return wordsOf(next);
    }
  };

  const forget = (gone: (event: ToolWaiting) => boolean) => {
    for (const event of waiting) if (gone(event)) waiting.delete(event);
    show();
  };

  const prompt = (event: ToolEvent) => {
    const { phase, threadId, toolCallId } = event;
    if (phase === "progress") return;
    if (phase !== "waiting") {
      return forget((other) => other.threadId === threadId && other.toolCallId === toolCallId);
    }
    event.signal.addEventListener("abort", () => forget((other) => other === event), { once: true });
    waiting.add(event);
    show();
  };
  return Object.assign(prompt, {
    remove: () => {
      dialog?.remove();
      dialog = shown = undefined;
    },
  });
}

interface Dialog {
  show(title: string, text: string): void;
  hide(): void;
  remove(): void;
}

/** How long a new question takes no click: one that is on its way was meant for something else. */
const PAUSE_MS = 500;

function makeDialog(
  parent: Element | undefined,
  { proceed, dismiss }: Words,
  answered: (answer: "proceed" | "dismiss") => void,
): Dialog {
  const host = element("farside-prompt");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];

  const dialog = element("dialog");
  const title = element("h2");
  const text = element("p");
  const buttons = element("div");
  const button = (answer: "proceed" | "dismiss", label: string) => {
    const made = element("button");
    made.type = "button";
    made.textContent = label;
    made.part.add(answer);
    made.addEventListener("click", () => answered(answer));
    return made;
  };
  title.id = "title";
  text.id = "text";
  dialog.part.add("dialog");
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.setAttribute("aria-describedby", text.id);
  dialog.tabIndex = -1;
  dialog.addEventListener("keydown", (event) => {
    if (event.repeat) event.preventDefault();
    else if (event.key === "Escape") answered("dismiss");
  });
  buttons.append(button("proceed", proceed), button("dismiss", dismiss));
  dialog.append(title, text, buttons);
  // Who types is not interrupted, but hears of it.
  const announced = element("section");
  announced.ariaLive = "assertive";
  announced.append(dialog);
  root.append(announced);
  let before: Element | null = null;
  let pause: ReturnType<typeof setTimeout> | undefined;

  const enable = (isEnabled: boolean) => {
    for (const each of buttons.children) (each as HTMLButtonElement).disabled = !isEnabled;
  };

  return {
    show(what, why) {
      // A page may replace its body, and nothing can be used that lies outside of an open modal dialog.
      const place = [...document.querySelectorAll("dialog:modal")].at(-1) ?? parent ?? document.body;
      if (host.parentNode !== place) place.append(host);
      title.textContent = what;
      text.textContent = why;
      enable(false);
      clearTimeout(pause);
      pause = setTimeout(() => enable(true), PAUSE_MS);
      if (!dialog.open) {
        before = focused();
        // `dialog.show()` would take the focus from who types.
        dialog.open = true;
      }
      if (!isTyping(focused())) dialog.focus();
    },
    hide() {
      const hadFocus = host.matches(":focus-within");
      dialog.open = false;
      if (hadFocus) (before as HTMLElement | null)?.focus?.();
    },
    remove: () => host.remove(),
  };
}

/** What has the focus, in whatever shadow root it is. */
function focused(): Element | null {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}

/** Whether the user may be typing there: what a frame has in it, nobody knows. */
function isTyping(focused: Element | null): boolean {
  return focused?.matches("input, textarea, select, iframe, [contenteditable], [role=textbox]") === true;
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name): HTMLElementTagNameMap[Name];
function element(name: string): HTMLElement;
function element(name: string): HTMLElement {
  return document.createElement(name);
}

/** `read_clipboard_text` -> `Read clipboard text`. */
function wordsOf({ name }: ToolWaiting): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
