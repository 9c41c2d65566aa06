import type { StandardSchemaV1 } from "@standard-schema/spec";
import { FarsideError } from "../errors.ts";
import type { ImplementOptions } from "./admission.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The schema of a tool that takes no arguments. */
export type NoArgs = StandardSchemaV1<Record<string, never>>;

/** What a body is told about its call. */
export interface ToolContext {
  /** Aborted when the call is withdrawn or expires. Its reason is a FarsideError. */
  readonly signal: AbortSignal;
  /** Shows how far the tool is: `toolCall.progress` of every page's snapshot. */
  readonly progress: (value: unknown) => void;
  readonly toolCallId: string;
  readonly threadId: string;
}

/** The code of a tool in the browser: its arguments are checked and parsed before it runs. */
export type ToolBody<Args extends StandardSchemaV1, Result extends StandardSchemaV1> = (
  args: StandardSchemaV1.InferOutput<Args>,
  context: ToolContext,
) => StandardSchemaV1.InferInput<Result> | Promise<StandardSchemaV1.InferInput<Result>>;

/** What a tool is declared with. */
export interface ToolDeclaration<
  Args extends StandardSchemaV1 = NoArgs,
  Result extends StandardSchemaV1 = StandardSchemaV1<unknown>,
> {
  /** Letters, digits, `_` and `-`, at most 64: the name that the server declares. */
  readonly name: string;
  readonly description: string;
  /** What the arguments must fit; without one the tool takes none. Any Standard Schema: zod, valibot, arktype ... */
  readonly schema?: Args | undefined;
  /** What the returned value must fit. */
  readonly result?: Result | undefined;
  /**
   * The permissions that the tool cannot do without, as `navigator.permissions.query` names them ("geolocation"). Where one is
   * denied, the server rather asks another page.
   */
  readonly permissions?: readonly string[] | undefined;
  /** Of the schemas in Python that this was made of: `farside types` writes it, and the server compares it with its own. */
  readonly fingerprint?: string | undefined;
}

/** A tool as the official clients know it: it fits `tools` of `createClient`, and every {@link Tool} fits them. */
export interface ToolImplementation {
  readonly tool: { readonly name: string };
  // Whatever the implementation takes: its own schema has the say.
  execute(args: never, context?: never): unknown;
}

/** A declared tool that has a body: pass it to `createClient`. */
export interface Tool<
  Args extends StandardSchemaV1 = StandardSchemaV1,
  Result extends StandardSchemaV1 = StandardSchemaV1<unknown>,
> {
  readonly tool: ToolDeclaration<Args, Result>;
  readonly options: ImplementOptions;
  /** Checks the arguments, runs the body and checks its result; throws a FarsideError or what the body throws. */
  execute(
    args: StandardSchemaV1.InferInput<Args>,
    context?: ToolContext,
  ): Promise<StandardSchemaV1.InferOutput<Result>>;
}

/** A declared tool; `implement` gives it a body. */
export interface DeclaredTool<Args extends StandardSchemaV1, Result extends StandardSchemaV1>
  extends ToolDeclaration<Args, Result> {
  implement(body: ToolBody<Args, Result>, options?: ImplementOptions): Tool<Args, Result>;
}

/**
 * Declares a tool that runs in the browser.
 *
 * ```ts
 * const getLocation = tool({ name: "get_location", description: "Where the user is.", schema: z.object({ high: z.boolean() }) })
 *   .implement(async ({ high }, { signal }) => locate(high, signal));
 * ```
 */
export function tool<
  Args extends StandardSchemaV1 = NoArgs,
  Result extends StandardSchemaV1 = StandardSchemaV1<unknown>,
>(declaration: ToolDeclaration<Args, Result>): DeclaredTool<Args, Result> {
  const { name } = declaration;
  if (typeof name !== "string" || !NAME.test(name)) {
    const expected = "a tool name of letters, digits, _ and -, 1 to 64 of them";
    throw new FarsideError("invalid_argument", `expected ${expected}, got ${JSON.stringify(name)}`);
  }
  return {
    ...declaration,
    implement: (body, options = {}) => new ImplementedTool(declaration, body, options),
  };
}

/** A tool with its body, in the steps that an execution takes. */
export class ImplementedTool<Args extends StandardSchemaV1, Result extends StandardSchemaV1>
  implements Tool<Args, Result>
{
  readonly tool: ToolDeclaration<Args, Result>;
  readonly options: ImplementOptions;
  readonly #body: ToolBody<Args, Result>;

  constructor(
    declaration: ToolDeclaration<Args, Result>,
    body: ToolBody<Args, Result>,
    options: ImplementOptions,
  ) {
    this.tool = declaration;
    this.options = options;
    this.#body = body;
  }

  async parseArgs(args: unknown): Promise<StandardSchemaV1.InferOutput<Args>> {
    const { schema } = this.tool;
    return schema === undefined ? {} : await parsed(schema, args, "invalid_args", "The arguments do");
  }

  run(args: StandardSchemaV1.InferOutput<Args>, context: ToolContext): ReturnType<ToolBody<Args, Result>> {
    return this.#body(args, context);
  }

  async parseResult(value: unknown): Promise<StandardSchemaV1.InferOutput<Result>> {
    const { result } = this.tool;
    return result === undefined ? value : await parsed(result, value, "invalid_result", "The result does");
  }

  async execute(
    args: unknown,
    context: ToolContext = NO_CALL,
  ): Promise<StandardSchemaV1.InferOutput<Result>> {
    return await this.parseResult(await this.run(await this.parseArgs(args), context));
  }
}

/** Makes one of the official clients' implementations ours; what its schema says holds, where it has a usable one. */
export function adopt(
  implementation: ToolImplementation,
): ImplementedTool<StandardSchemaV1, StandardSchemaV1> {
  if (implementation instanceof ImplementedTool) return implementation;
  // A tool of ours that somebody has wrapped, or of another copy of this package, keeps all that it says.
  const { tool: given, options } = implementation as Tool;
  const body = (args: unknown, context: ToolContext) =>
    implementation.execute(args as never, context as never);
  const schema = given.schema?.["~standard"] ? given.schema : ANYTHING;
  return tool({ ...given, schema }).implement(body, options) as ImplementedTool<
    StandardSchemaV1,
    StandardSchemaV1
  >;
}

/** Whatever comes: its check is somebody else's. */
export const ANYTHING: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "farside", validate: (value) => ({ value }) },
};

/** The context of an execution that no call asked for. */
const NO_CALL: ToolContext = {
  signal: new AbortController().signal,
  progress: () => {},
  toolCallId: "",
  threadId: "",
};

async function parsed<S extends StandardSchemaV1>(
  schema: S,
  value: unknown,
  code: string,
  complaint: string,
): Promise<StandardSchemaV1.InferOutput<S>> {
  const outcome = await schema["~standard"].validate(value);
  if (outcome.issues === undefined) return outcome.value;
  const complaints = outcome.issues.map(({ message, path = [] }) => {
    const place = path
      .map((segment) => String(typeof segment === "object" ? segment.key : segment))
      .join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  throw new FarsideError(code, `${complaint} not fit the tool's schema: ${complaints.join("; ")}`);
}
