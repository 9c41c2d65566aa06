import { h } from "./dom.ts";

/**
 * Renders the little Markdown that models write: paragraphs, lists, headings, code, bold and italic. Everything else
 * stays the text that it is, links and HTML among it.
 */
export function markdown(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let paragraph: string[] = [];
  let list: HTMLUListElement | HTMLOListElement | undefined;
  const endParagraph = () => {
    if (paragraph.length > 0) fragment.append(h("p", {}, inline(paragraph.join("\n"))));
    paragraph = [];
  };
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const fence = /^\s*```/.exec(line);
    const item = /^\s*(?:([-*+])|\d{1,3}[.)])\s+(.*)$/.exec(line);
    const heading = /^#{1,6}\s+(.*)$/.exec(line);
    if (item === null) list = undefined;
    if (fence !== null || item !== null || heading !== null || line.trim() === "") endParagraph();
    if (fence !== null) {
      const end = lines.findIndex((other, place) => place > index && /^\s*```\s*$/.test(other));
      const code = lines.slice(index + 1, end === -1 ? lines.length : end).join("\n");
      fragment.append(h("pre", { tabindex: 0 }, h("code", {}, code)));
      index = end === -1 ? lines.length : end;
    } else if (item !== null) {
      const tag = item[1] === undefined ? "ol" : "ul";
      if (list?.localName !== tag) list = h(tag);
      fragment.append(list);
      list.append(h("li", {}, inline(item[2] ?? "")));
    } else if (heading !== null) {
      fragment.append(h("p", {}, h("strong", {}, inline(heading[1] ?? ""))));
    } else if (line.trim() !== "") {
      paragraph.push(line);
    }
  }
  endParagraph();
  return fragment;
}

const MARKS = /`([^`\n]+)`|\*\*(\S(?:[^*]*\S)?)\*\*|(?<![\w*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])/g;

function inline(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    const [whole, code, bold, italic] = match;
    fragment.append(text.slice(end, match.index));
    if (code !== undefined) fragment.append(h("code", {}, code));
    else if (bold !== undefined) fragment.append(h("strong", {}, bold));
    else fragment.append(h("em", {}, italic));
    end = match.index + whole.length;
  }
  fragment.append(text.slice(end));
  return fragment;
}
