/** How the dialog looks. Pages change it by custom properties on `:root`. */
export const DIALOG_CSS = `
:host { all: initial; color-scheme: inherit }
dialog {
  box-sizing: border-box; width: min(28rem, calc(100vw - 2rem)); max-height: calc(100dvh - 2rem);
  overflow: auto; scroll-padding-bottom: 6rem; padding: 1.5rem; border: 1px solid color-mix(in srgb, CanvasText 20%, transparent);
  border-radius: var(--farside-radius, 12px); color-scheme: var(--farside-color-scheme, inherit);
  background: var(--farside-background, Canvas); color: var(--farside-color, CanvasText);
  font: 1rem/1.5 var(--farside-font, system-ui, sans-serif); outline: none;
}
dialog::backdrop { background: rgb(0 0 0 / 45%) }
h2 { margin: 0 0 .5rem; font-size: 1.25rem; line-height: 1.3 }
p { margin: 0 0 1rem; white-space: pre-line; overflow-wrap: anywhere }
form > div { margin-bottom: 1rem }
label { display: block; font-weight: 600; overflow-wrap: anywhere }
small { display: block; opacity: .8 }
input, select, textarea, button {
  box-sizing: border-box; font: inherit; color: inherit; background: var(--farside-field, Field);
  border: 1px solid color-mix(in srgb, CanvasText 55%, transparent); border-radius: calc(var(--farside-radius, 12px) / 2);
  padding: .5rem .75rem;
}
input:not([type=checkbox]), select, textarea { display: block; width: 100%; margin-top: .25rem }
input[type=checkbox] { width: 1.1rem; height: 1.1rem; margin: 0 .5rem 0 0; vertical-align: -.15rem }
:focus-visible:not(dialog) { outline: 3px solid var(--farside-accent, light-dark(#0b57d0, #8ab4f8)); outline-offset: 2px }
footer {
  display: flex; justify-content: flex-end; gap: .75rem; position: sticky; bottom: -1.5rem;
  margin: 1.5rem -1.5rem -1.5rem; padding: 1rem 1.5rem; background: var(--farside-background, Canvas);
}
button { cursor: pointer; background: none }
button[type=submit] {
  background: var(--farside-accent, light-dark(#0b57d0, #8ab4f8)); border-color: transparent;
  color: var(--farside-accent-text, light-dark(#fff, #062e6f));
}
`;
