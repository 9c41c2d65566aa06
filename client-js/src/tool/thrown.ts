import { isToolErrorCode, type ToolErrorCode } from "../errors.ts";
import type { ErrorBody } from "../wire/messages.ts";
import { isObject, plain } from "../wire/values.ts";

/** `DOMException.name`, and `GeolocationPositionError.code`; anything else has `failed`. */
const CODES: ReadonlyMap<unknown, ToolErrorCode> = new Map<unknown, ToolErrorCode>([
  ["NotAllowedError", "permission_denied"],
  ["NotSupportedError", "unsupported"],
  [1, "permission_denied"],
  [3, "timed_out"],
]);

/** What a body threw, as the error of its call. `hadGesture`: the user had clicked when the body began. */
export function errorBodyOf(thrown: unknown, hadGesture: boolean): ErrorBody {
  const { code, name, message, details } = Object(thrown) as { readonly [key: string]: unknown };
  const body: ErrorBody = {
    code: isToolErrorCode(code) ? code : codeOf(thrown, code, name, hadGesture),
    message: wellFormed(typeof message === "string" ? message : String(thrown)),
  };
  if (isObject(details)) {
    try {
      body.details = plain(details) as Record<string, unknown>;
    } catch {
      // Details that cannot be sent are left out: the error matters more.
    }
  }
  return body;
}

function codeOf(thrown: unknown, code: unknown, name: unknown, hadGesture: boolean): ToolErrorCode {
  const isPositionError = Object.prototype.toString.call(thrown) === "[object GeolocationPositionError]";
  const known = CODES.get(isPositionError ? code : name) ?? "failed";
  // A browser has one name for what the user, and what only a click, would allow.
  return known === "permission_denied" && !isPositionError && !hadGesture ? "needs_gesture" : known;
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
