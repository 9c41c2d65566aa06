import { useStream } from "@langchain/react";
import { createRoot } from "react-dom/client";

/** The body of the tool that server.py declares. It runs here, in the user's browser. */
function locate(): Promise<{ latitude: number; longitude: number }> {
  return new Promise((resolve, reject) =>
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude } }) => resolve({ latitude, longitude }),
      ({ message }) => reject(new Error(message)),
    ),
  );
}

const tools = [{ tool: { name: "get_location" }, execute: locate }];

function Chat() {
  const { messages, toolCalls, error, isLoading, submit, stop } = useStream({
    apiUrl: import.meta.env.DEV ? "http://localhost:8000/farside" : `${location.origin}/farside`,
    assistantId: "assistant",
    transport: "websocket", // or "sse"
    tools,
    // The conversation is in the address, so that a reload finds it.
    threadId: location.hash.slice(1) || null,
    onThreadId: (made) => history.replaceState(null, "", `#${made}`),
  });
  const ask = () => submit({ messages: [{ type: "human", content: "Where am I?" }] });
  return (
    <>
      {messages.map(({ id, type, text }) => (
        <p key={id}>
          <b>{type}</b> {text}
        </p>
      ))}
      <p>{toolCalls.map(({ name, status }) => `${name} ${status}`).join(", ")}</p>
      {error !== undefined && <p role="alert">{String(error)}</p>}
      <button type="button" onClick={isLoading ? () => stop() : ask}>
        {isLoading ? "Stop" : "Where am I?"}
      </button>
    </>
  );
}

createRoot(document.querySelector("#page") as Element).render(<Chat />);
