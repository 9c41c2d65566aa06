import { failure } from "../core/answer.ts";
import { errorFrom } from "../core/execution.ts";
import type { Waiting } from "../core/waiting.ts";
import { FarsideError } from "../errors.ts";
import { resultOfBody } from "../tool/body.ts";
import type { ToolContext } from "../tool/tool.ts";
import type { CallClaimResult, ErrorBody, ToolResult } from "../wire/messages.ts";
import { plain } from "../wire/values.ts";
import type { ClientContext } from "./options.ts";

/** Whom the bodies tell what they do. */
export interface BodiesOptions {
  readonly threadId: string;
  readonly context: ClientContext;
  readonly waiting: (interruptId: string, waiting: Waiting) => void;
  readonly progress: (interruptId: string, value: unknown) => void;
  readonly finished: (interruptId: string, result: ToolResult) => void;
}

/** The bodies of tools that run on this page for one thread. */
export class Bodies {
  readonly #options: BodiesOptions;
  readonly #running = new Map<string, AbortController>();

  constructor(options: BodiesOptions) {
    this.#options = options;
  }

  execute({ interrupt_id, tool_call_id, name, args }: CallClaimResult): void {
    const { threadId, context, waiting, progress, finished } = this.#options;
    const tool = context.tools.get(name);
    if (tool === undefined) {
      finished(interrupt_id, failure("not_implemented", `This page has no tool named ${name}.`));
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(interrupt_id, controller);
    const toolContext: ToolContext = {
      signal,
      toolCallId: tool_call_id,
      threadId,
      progress: (value) => {
        const copy = plain(value);
        if (this.#running.get(interrupt_id) === controller) progress(interrupt_id, copy);
      },
    };
    const onWaiting = (what: Waiting) => {
      if (context.options.onTool === undefined) {
        throw new FarsideError("needs_gesture", "No onTool asks the user.");
      }
      if (this.#running.get(interrupt_id) === controller) waiting(interrupt_id, what);
    };
    void resultOfBody(tool, args, toolContext, onWaiting).then((result) => {
      // What an aborted body returns or throws is of no use to anybody.
      if (signal.aborted) return;
      this.#running.delete(interrupt_id);
      finished(interrupt_id, result);
    });
  }

  abort(interruptId: string, reason: ErrorBody): void {
    const controller = this.#running.get(interruptId);
    this.#running.delete(interruptId);
    controller?.abort(errorFrom(reason));
  }
}
