// LangGraph's JavaScript client on its own, unmodified: `node sdk.mjs <server> <transport> <scenario>` prints what happened.
import { Client } from "langgraph-sdk-newest";

const [apiUrl, transport, scenario] = process.argv.slice(2);
const client = new Client({ apiUrl });

const human = (content) => ({ input: { messages: [{ type: "human", content }] } });
const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");

/** What the run waits for. */
async function asked(thread) {
  for await (const { params } of await thread.subscribe("input")) return params.data;
}

const scenarios = {
  async turn() {
    const thread = client.threads.stream({ assistantId: "chat", transport });
    await thread.run.start(human("say hello there"));
    const streamed = [];
    for await (const message of thread.messages) {
      for await (const piece of message.text) streamed.push(piece);
    }
    return { thread, streamed };
  },

  async tool() {
    const thread = client.threads.stream({ assistantId: "chat", transport });
    await thread.run.start(human("call hold first"));
    const { interrupt_id, payload } = await asked(thread);
    await thread.input.respond({ interrupt_id, namespace: [], response: { [payload.tool_call.id]: "done" } });
    return { thread, payload };
  },

  async interrupt() {
    const thread = client.threads.stream(`a-thread-of-node-over-${transport}`, {
      assistantId: "approval",
      transport,
    });
    await thread.run.start(human("Send it?"));
    // What is no tool call ends what is streamed.
    for await (const _ of thread.values);
    const [{ interruptId, namespace, payload }] = thread.interrupts;
    const lives = await thread.subscribe("lifecycle");
    await thread.input.respond({ interrupt_id: interruptId, namespace, response: "yes" });
    for await (const { params } of lives) if (params.data.event === "completed") break;
    return { thread, payload };
  },
};

const { thread, ...happened } = await scenarios[scenario]();
// What it gives as output ends at the first pause.
if (scenario !== "interrupt") await thread.output;
const { values } = await client.threads.getState(thread.threadId);
console.log(JSON.stringify({ ...happened, said: values.messages.map(textOf) }));
await thread.close();
