import type { FarsideError } from "../errors.ts";
import type { Method, Params } from "../wire/messages.ts";
import type { Link } from "./link.ts";

interface Letter {
  send(): void;
}

/** Commands of the application that are sent again after each lost connection until they have been answered. */
export class Outbox {
  readonly #link: Link;
  readonly #letters = new Set<Letter>();

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
    const letter: Letter = {
      send: () => {
        if (!this.#link.isOpen) return;
        copies += 1;
        this.#link.send(method, params, ({ error }) => {
          this.#letters.delete(letter);
          onReply(error ?? null, copies > 1);
        });
      },
    };
    this.#letters.add(letter);
    letter.send();
  }

  /** The connection is open: sends what has not been answered. */
  resume(): void {
    for (const letter of this.#letters) letter.send();
  }
}
