// A client in Node: has the agent call a tool of this process, and prints what the agent says.
import { createClient, tool } from "farside";
import { exposeToModelContext } from "farside/webmcp";

const [url, plan] = process.argv.slice(2);
const recall = tool({ name: "recall", description: "Where it runs.", schema: anything() }).implement(
  async ({ key }) => ({ key, pid: process.pid, webmcp: typeof exposeToModelContext([]) }),
);
const give = tool({ name: "give", description: "Bytes.", schema: anything() }).implement(() =>
  Buffer.from("far"),
);
const client = createClient({ url, agent: "function", tools: [recall, give] });
const thread = client.thread();
const stop = thread.subscribe(() => {
  const { status, messages } = thread.getSnapshot();
  const last = messages.at(-1);
  if (status !== "idle" || last?.role !== "ai" || last.streaming) return;
  stop();
  console.log(last.text);
  client.close();
});
thread.submit(plan);

function anything() {
  return { "~standard": { version: 1, vendor: "node", validate: (value) => ({ value }) } };
}
