import { isToolErrorCode, type ToolErrorCode } from "../errors.ts";
import type { ErrorBody } from "../wire/messages.ts";
import { isObject, plain } from "../wire/values.ts";

/** `GeolocationPositionError.code`. */
const GEOLOCATION_CODES: Readonly<Record<number, ToolErrorCode>> = {
  1: "permission_denied",
  2: "failed",
  3: "timed_out",
};

/** `DOMException.name`. */
const DOM_CODES: ReadonlyMap<unknown, ToolErrorCode> = new Map([
  ["NotAllowedError", "permission_denied"],
  ["NotSupportedError", "unsupported"],
]);

/** What a body threw, as the error of its call. `hadGesture`: the user had clicked when the body began. */
export function errorBodyOf(thrown: unknown, hadGesture: boolean): ErrorBody {
  const { code, name, message, details } = Object(thrown) as { readonly [key: string]: unknown };
  const body: ErrorBody = {
    code: isToolErrorCode(code) ? code : (geolocationCode(thrown, code) ?? domCode(name, hadGesture)),
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

function geolocationCode(thrown: unknown, code: unknown): ToolErrorCode | undefined {
  const isPositionError = Object.prototype.toString.call(thrown) === "[object GeolocationPositionError]";
  return isPositionError ? GEOLOCATION_CODES[Number(code)] : undefined;
}

function domCode(name: unknown, hadGesture: boolean): ToolErrorCode {
  const known = DOM_CODES.get(name) ?? "failed";
  return known === "permission_denied" && !hadGesture ? "needs_gesture" : known;
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
