import { FarsideError, type ToolErrorCode } from "../errors.ts";
import { hasGesture } from "../tool/gesture.ts";

/** The error that ends a tool with a code. */
export function refused(code: ToolErrorCode, message: string, cause?: unknown): FarsideError {
  return new FarsideError(code, message, { cause });
}

/** The error of a browser that lacks an API. */
export function unsupported(what: string): FarsideError {
  return refused("unsupported", `This browser has no ${what} here.`);
}

/**
 * Calls a browser API and says with a code why it refused. A browser throws the same NotAllowedError for a denied permission, a
 * question that the user closed, a click that is missing and a page that is not in front; the permission's state, and what held
 * before the call, tell them apart.
 *
 * `permission`: its name for `navigator.permissions`, where it has one.
 */
export async function asking<T>(call: () => T | PromiseLike<T>, permission?: string): Promise<T> {
  const wasInFront = document.hasFocus();
  const hadClick = hasGesture();
  try {
    return await call();
  } catch (error) {
    const { name, message } = Object(error) as Error;
    if (name === "AbortError") throw refused("dismissed", message, error);
    if (name !== "NotAllowedError" && name !== "SecurityError") throw error;
    const state = permission && (await stateOf(permission));
    if (state === "denied") throw refused("permission_denied", message, error);
    if (!wasInFront) throw refused("needs_gesture", `The page is not in front: ${message}`, error);
    if (!hadClick) throw refused("needs_gesture", message, error);
    throw refused(state === "prompt" ? "dismissed" : "permission_denied", message, error);
  }
}

/** What the browser says of a permission; undefined where it does not know it. */
export async function stateOf(permission: string): Promise<PermissionState | undefined> {
  try {
    return (await navigator.permissions.query({ name: permission as PermissionName })).state;
  } catch {
    return undefined;
  }
}
