import { randomId } from "../client/client.ts";
import type { ClientOptions } from "../client/options.ts";
import type { Thread } from "../client/thread.ts";
import type { Snapshot } from "../core/snapshot.ts";
import { findClient, keyOf, listeners, shareClient } from "./page-client.ts";

/** A thread as components see it. Immutable: what did not change between two of them is the same object in both. */
export interface Stream extends Omit<Snapshot, "threadId">, Pick<Thread, "submit" | "stop" | "respond"> {
  /** `null` while a new thread has not been told anything. */
  readonly threadId: string | null;
  /** Whether a run is under way: `status` is `"running"`. */
  readonly isLoading: boolean;
}

const UNKNOWN: Omit<Snapshot, "threadId"> = {
  connection: "connecting",
  status: "loading",
  messages: [],
  toolCalls: [],
  interrupts: [],
  queued: [],
  error: null,
};

/**
 * The thread that a hook is about. It is open while somebody subscribes to it, and while it is told something. A lasting one
 * then stays open until `letGo`.
 */
export class StreamStore {
  readonly key: string;
  readonly id: string;
  readonly options: ClientOptions;
  /** The id that the application has given. */
  readonly given: string | null;
  /** What there is to see before the thread is open, and on a server. */
  readonly unknown: Stream;
  readonly #isLasting: boolean;
  #letGo: (() => void) | undefined;
  #isNamed: boolean;
  #snapshot: Snapshot | undefined;
  #stream: Stream;

  constructor(options: ClientOptions, threadId: string | null, isLasting: boolean) {
    this.key = keyOf(options);
    this.id = threadId ?? options.newId?.("thread") ?? randomId();
    this.options = options;
    this.given = threadId;
    this.#isLasting = isLasting;
    this.#isNamed = threadId !== null;
    this.unknown = this.#stream = this.#streamOf(UNKNOWN);
  }

  readonly getSnapshot = (): Stream => {
    const snapshot = findClient(this.key)?.threads.find(this.id)?.getSnapshot();
    if (snapshot !== this.#snapshot) {
      this.#snapshot = snapshot;
      this.#stream = snapshot === undefined ? this.unknown : this.#streamOf(snapshot);
    }
    return this.#stream;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    const { thread, release } = this.#open();
    if (this.#isLasting) this.#letGo ??= this.#open().release;
    const stop = thread.subscribe(listener);
    return () => {
      stop();
      release();
    };
  };

  readonly letGo = (): void => {
    this.#letGo?.();
    this.#letGo = undefined;
  };

  #streamOf(snapshot: Omit<Snapshot, "threadId">): Stream {
    return {
      ...snapshot,
      threadId: this.#isNamed ? this.id : null,
      isLoading: snapshot.status === "running",
      submit: this.#submit,
      stop: this.#stop,
      respond: this.#respond,
    };
  }

  readonly #submit: Thread["submit"] = (input) => {
    const isNew = !this.#isNamed;
    this.#isNamed = true;
    const accepted = this.#use((thread) => thread.submit(input));
    if (isNew)
      for (const { thread, callbacks } of listeners) if (thread === this) callbacks.onThreadId?.(this.id);
    return accepted;
  };

  readonly #stop: Thread["stop"] = () => this.#use((thread) => thread.stop());

  readonly #respond: Thread["respond"] = (interruptId, value) =>
    this.#use((thread) => thread.respond(interruptId, value));

  #open(): { readonly thread: Thread; readonly release: () => void } {
    const { value: client, release: releaseClient } = shareClient(this.options);
    const { value: thread, release: releaseThread } = client.shareThread(this.id);
    const release = () => {
      releaseThread();
      releaseClient();
    };
    return { thread, release };
  }

  /** Keeps the thread open until it has been told: no component may have it yet, or any more. */
  #use(tell: (thread: Thread) => Promise<void>): Promise<void> {
    const { thread, release } = this.#open();
    const told = tell(thread);
    told.then(release, release);
    return told;
  }
}
