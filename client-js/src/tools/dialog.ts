import { DIALOG_CSS } from "./dialog-css.ts";

/**
 * Shows a modal dialog over the page, in a shadow root, and returns how to take it away. `onCancel`: the user has pressed
 * Escape. It works under a strict Content-Security-Policy: it has neither markup nor style attributes. The dialog itself has the
 * focus at first: a key that was meant for the page, while the user typed, does nothing in it.
 */
export function showDialog(
  title: string,
  message: string | null | undefined,
  content: Node,
  onCancel: () => void,
): () => void {
  const dialog = element("dialog", { oncancel: onCancel, tabIndex: -1 }, [
    element("h2", { id: "title", textContent: title }),
  ]);
  dialog.setAttribute("aria-labelledby", "title");
  if (message) {
    dialog.append(element("p", { id: "message", textContent: message }));
    dialog.setAttribute("aria-describedby", "message");
  }
  dialog.append(content);
  const host = document.createElement("farside-dialog");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(DIALOG_CSS);
  root.adoptedStyleSheets = [sheet];
  root.append(dialog);
  document.body.append(host);
  dialog.showModal();
  dialog.focus();
  return () => {
    // The focus goes back to where it was.
    dialog.close();
    host.remove();
  };
}

/** An element with these properties and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: object,
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.append(...children);
  return Object.assign(made, properties);
}
