import type { Waiting } from "../core/waiting.ts";
import { FarsideError } from "../errors.ts";
import { giveConsent, hasConsent } from "./consent.ts";
import { takeGesture } from "./gesture.ts";
import type { ToolDeclaration } from "./tool.ts";

/** How a body wants to be run. */
export interface ImplementOptions {
  /**
   * `required`: the body calls what browsers allow only after a click (the clipboard). `consumed`: it uses that click up (a file
   * picker), so one click is enough for one such body. Either waits for a click if there was none just now.
   */
  readonly activation?: "required" | "consumed" | undefined;
  /** `once`: the user must agree the first time, on this origin, until `revokeConsent`. `always`: each time. */
  readonly consent?: "never" | "once" | "always" | undefined;
}

/**
 * Resolves when the body may begin; rejects when the user does not want it to, or nobody wants it any more. `ask`: puts it
 * before the user.
 */
export async function admission(
  { name }: Pick<ToolDeclaration, "name">,
  { activation, consent = "never" }: ImplementOptions,
  signal: AbortSignal,
  ask: (waiting: Waiting) => void,
): Promise<void> {
  const asked = async (reason: Waiting["reason"]) => {
    await new Promise<void>((proceed, reject) => {
      const dismiss = () => reject(new FarsideError("dismissed", "The user dismissed it."));
      ask({ reason, proceed, dismiss, signal });
    });
    signal.throwIfAborted();
  };
  if (consent === "always" || (consent === "once" && !hasConsent(name))) {
    await asked("consent");
    if (consent === "once") giveConsent(name);
  }
  if (activation !== undefined) {
    while (!(await takeGesture(activation === "consumed"))) await asked("activation");
  }
  signal.throwIfAborted();
}
