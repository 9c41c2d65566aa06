import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { attempt } from "../attempt.ts";
import { FarsideError, type ToolEvent, type ToolImplementation } from "../index.ts";
import { resultOfBody } from "../tool/body.ts";
import { adopt } from "../tool/tool.ts";
import { escapeBytes } from "../wire/values.ts";
import { type ModelContextTool, modelContext } from "./model-context.ts";

/** What {@link exposeToModelContext} takes besides the tools. */
export interface ExposeOptions {
  /**
   * Asks the user when a tool needs a click or consent: hears `waiting`, and `cancelled` should the caller withdraw. What
   * `createPrompt` makes fits. Without it such a call fails with `needs_gesture`.
   */
  readonly onTool?: ((event: ToolEvent) => void) | undefined;
}

/** Tools that the browser's own agent may call. */
export interface Exposure {
  /** Rejects with `invalid_argument` if the browser does not take one of the tools; none of them is there then. */
  readonly registered: Promise<void>;
  /** Takes the tools back; calls that run are not ended by it. */
  readonly remove: () => void;
}

let calls = 0;

/**
 * Registers tools with `document.modelContext`, for agents of the browser (WebMCP). Returns undefined, and does nothing, where the
 * browser has no such thing.
 *
 * Arguments and results are checked as for a call of the server's. An error reaches the browser as one whose message begins with
 * its code.
 */
export function exposeToModelContext(
  tools: readonly ToolImplementation[],
  options: ExposeOptions = {},
): Exposure | undefined {
  const context = modelContext();
  if (context === undefined) return undefined;
  const stop = new AbortController();
  const { signal } = stop;
  const register = async (tool: ModelContextTool) => {
    try {
      await context.registerTool(tool, { signal });
    } catch (cause) {
      // It was taken back before it was there, or another one was refused.
      if (signal.aborted) return;
      stop.abort();
      throw new FarsideError("invalid_argument", `The browser refuses the tool ${tool.name}: ${cause}`, {
        cause,
      });
    }
  };
  return {
    registered: Promise.all(tools.map((tool) => register(exposed(tool, options)))).then(() => {}),
    remove: () => stop.abort(),
  };
}

function exposed(implementation: ToolImplementation, { onTool }: ExposeOptions): ModelContextTool {
  const tool = adopt(implementation);
  const { name, description, schema } = tool.tool;
  const standard = schema?.["~standard"] as Partial<StandardJSONSchemaV1.Props> | undefined;
  return {
    name,
    description,
    // zod and arktype write it by themselves; what cannot be written is checked all the same.
    inputSchema: attempt(() => standard?.jsonSchema?.input({ target: "draft-2020-12" })),
    async execute(given, { signal }) {
      const args = given as Record<string, unknown>;
      const ids = { toolCallId: `model_context_${++calls}`, threadId: "" };
      const call = { name, args, ...ids };
      const context = { ...ids, signal, progress: () => {} };
      const result = await resultOfBody(tool, args, context, (waiting) => {
        if (onTool === undefined) throw new FarsideError("needs_gesture", "No onTool asks the user.");
        onTool({ ...call, ...waiting, phase: "waiting" });
        const error = new FarsideError("cancelled", "The caller has withdrawn the call.");
        signal.addEventListener("abort", () => onTool({ ...call, phase: "cancelled", error }));
      });
      if (result.status === "success") return escapeBytes(result.value);
      const { code, message } = result.error;
      throw new FarsideError(code, `${code}: ${message}`);
    },
  };
}
