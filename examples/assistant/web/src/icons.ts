import { svg } from "./dom.ts";

const PATHS = {
  plus: ["M12 5v14", "M5 12h14"],
  send: ["M12 19V5", "M6 11l6-6 6 6"],
  stop: ["M8 8h8v8H8z"],
  place: [
    "M12 21s-6.5-5.6-6.5-11a6.5 6.5 0 0 1 13 0c0 5.4-6.5 11-6.5 11Z",
    "M12 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
  ],
  copy: ["M9 9h10v11H9z", "M15 9V4H5v11h4"],
  paste: ["M8 5H6v15h12V5h-2", "M9 3.5h6v3H9z", "M9.5 12h5", "M9.5 15.5h5"],
  note: ["M6 3.5h12v17l-6-4-6 4z"],
  search: ["M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Z", "M20 20l-4-4"],
  chart: ["M4 20h16", "M7 16v-5", "M12 16V5", "M17 16V9"],
  tool: ["M14 6a4 4 0 0 0 4.9 5L11 19a2.8 2.8 0 0 1-4-4l8-7.9a4 4 0 0 1 4.5-3.6L16.5 6Z"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  cross: ["M7 7l10 10", "M17 7L7 17"],
  minus: ["M7 12h10"],
  alert: ["M12 5v9", "M12 18.5v.1"],
} satisfies Record<string, readonly string[]>;

export type IconName = keyof typeof PATHS;

/** Makes an icon, which only decorates: what it stands for is said beside it. */
export function icon(name: IconName): SVGSVGElement {
  const strokes = PATHS[name].map((d) => svg("path", { d }));
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, ...strokes);
}
