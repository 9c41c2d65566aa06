import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Waiting } from "../core/waiting.ts";
import { FarsideError } from "../errors.ts";
import type { ToolResult } from "../wire/messages.ts";
import { plain } from "../wire/values.ts";
import { admission } from "./admission.ts";
import { hasGesture } from "./gesture.ts";
import { mediaIn } from "./media.ts";
import { errorBodyOf } from "./thrown.ts";
import type { ImplementedTool, ToolContext } from "./tool.ts";

/**
 * Executes a call with a tool, from its arguments to its result. Never throws: what goes wrong is the result.
 * `onWaiting` is called when the body has to wait for the user first.
 */
export async function resultOfBody(
  tool: ImplementedTool<StandardSchemaV1, StandardSchemaV1>,
  args: unknown,
  context: ToolContext,
  onWaiting: (waiting: Waiting) => void,
): Promise<ToolResult> {
  let hadGesture = true;
  try {
    // The body may change its arguments; the snapshot shows the ones that came.
    const parsed = await tool.parseArgs(plain(args));
    await admission(tool.tool, tool.options, context.signal, onWaiting);
    hadGesture = hasGesture();
    const value = await tool.parseResult(await tool.run(parsed, context));
    return { status: "success", value: inDataModel(value, await mediaIn(value)) };
  } catch (thrown) {
    return { status: "error", error: errorBodyOf(thrown, hadGesture) };
  }
}

function inDataModel(value: unknown, carried: ReadonlyMap<unknown, unknown>): unknown {
  try {
    return plain(value, carried);
  } catch (cause) {
    throw new FarsideError("invalid_result", `The result cannot be sent: ${cause}`, { cause });
  }
}
