import * as declarations from "./declarations.gen.ts";

/** Options of {@link getSelection}. */
export interface GetSelectionOptions {
  /** A CSS selector: what is selected outside of it is not the agent's. By default the whole page. */
  readonly within?: string;
}

/** What is selected in the page, apart from fields. */
interface Selected {
  readonly text: string;
  readonly range: Range;
}

/** The inputs that have a selection, without passwords. */
const TEXTS = ["text", "search", "url", "tel"];

let isWatching = false;
/** What was selected before the user went to a field: browsers drop the page's selection for the field's caret. */
let dropped: Selected | undefined;

/**
 * `get_selection`: the text that the user has selected, in the page or in a text field. A selection in the page still counts
 * when the user then types somewhere, to the agent perhaps.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const getSelection = ({ within }: GetSelectionOptions = {}) => {
  watch();
  return declarations.get_selection.implement(({ max_length }) => {
    const field = document.activeElement;
    const text = isField(field)
      ? selectedIn(field, within) || textOf(dropped, within)
      : textOf(selectedInPage(), within);
    const begin = text.slice(0, max_length);
    // Half of a pair of surrogates cannot be sent.
    return { text: begin.replace(/\p{Surrogate}/gu, "\uFFFD"), truncated: text.length > max_length };
  });
};

/** Notes what is dropped: one pair of listeners for all instances of the tool, which a page may make anew. */
function watch(): void {
  const page = (globalThis as Partial<typeof globalThis>).document;
  if (!page || isWatching) return;
  isWatching = true;
  page.addEventListener("focusin", ({ target, relatedTarget }) => {
    if (isField(target) && !isField(relatedTarget)) dropped = selectedInPage();
  });
  page.addEventListener("selectionchange", () => {
    if (!isField(document.activeElement)) dropped = undefined;
  });
}

function isField(target: unknown): target is HTMLInputElement | HTMLTextAreaElement {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
}

function selectedIn(field: HTMLInputElement | HTMLTextAreaElement, within: string | undefined): string {
  const isReadable =
    (within === undefined || field.closest(within)) &&
    (field.type === "textarea" || TEXTS.includes(field.type));
  return isReadable ? field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0) : "";
}

function selectedInPage(): Selected | undefined {
  const selection = document.getSelection();
  if (!selection?.rangeCount) return undefined;
  return { text: selection.toString(), range: selection.getRangeAt(0).cloneRange() };
}

function textOf(selected: Selected | undefined, within: string | undefined): string {
  if (!selected || within === undefined) return selected?.text ?? "";
  const { range } = selected;
  const texts = Array.from(document.querySelectorAll(within), (element) => {
    if (!range.intersectsNode(element) || element.parentElement?.closest(within)) return "";
    const part = document.createRange();
    part.selectNodeContents(element);
    if (part.comparePoint(range.startContainer, range.startOffset) === 0) {
      part.setStart(range.startContainer, range.startOffset);
    }
    if (part.comparePoint(range.endContainer, range.endOffset) === 0) {
      part.setEnd(range.endContainer, range.endOffset);
    }
    return part.toString();
  });
  return texts.filter(Boolean).join("\n");
}
