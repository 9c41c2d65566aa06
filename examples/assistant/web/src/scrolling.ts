import { byId } from "./dom.ts";

const NEAR = 96;

/** Keeps the end of the conversation in view, unless the user has scrolled away from it. */
export class Scrolling {
  readonly #scroller = byId("scroller", HTMLElement);
  #follows = false;
  #sticks = true;
  #top = 0;

  constructor() {
    this.#scroller.addEventListener("scroll", () => {
      const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
      // What grows moves the end away too: only who scrolls up wants to leave it.
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR;
      this.#sticks = isNear || (this.#sticks && scrollTop >= this.#top);
      this.#top = scrollTop;
    });
    const observer = new ResizeObserver(() => {
      if (this.#follows && this.#sticks) this.toEnd();
    });
    observer.observe(byId("column", HTMLDivElement));
    observer.observe(this.#scroller);
  }

  /** Whether there is a conversation to follow; before, the page is read from its top. */
  update(hasBegun: boolean): void {
    if (hasBegun === this.#follows) return;
    this.#follows = hasBegun;
    if (hasBegun) this.toEnd();
  }

  toEnd(): void {
    this.#sticks = true;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }
}
