import type { Submission } from "../core/projection.ts";
import { isObject, plain } from "../wire/values.ts";
import type { IdKind } from "./options.ts";

/** What a run starts with: a text of the user, `{ messages }`, or whatever the agent takes. */
export type SubmitInput = string | { readonly [key: string]: unknown };

/** Makes a run's input of what the application submits: every message gets an id, by which it is known again. */
export function submissionOf(
  submitted: SubmitInput,
  newId: (kind: IdKind) => string,
): { readonly input: unknown; readonly submission: Submission } {
  const input = plain(typeof submitted === "string" ? { messages: [submitted] } : submitted);
  const given = isObject(input) ? input["messages"] : undefined;
  const messages = (Array.isArray(given) ? given : []).map((message: unknown) => {
    if (typeof message === "string") return { type: "human", content: message, id: newId("message") };
    return isObject(message) && message["id"] === undefined ? { ...message, id: newId("message") } : message;
  });
  if (Array.isArray(given)) (input as Record<string, unknown>)["messages"] = messages;
  return { input, submission: { runId: newId("run"), messages: messages.filter(isObject) } };
}
