import { attempt } from "../attempt.ts";
import { type Tool, tool } from "../index.ts";
import { ANYTHING } from "../tool/tool.ts";
import { escapeBytes } from "../wire/values.ts";
import { type ModelContext, modelContext, type RegisteredTool } from "./model-context.ts";

/**
 * Offers the server tools that the page has registered with `document.modelContext`: those of these names, which the server
 * declares. `onTools` hears soon which of them are there, and again whenever that changes. Returns how to stop; undefined, and
 * `onTools` is never called, where the browser has no such thing.
 *
 * ```ts
 * adopt(["add_to_cart"], (adopted) => client.setTools([...tools, ...adopted]));
 * ```
 *
 * The server has checked the arguments. The browser hands a tool's value over as text: JSON objects and arrays are read, `null` and
 * `undefined` are null, anything else stays text. Of a tool that throws it says only that it failed.
 */
export function adopt(
  names: readonly string[],
  onTools: (tools: readonly Tool[]) => void,
): (() => void) | undefined {
  const context = modelContext();
  if (context === undefined) return undefined;
  const stop = new AbortController();
  let newest = 0;
  const look = async () => {
    const mine = ++newest;
    const registered = await context.getTools();
    if (mine !== newest || stop.signal.aborted) return;
    // Other frames speak for themselves.
    const found = registered.filter((each) => each.window === globalThis && names.includes(each.name));
    onTools(found.map((each) => adopted(context, each)));
  };
  context.addEventListener("toolchange", look, stop);
  void look();
  return () => stop.abort();
}

function adopted(context: ModelContext, registered: RegisteredTool): Tool {
  const { name, description } = registered;
  return tool({ name, description, schema: ANYTHING }).implement(async (args, { signal }) =>
    valueIn(await context.executeTool(registered, escapeBytes(args) as object, { signal })),
  );
}

function valueIn(text: string | null): unknown {
  if (text === "undefined" || text === "null") return null;
  return (/^[[{]/.test(`${text}`) && attempt(() => JSON.parse(`${text}`))) || text;
}
