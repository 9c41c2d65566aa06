import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type DeclaredTool, tool } from "../tool/tool.ts";

export function declare<Args, Result>({
  name,
  description,
}: {
  name: string;
  description: string;
  fingerprint: string;
  args: unknown;
  result?: unknown;
}): DeclaredTool<StandardSchemaV1<Args>, StandardSchemaV1<Result>> {
  const schema = {
    "~standard": { version: 1, vendor: "farside", validate: (value: any) => ({ value }) },
  } as any;
  return tool({ name, description, schema, result: schema }) as any;
}
