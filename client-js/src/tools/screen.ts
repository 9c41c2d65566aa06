import * as declarations from "./declarations.gen.ts";
import { refused } from "./refusal.ts";
import { until } from "./waiting.ts";

/** Options of {@link takeScreenshot}. */
export interface TakeScreenshotOptions {
  /** What may be looked at: CSS selectors, by the names that the agent knows. By default `{ page: "body" }`. */
  readonly elements?: Readonly<Record<string, string>>;
  /** A CSS selector of what is left out of the picture. */
  readonly hide?: string;
}

/** The largest height of a picture, in pixels. */
const MAX_HEIGHT = 8192;

/**
 * `take_screenshot`: the agent looks at the page or at a part of it. The picture is made of the document by the library
 * `modern-screenshot`, which the page installs; frames and images of other origins may be missing.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const takeScreenshot = ({ elements = { page: "body" }, hide }: TakeScreenshotOptions = {}) =>
  declarations.take_screenshot.implement(async ({ element: name, max_width }, { signal }) => {
    const element = Object.hasOwn(elements, name) && document.querySelector(elements[name] as string);
    if (!element) {
      const names = Object.keys(elements).join(", ");
      throw refused("invalid_args", `Expected an element that is shown, of ${names}; got ${name}.`);
    }
    const { scrollWidth: width, scrollHeight: height } = element;
    if (!width || !height) throw refused("failed", `${name} is not to be seen now.`);
    const { domToBlob } = await until(signal, library());
    const taken = domToBlob(element, {
      width,
      height,
      backgroundColor: backgroundOf(element),
      scale: Math.min(1, max_width / width, MAX_HEIGHT / height),
      filter: (node) => !(hide && node instanceof Element && node.matches(hide)),
    });
    return until(signal, taken);
  });

/** The color that is seen behind an element. */
function backgroundOf(element: Element): string {
  const { backgroundColor } = getComputedStyle(element);
  if (!/^rgba\(.*, 0\)$/.test(backgroundColor)) return backgroundColor;
  return element.parentElement ? backgroundOf(element.parentElement) : "white";
}

async function library() {
  try {
    return await import("modern-screenshot");
  } catch (error) {
    throw refused(
      "unsupported",
      "This page takes no screenshots: modern-screenshot is not installed.",
      error,
    );
  }
}
