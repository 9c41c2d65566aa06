/** What an element may contain. */
export type Child = Node | string | false | null | undefined;

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element. Text is always text: nothing here parses HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** The element of the page with this id. */
export function byId<E extends HTMLElement>(id: string, type: new () => E): E {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`expected a ${type.name} with the id ${id} in the page`);
  return element;
}

/** Makes `elements` the children of `parent`, moving no more than it must: what stays keeps its focus and scrolling. */
export function arrange(parent: Element, elements: readonly Element[]): void {
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  for (const [index, element] of elements.entries()) {
    const there = parent.children[index];
    if (there !== element) parent.insertBefore(element, there ?? null);
  }
}

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== false && child !== null && child !== undefined));
  return element;
}
