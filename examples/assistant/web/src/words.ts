import type { FarsideError, ToolCall } from "farside";

/** What is said about something that went wrong. */
export interface Explanation {
  readonly title: string;
  readonly advice?: string;
}

const CALLS: Readonly<Record<string, Explanation>> = {
  permission_denied: {
    title: "Permission denied",
    advice: "Allow it in the browser's settings for this page (the icon beside the address), then ask again.",
  },
  needs_gesture: { title: "The browser wants a click first", advice: "Click on the page, then ask again." },
  timed_out: { title: "Took too long", advice: "Ask again when you like." },
  not_implemented: { title: "No open page can do this", advice: "Reload the page, then ask again." },
  unsupported: { title: "This browser cannot do this" },
  dismissed: { title: "You dismissed the request" },
  interrupted: {
    title: "Interrupted",
    advice: "The page went away in the middle. It may have happened or not; it was not tried twice.",
  },
  invalid_args: { title: "The assistant asked for something impossible" },
  invalid_result: { title: "The tool gave a wrong answer" },
};

/** Why a tool call has no value. */
export function explainCall({ state, error }: ToolCall): Explanation {
  if (state === "cancelled") return { title: "Called off" };
  return CALLS[error?.code ?? ""] ?? { title: "Did not work" };
}

const RUNS: Readonly<Record<string, Explanation>> = {
  agent_failed: {
    title: "The assistant failed",
    advice: "Try again. If it fails again, the server's log tells why.",
  },
  run_active: {
    title: "The assistant is still busy",
    advice: "Your message was not sent: wait for the answer or press Stop, then send it.",
  },
  not_found: {
    title: "The server does not have this assistant",
    advice: "Is this the right server? Reload the page.",
  },
  too_large: { title: "That was too large", advice: "Send less at once." },
  unavailable: { title: "The server is not available", advice: "It may be starting. Try again in a moment." },
  internal: {
    title: "The server failed",
    advice: "Try again. If it fails again, the server's log tells why.",
  },
};

/** Why a run, or a message, failed. */
export function explainRun({ code }: FarsideError): Explanation {
  return RUNS[code] ?? { title: "Something went wrong", advice: "Try again, or begin a new conversation." };
}
