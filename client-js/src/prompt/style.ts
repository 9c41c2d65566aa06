/** The dialog's look. A page changes it with the custom properties, or with `::part(dialog)`, `::part(proceed)` ... */
export const STYLE = `
:host { all: initial; }
dialog {
  position: fixed; inset: auto 0 1rem; z-index: 2147483647; margin: 0 auto; box-sizing: border-box;
  width: min(26rem, calc(100vw - 2rem)); max-height: calc(100dvh - 2rem); overflow: auto; padding: 1rem 1.25rem;
  font: var(--farside-font, 1rem/1.5 system-ui, sans-serif);
  color: var(--farside-text, #1b1b1f); background: var(--farside-background, #fff);
  border: 1px solid var(--farside-border, #8a8a94); border-radius: var(--farside-radius, .75rem);
  box-shadow: 0 .5rem 2rem rgb(0 0 0 / .25);
}
h2 { margin: 0; font-size: 1em; font-weight: 600; overflow-wrap: anywhere; }
p { margin: .25rem 0 1rem; }
div { display: flex; flex-wrap: wrap; gap: .5rem; justify-content: flex-end; }
button {
  min-height: 2.75rem; padding: 0 1rem; font: inherit; color: inherit; background: none; cursor: pointer;
  border: 1px solid var(--farside-border, #8a8a94); border-radius: calc(var(--farside-radius, .75rem) / 1.5);
}
button:first-child { color: var(--farside-on-accent, #fff); background: var(--farside-accent, #2f4fd0); border-color: transparent; }
button:focus-visible { outline: 3px solid var(--farside-focus, #2f4fd0); outline-offset: 2px; }
@media (prefers-color-scheme: dark) {
  dialog { color: var(--farside-text, #f2f2f5); background: var(--farside-background, #25252b); }
  button:focus-visible { outline-color: var(--farside-focus, #7d97ff); }
}
`;
