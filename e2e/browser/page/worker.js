// A client where there is no page: the same script as a dedicated, a shared and a service worker.
import { createClient, tool } from "/client/index.js";

const { agent, thread: threadId, plan, held } = Object.fromEntries(new URLSearchParams(location.search));
const channel = new BroadcastChannel(threadId);
const say = (heard) => channel.postMessage(heard);

const give = tool({
  name: "give",
  description: "A picture, its left half red.",
  schema: anything(),
}).implement(() => {
  const canvas = new OffscreenCanvas(4, 2);
  const context = canvas.getContext("2d");
  context.fillStyle = "#ff0000";
  context.fillRect(0, 0, 2, 2);
  return canvas;
});
const recall = tool({ name: "recall", description: "Where it runs.", schema: anything() }).implement(
  async ({ key }) => ({
    key,
    scope: self.constructor.name,
    page: typeof document,
    databases: (await indexedDB.databases()).map(({ name }) => name),
  }),
);
const hold = tool({
  name: "hold_again",
  description: "Runs for ever, or ends.",
  schema: anything(),
}).implement(() => {
  say({ begun: true });
  return held ? new Promise(() => {}) : "done";
});

const client = createClient({ url: "/farside", agent, tools: [give, recall, hold] });
const thread = client.thread(threadId);
thread.subscribe(() => {
  const { status, messages } = thread.getSnapshot();
  const last = messages.at(-1);
  if (status === "idle" && last?.role === "ai" && !last.streaming) say({ said: last.text });
});
if (plan) thread.submit(plan);

function anything() {
  return { "~standard": { version: 1, vendor: "worker", validate: (value) => ({ value }) } };
}
