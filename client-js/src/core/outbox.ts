import type { FarsideError } from "../errors.ts";
import type { Method, Params } from "../wire/messages.ts";
import type { Link } from "./link.ts";

/** Commands of the application that are sent again after each lost connection until they have been answered. */
export class Outbox {
  readonly #link: Link;
  /** How to send what has not been answered. */
  readonly #letters = new Set<() => void>();

  constructor(link: Link) {
    this.#link = link;
  }

  /**
   * Sends a command now, or when the connection is open. `onReply` hears null for success; `isRepeated` says that an
   * earlier copy of the command may have been carried out.
   */
  post<M extends Method>(
    method: M,
    params: Params<M>,
    onReply: (error: FarsideError | null, isRepeated: boolean) => void,
  ): void {
    let copies = 0;
    const send = () => {
      if (!this.#link.isOpen) return;
      copies += 1;
      this.#link.send(method, params, ({ error }) => {
        this.#letters.delete(send);
        onReply(error ?? null, copies > 1);
      });
    };
    this.#letters.add(send);
    send();
  }

  /** The connection is open: sends what has not been answered. */
  resume(): void {
    for (const send of this.#letters) send();
  }
}
