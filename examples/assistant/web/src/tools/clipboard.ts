import { FarsideError, tool } from "farside";
import { z } from "../zod.ts";

const LIMIT = 20_000;

export const Copying = z.object({ text: z.string() });
export const Pasted = z.object({ text: z.string(), truncated: z.boolean() });

export const copyText = tool({
  name: "copy_text",
  description: "Put a text on the clipboard.",
  schema: Copying,
  result: z.object({ characters: z.number() }),
}).implement(
  async ({ text }) => {
    await clipboard().writeText(text);
    return { characters: [...text].length };
  },
  { activation: "required" },
);

export const pasteText = tool({
  name: "paste_text",
  description: "Read the text on the clipboard.",
  result: Pasted,
}).implement(
  async (_args, { progress }) => {
    progress("Your browser may ask whether this page may see your clipboard.");
    const text = await clipboard().readText();
    return { text: wellFormed(text.slice(0, LIMIT)), truncated: text.length > LIMIT };
  },
  { activation: "required" },
);

function clipboard(): Clipboard {
  if (navigator.clipboard === undefined) {
    throw new FarsideError("unsupported", "The clipboard is there for pages on https and localhost only.");
  }
  return navigator.clipboard;
}

/** Without halves of characters, which a clipboard may hold and a message may not. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\u{FFFD}");
}
