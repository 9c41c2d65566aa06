import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type JsonSchema, jsonSchema } from "./json-schema.ts";
import { type DeclaredTool, type ToolDeclaration, tool } from "./tool.ts";

/** A tool as Python declares it: what `farside types` writes. */
export interface PythonDeclaration extends Omit<ToolDeclaration, "schema" | "result"> {
  /** Of the schemas that Python had when this was written: a server that has others says so. */
  readonly fingerprint: string;
  /** What the arguments fit when they arrive. */
  readonly args: JsonSchema;
  /** What the returned value must fit. */
  readonly result?: JsonSchema | undefined;
}

/**
 * Makes a tool of its declaration in Python. `farside types` writes the calls, with the types that the schemas have.
 *
 * ```ts
 * import * as tools from "./tools.gen.ts";
 * const getLocation = tools.get_location.implement(async (args, { signal }) => locate(args.accuracy, signal));
 * ```
 */
export function declare<Args, Result>({
  args,
  result = true,
  ...declaration
}: PythonDeclaration): DeclaredTool<StandardSchemaV1<Args>, StandardSchemaV1<Result>> {
  return tool({
    ...declaration,
    schema: jsonSchema<Args>(args),
    result: jsonSchema<Result>(result),
  });
}
