import { attempt } from "../attempt.ts";

/** Whether the user has agreed once and for all that pages of this origin execute this tool. */
export function hasConsent(name: string): boolean {
  return attempt(() => localStorage.getItem(key(name))) === "given";
}

/** Remembers that the user has agreed, where pages may remember something. */
export function giveConsent(name: string): void {
  attempt(() => localStorage.setItem(key(name), "given"));
}

/** Takes back what the user has agreed to: a tool with `consent: "once"` asks again. */
export function revokeConsent(name: string): void {
  attempt(() => localStorage.removeItem(key(name)));
}

function key(name: string): string {
  return `farside:consent:${name}`;
}
