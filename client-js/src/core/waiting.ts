/** What a body that waits for the user waits for, and how it goes on. */
export interface Waiting {
  /** `consent`: the user has to agree. `activation`: the browser wants a click. */
  readonly reason: "consent" | "activation";
  /** The user agrees. Called in the handler of a click, it lets the body begin within that click. */
  readonly proceed: () => void;
  /** The user does not want it: the call fails with `dismissed`. */
  readonly dismiss: () => void;
  /** Aborted when nobody has to be asked any more: the call was withdrawn, has expired, or another page has it. */
  readonly signal: AbortSignal;
}
