import { useChannel, useMessageMetadata, useStream } from "@langchain/react";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import {
  expose,
  firstThread,
  isStrict,
  listensToCustom,
  listsOf,
  options,
  rememberThread,
  tools,
} from "../harness.ts";

type Stream = Parameters<typeof useChannel>[0];

function Page() {
  const [threadId, setThreadId] = useState(firstThread);
  const onThreadId = (made: string) => {
    rememberThread(made);
    setThreadId(made);
  };
  const stream = useStream({ ...options, threadId, onThreadId, tools });
  useEffect(() => expose(stream, setThreadId), [stream]);
  return (
    <>
      {listsOf(stream).map(([name, lines]) => (
        <List key={name} name={name} lines={lines} />
      ))}
      <Checkpoint stream={stream} messageId={stream.messages.at(-1)?.id} />
      {listensToCustom && <Custom stream={stream} />}
    </>
  );
}

/** The checkpoint at which a message is made anew. */
function Checkpoint({ stream, messageId }: { stream: Stream; messageId: string | undefined }) {
  const checkpoint = useMessageMetadata(stream, messageId)?.parentCheckpointId;
  return <List name="checkpoint" lines={checkpoint === undefined ? [] : [checkpoint]} />;
}

function Custom({ stream }: { stream: Stream }) {
  const events = useChannel(stream, ["custom"]);
  return <List name="custom" lines={events.map(({ params }) => JSON.stringify(params.data))} />;
}

function List({ name, lines }: { name: string; lines: string[] }) {
  return (
    <ol id={name}>
      {lines.map((line, at) => (
        <li key={at}>{line}</li>
      ))}
    </ol>
  );
}

const page = isStrict ? (
  <StrictMode>
    <Page />
  </StrictMode>
) : (
  <Page />
);
createRoot(document.querySelector("#page") as Element).render(page);
