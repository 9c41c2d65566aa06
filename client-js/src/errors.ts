/** The codes a tool call can fail with: the family "tool" of protocol/errors.json. */
export const TOOL_ERROR_CODES = [
  "failed",
  "not_implemented",
  "invalid_args",
  "invalid_result",
  "permission_denied",
  "needs_gesture",
  "unsupported",
  "dismissed",
  "timed_out",
  "cancelled",
  "interrupted",
] as const;

/** Why a tool call has no value. */
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number];

/** Whether `code` is one that a tool call can fail with. */
export function isToolErrorCode(code: unknown): code is ToolErrorCode {
  return (TOOL_ERROR_CODES as readonly unknown[]).includes(code);
}

/** What a {@link FarsideError} may carry besides its code and message. */
export interface FarsideErrorOptions {
  readonly retryable?: boolean | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/**
 * Every error of this package. `code` is the contract (protocol/errors.json lists them); the message is for people
 * and may change.
 */
export class FarsideError extends Error {
  override readonly name = "FarsideError";
  readonly code: string;
  /** Whether doing the same again later may succeed. */
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, options: FarsideErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}
