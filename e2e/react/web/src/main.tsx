import { FarsideProvider, type Stream, useStream, useThread, useTool } from "farside/react";
import { Component, type ReactNode, StrictMode, useEffect, useState } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import {
  agent,
  caughtBy,
  expose,
  firstThread,
  heldTools,
  implemented,
  isStrict,
  note,
  rememberThread,
  rendered,
  type Settings,
  said,
  scene,
  show,
} from "./harness.ts";

const url = "/farside";
const shared = implemented("remember", ({ value }) => value);

const first: Settings = {
  threadId: firstThread,
  word: "first",
  extra: [],
  isConversationShown: true,
  isPageShown: true,
};

function useSettings(): Settings {
  const [settings, setSettings] = useState(first);
  useEffect(() => {
    set = (changed) => setSettings((before) => ({ ...before, ...changed }));
  }, []);
  return settings;
}

let set: (changed: Partial<Settings>) => void = () => {};
expose((changed) => set(changed));

/** One client for the page, and components that each have a part in it. */
function ProviderPage() {
  const settings = useSettings();
  const { threadId, word, extra, isConversationShown, isPageShown } = settings;
  if (!isPageShown) return <p>nothing</p>;
  return (
    <FarsideProvider
      url={url}
      agent={agent}
      tools={heldTools}
      threadId={threadId}
      onThreadId={(made) => {
        rememberThread(made);
        set({ threadId: made });
      }}
      onTool={({ phase, name }) => note({ tool: name, phase, word })}
    >
      {isConversationShown && (
        <>
          <Conversation word={word} />
          <Status />
          <Counts />
        </>
      )}
      <Caught key={extra.length}>
        {extra.map((name, at) => (
          // By their places: the same components have other tools then.
          <Extra key={at} name={name} />
        ))}
      </Caught>
    </FarsideProvider>
  );
}

function Conversation({ word }: { word: string }) {
  rendered("Conversation");
  const stream = useStream({ tools: [implemented("recall", () => word)] });
  useShown("Conversation", stream);
  return (
    <ol>
      {stream.messages.map(({ id, role, text }) => (
        <li key={id}>
          {role}: {text}
        </li>
      ))}
    </ol>
  );
}

function Status() {
  rendered("Status");
  return <p>{useThread((thread) => thread.status)}</p>;
}

/** Makes a new object each time, with the same fields. */
function Counts() {
  rendered("Counts");
  const { runs, calls } = useThread(({ messages, toolCalls }) => ({
    runs: messages.filter(({ role }) => role === "human").length,
    calls: toolCalls.map(({ name }) => name).join(),
  }));
  return (
    <p>
      {runs} {calls}
    </p>
  );
}

function Extra({ name }: { name: string }) {
  useTool(implemented(name, ({ word }) => `${name} ${word}`));
  return <p>{name}</p>;
}

class Caught extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(error: Error) {
    caughtBy((error as Error & { code: string }).code);
  }

  override render() {
    return this.state.isBroken ? <p>broken</p> : this.props.children;
  }
}

/** Components without a provider, on one thread. */
function PairPage() {
  const { isConversationShown, isPageShown, threadId } = useSettings();
  return (
    <>
      {isPageShown && <Alone name="left" threadId={threadId} />}
      {isConversationShown && <Alone name="right" threadId={threadId} />}
    </>
  );
}

function Alone({ name, threadId }: { name: string; threadId: string | null }) {
  const onTool = (event: { phase: "start" | string; name: string }) =>
    event.phase === "start" && note({ tool: event.name, phase: "start", word: name });
  const stream = useStream({ url, agent, threadId, tools: [...heldTools, shared], onTool });
  useShown(name, stream);
  return <p>{stream.status}</p>;
}

/** A component that speaks as soon as it is there, before the provider's effects. */
function EagerPage() {
  const { threadId } = useSettings();
  const onThreadId = (made: string) => {
    rememberThread(made);
    set({ threadId: made });
  };
  return (
    <FarsideProvider url={url} agent={agent} tools={[shared]} threadId={threadId} onThreadId={onThreadId}>
      <Eager />
    </FarsideProvider>
  );
}

function Eager() {
  const stream = useStream();
  const { submit } = stream;
  useEffect(() => {
    // Only once, although StrictMode mounts twice, and under a new id the function is another one.
    if (!hasSpoken && said !== null) submit(said);
    hasSpoken = true;
  }, [submit]);
  useShown("Eager", stream);
  return <p>{stream.status}</p>;
}

let hasSpoken = false;

function useShown(name: string, stream: Stream): void {
  useEffect(() => show(name, stream), [name, stream]);
}

const pages: Record<string, () => ReactNode> = { pair: PairPage, eager: EagerPage };
const Page = pages[scene] ?? ProviderPage;
const page = isStrict ? (
  <StrictMode>
    <Page />
  </StrictMode>
) : (
  <Page />
);
const place = document.querySelector("#page") as Element;
if (scene === "hydrated") {
  place.innerHTML = renderToString(page);
  hydrateRoot(place, page);
} else {
  createRoot(place).render(page);
}
