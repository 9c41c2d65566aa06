import type { ToolResult } from "../wire/messages.ts";
import { isObject } from "../wire/values.ts";
import type { ContentBlock } from "./snapshot.ts";

/** A piece of a message's content. */
export type Block = Record<string, unknown>;

/** The content of a message in an agent's state, a text or blocks, as blocks. */
export function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) =>
    typeof block === "string" ? blocksOf(block) : isObject(block) ? [block] : [],
  );
}

/** All text blocks, joined. */
export function textOf(blocks: readonly ContentBlock[]): string {
  let text = "";
  // Blocks may come out of order: forEach leaves out those that have not come.
  blocks.forEach((block) => {
    if (block["type"] === "text" && typeof block["text"] === "string") text += block["text"];
  });
  return text;
}

/** What a tool message says about its call. A failure of a browser tool is written `Error (code): message`. */
export function resultOf(message: Block): ToolResult {
  if (message["status"] !== "error")
    return { status: "success", value: message["artifact"] ?? message["content"] };
  const text = textOf(blocksOf(message["content"]));
  const [, code = "failed", reason = text] = /^Error \((\w+)\): ([\s\S]*)$/.exec(text) ?? [];
  return { status: "error", error: { code, message: reason } };
}
