import type { ToolCall } from "farside";
import { h, svg } from "./dom.ts";
import type { IconName } from "./icons.ts";
import { Chart, ChartRequest } from "./tools/chart.ts";
import { Copying, Pasted } from "./tools/clipboard.ts";
import { Position } from "./tools/location.ts";
import { Memories, Memory } from "./tools/memory.ts";
import type { z } from "./zod.ts";

/** How a tool is shown: its name for people, and what its calls answered. */
export interface Look {
  readonly title: string;
  readonly icon: IconName;
  /** Undefined if the result is not of the kind that was expected. */
  readonly result: (call: ToolCall) => HTMLElement | undefined;
}

const LOOKS: Readonly<Record<string, Look>> = {
  get_location: {
    title: "Where am I",
    icon: "place",
    result: ({ result }) => read(Position, result, position),
  },
  copy_text: {
    title: "Copy",
    icon: "copy",
    result: ({ args }) => read(Copying, args, ({ text }) => quote(text)),
  },
  paste_text: { title: "Paste", icon: "paste", result: ({ result }) => read(Pasted, result, pasted) },
  remember: {
    title: "Remember",
    icon: "note",
    result: ({ result }) => read(Memory, result, (memory) => table([memory])),
  },
  recall: {
    title: "Recall",
    icon: "search",
    result: ({ result }) => read(Memories, result, ({ entries }) => table(entries)),
  },
  draw_chart: {
    title: "Draw a chart",
    icon: "chart",
    result: ({ args, result }) =>
      read(Chart, result, (chart) => read(ChartRequest, args, (asked) => picture(chart, asked))),
  },
};

export function lookOf(name: string): Look {
  return LOOKS[name] ?? { title: name, icon: "tool", result: () => undefined };
}

/** Any value, readable. */
export function plainly(value: unknown): HTMLElement {
  const text = JSON.stringify(
    value,
    (_, inner) => (inner instanceof Uint8Array ? `${inner.length} bytes` : inner),
    2,
  );
  return h("pre", { class: "plain", tabindex: 0 }, text);
}

function read<S extends z.ZodType>(
  schema: S,
  value: unknown,
  show: (value: z.infer<S>) => HTMLElement | undefined,
): HTMLElement | undefined {
  const { success, data } = schema.safeParse(value);
  return success ? show(data) : undefined;
}

function position({ latitude, longitude, accuracy }: z.infer<typeof Position>): HTMLElement {
  const degrees = (value: number, signs: string) =>
    `${Math.abs(value).toFixed(5)}° ${signs[value < 0 ? 1 : 0]}`;
  const metres = accuracy < 1000 ? `${accuracy.toFixed(0)} m` : `${(accuracy / 1000).toFixed(1)} km`;
  const rows = [
    ["Latitude", degrees(latitude, "NS")],
    ["Longitude", degrees(longitude, "EW")],
    ["Accuracy", `± ${metres}`],
  ] as const;
  const list = h(
    "dl",
    {},
    ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
  return h("div", { class: "position" }, globe(latitude, longitude), list);
}

/** The whole earth as a grid of 30 degrees, and where on it the position is. */
function globe(latitude: number, longitude: number): SVGElement {
  const lines: SVGElement[] = [];
  for (let x = 30; x < 360; x += 30)
    lines.push(svg("path", { d: `M${x} 0v180`, class: x === 180 ? "axis" : "grid" }));
  for (let y = 30; y < 180; y += 30)
    lines.push(svg("path", { d: `M0 ${y}h360`, class: y === 90 ? "axis" : "grid" }));
  const place = { cx: longitude + 180, cy: 90 - latitude };
  return svg(
    "svg",
    {
      viewBox: "0 0 360 180",
      class: "globe",
      role: "img",
      "aria-label": "The position on the grid of the earth",
    },
    ...lines,
    svg("circle", { ...place, r: 18, class: "halo" }),
    svg("circle", { ...place, r: 7, class: "spot" }),
  );
}

function quote(text: string): HTMLElement {
  return h("blockquote", { class: "quote", tabindex: 0 }, text);
}

function pasted({ text, truncated }: z.infer<typeof Pasted>): HTMLElement {
  if (text === "") return note("There is no text on the clipboard.");
  return h("div", {}, quote(text), truncated && note("The clipboard holds more; this is the beginning."));
}

function table(entries: readonly z.infer<typeof Memory>[]): HTMLElement {
  if (entries.length === 0) return note("Nothing remembered.");
  const head = h("tr", {}, h("th", { scope: "col" }, "What"), h("th", { scope: "col" }, "Remembered"));
  const rows = entries.map(({ key, value }) =>
    h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, value)),
  );
  return h("table", { class: "memories" }, h("thead", {}, head), h("tbody", {}, ...rows));
}

function picture(
  { image, mime_type, width, height }: z.infer<typeof Chart>,
  { kind, title, values }: z.infer<typeof ChartRequest>,
): HTMLElement {
  const alt = `${kind === "bar" ? "Bar" : "Line"} chart${title === "" ? "" : ` “${title}”`} of ${values.join(", ")}`;
  const src = URL.createObjectURL(new Blob([image], { type: mime_type }));
  return h("img", { class: "picture", src, alt, width, height });
}

/** Lets go of what a result holds on to. */
export function dispose(element: HTMLElement): void {
  for (const image of element.querySelectorAll("img")) URL.revokeObjectURL(image.src);
}

function note(text: string): HTMLElement {
  return h("p", { class: "note" }, text);
}
