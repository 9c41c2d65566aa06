import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useInsertionEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { ClientOptions } from "../client/options.ts";
import { FarsideError } from "../errors.ts";
import type { ToolImplementation } from "../tool/tool.ts";
import { type Callbacks, keyOf, listeners, type PageClient, shareClient } from "./page-client.ts";
import { isSame } from "./same.ts";
import { type Stream, StreamStore } from "./stream.ts";

/** Whose thread: that of the provider around, or of the agent that is named. Components that name the same one share a client. */
export interface ThreadOptions extends Partial<Omit<ClientOptions, "tools" | keyof Callbacks>> {
  /**
   * Which thread: `null` is a new one, which goes on under the id that `onThreadId` has heard. Where it is left out it is the
   * provider's thread, or a new one.
   */
  readonly threadId?: string | null | undefined;
}

/** What `useStream` takes. Tools and callbacks may be new at each render: the latest ones count. */
export interface StreamOptions extends ThreadOptions, Callbacks {
  /** What this component adds to the tools of the page. */
  readonly tools?: readonly ToolImplementation[] | undefined;
}

export interface FarsideProviderProps extends ClientOptions, StreamOptions {
  readonly url: string;
  readonly agent: string;
  readonly children?: ReactNode;
}

interface Source {
  readonly options: ClientOptions;
  readonly store: StreamStore;
}

const Context = createContext<Source | null>(null);
const NO_TOOLS: readonly ToolImplementation[] = [];
const itself = (stream: Stream) => stream;

/** Gives the components within it a client and a thread: `useStream`, `useThread` and `useTool` need no options there. */
export function FarsideProvider({ children, ...options }: FarsideProviderProps): ReactElement {
  const store = useStore(options, true);
  const source = useMemo(() => ({ options: store.options, store }), [store]);
  useListener(store, options);
  useTools(options, options.tools);
  useEffect(() => store.letGo, [store]);
  return createElement(Context.Provider, { value: source }, children);
}

/** A thread, and what can be done with it. The component renders at every change; {@link useThread} takes only a part. */
export function useStream(options: StreamOptions = {}): Stream {
  const { options: clientOptions, store } = useSource(options);
  useListener(store, options);
  useTools(clientOptions, options.tools);
  return useSelected(store, itself);
}

/**
 * What `select` takes from the thread. The component renders when that is another value, or has other fields or elements.
 *
 * ```ts
 * const status = useThread((thread) => thread.status);
 * ```
 */
export function useThread<Selected>(
  select: (thread: Stream) => Selected,
  options: ThreadOptions = {},
): Selected {
  return useSelected(useSource(options).store, select);
}

/** Gives the page a tool for as long as the component is mounted. */
export function useTool(tool: ToolImplementation, options: ThreadOptions = {}): void {
  useTools(useSource(options).options, [tool]);
}

function useSource(given: ThreadOptions): Source {
  const provided = useContext(Context);
  const url = given.url ?? provided?.options.url;
  const agent = given.agent ?? provided?.options.agent;
  if (url === undefined || agent === undefined) {
    const expected = "expected the options url and agent, or a FarsideProvider around the component";
    throw new FarsideError("invalid_argument", `${expected}, got neither`);
  }
  const isProvided = given.url === undefined && given.agent === undefined && given.threadId === undefined;
  const options = { ...provided?.options, ...given, url, agent };
  const store = useStore(options, false, isProvided ? provided?.store : undefined);
  return { options, store };
}

/** The provider's store, or one that lasts until the component names another agent or thread. */
function useStore(
  options: ClientOptions & ThreadOptions,
  isLasting: boolean,
  provided?: StreamStore,
): StreamStore {
  const { threadId = null } = options;
  const make = () => new StreamStore(options, threadId, isLasting);
  const [own, setOwn] = useState(() => (provided === undefined ? make() : undefined));
  if (provided !== undefined) return provided;
  if (own?.given === threadId && own.key === keyOf(options)) return own;
  const other = make();
  setOwn(other);
  return other;
}

function useSelected<Selected>(store: StreamStore, select: (stream: Stream) => Selected): Selected {
  const last = useRef<{ stream: Stream; select: typeof select; value: Selected }>(null);
  const selected = (stream: Stream): Selected => {
    const seen = last.current;
    if (seen?.stream === stream && seen.select === select) return seen.value;
    const value = select(stream);
    last.current = { stream, select, value: seen !== null && isSame(seen.value, value) ? seen.value : value };
    return last.current.value;
  };
  return useSyncExternalStore(
    store.subscribe,
    () => selected(store.getSnapshot()),
    () => selected(store.unknown),
  );
}

/** Before all other effects, so that these can submit. */
function useListener(thread: StreamStore, callbacks: Callbacks): void {
  useInsertionEffect(() => {
    const listener = { thread, callbacks };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  });
}

function useTools(options: ClientOptions, tools = NO_TOOLS): void {
  const key = keyOf(options);
  const client = useRef<PageClient>(undefined);
  const latest = useRef(tools);
  if (!isSame(latest.current, tools)) latest.current = tools;
  useEffect(() => {
    const { value, release } = shareClient(options);
    client.current = value;
    return release;
  }, [key]);
  // All that goes is gone before anything comes: components may exchange their tools.
  useEffect(() => client.current?.addTools(latest.current), [key, latest.current]);
}
