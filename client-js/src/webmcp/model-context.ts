/** What `document.modelContext` takes as a tool (WebMCP, as Chromium 156 has it). */
export interface ModelContextTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: object | undefined;
  /** The browser checks no arguments. What is returned reaches the caller as JSON. */
  execute(args: unknown, call: { readonly signal: AbortSignal }): unknown;
}

/** A tool that somebody has registered, as `getTools` lists it. */
export interface RegisteredTool {
  readonly name: string;
  readonly description: string;
  /** Frames of the same origin are listed too. */
  readonly window: unknown;
}

/** `document.modelContext`. */
export interface ModelContext extends EventTarget {
  /** Rejects when there is a tool of that name. The tool is there until the signal is aborted. */
  registerTool(tool: ModelContextTool, options: { readonly signal: AbortSignal }): Promise<void>;
  getTools(): Promise<readonly RegisteredTool[]>;
  /** Resolves with a text as it is, and with the JSON of anything else; rejects without the tool's own words. */
  executeTool(
    tool: RegisteredTool,
    args: object,
    options: { readonly signal: AbortSignal },
  ): Promise<string | null>;
}

/** The page's model context; undefined where the browser has none. */
export function modelContext(): ModelContext | undefined {
  return (globalThis.document as (Document & { readonly modelContext?: ModelContext }) | undefined)
    ?.modelContext;
}
