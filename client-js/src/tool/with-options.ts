import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ImplementOptions } from "./admission.ts";
import { adopt, type Tool, tool } from "./tool.ts";

/**
 * The same tool, run in another way: asked for consent, for example.
 *
 * ```ts
 * const tools = [withOptions(takePhoto(), { consent: "always" })];
 * ```
 */
export function withOptions<Args extends StandardSchemaV1, Result extends StandardSchemaV1>(
  implemented: Tool<Args, Result>,
  options: ImplementOptions,
): Tool<Args, Result> {
  const body = adopt(implemented);
  const both = { ...implemented.options, ...options };
  return tool(implemented.tool).implement((args, context) => body.run(args, context), both);
}
