import { useChannel, useStream } from "@langchain/react";
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
      {listensToCustom && <Custom stream={stream} />}
    </>
  );
}

function Custom({ stream }: { stream: Parameters<typeof useChannel>[0] }) {
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
