// `node embed.mjs <pages>`: LangChain's own JavaScript server with the agent of e2e/official/app.py as far as
// hook_turn.py asks it, all in memory, and the pages beside it. It prints its port.
import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { createNodeWebSocket } from "@hono/node-ws";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { MemorySaver } from "@langchain/langgraph";
import { createEmbedServer } from "@langchain/langgraph-api/experimental/embed";
import { Hono } from "hono";
import { createAgent, tool } from "langchain";
import { z } from "zod";

/** Does `call hold <key>`, then says word by word what it heard. */
class Script extends BaseChatModel {
  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const message = answer(messages);
    return { generations: [{ text: message.text, message }] };
  }

  async *_streamResponseChunks(messages, _options, runManager) {
    const { content, tool_calls: calls } = answer(messages);
    const words = content === "" ? [] : content.split(" ");
    for (const word of words) yield await said(`${word} `, {}, runManager);
    for (const [index, { name, args, id }] of calls.entries()) {
      const call = { name, args: JSON.stringify(args), id, index, type: "tool_call_chunk" };
      yield await said("", { tool_call_chunks: [call] }, runManager);
    }
  }
}

async function said(content, fields, runManager) {
  const chunk = new ChatGenerationChunk({
    text: content,
    message: new AIMessageChunk({ content, ...fields }),
  });
  await runManager?.handleLLMNewToken(content, undefined, undefined, undefined, undefined, { chunk });
  return chunk;
}

function answer(messages) {
  const last = messages.at(-1);
  if (last.getType() === "tool") return new AIMessage(`heard ${last.text}`);
  const [, name, key] = last.text.split(" ");
  const call = { name, args: { key }, id: `call_${messages.length}_${key}`, type: "tool_call" };
  return new AIMessage({ content: "", tool_calls: [call] });
}

const schema = z.object({ key: z.string() });
const hold = tool({ name: "hold", description: "Ends when the test says so.", schema });
const hold_again = tool({ name: "hold_again", description: "The same; it may run twice.", schema });

const kept = new Map();
const threads = {
  async get(id) {
    if (!kept.has(id)) throw new Error(`there is no thread ${id}`);
    return kept.get(id);
  },
  async set(id, { metadata }) {
    kept.set(id, { thread_id: id, metadata: { ...kept.get(id)?.metadata, ...metadata } });
    return kept.get(id);
  },
  async delete(id) {
    kept.delete(id);
  },
};

const app = new Hono();
const { upgradeWebSocket, injectWebSocket } = createNodeWebSocket({ app });
const graph = { chat: createAgent({ model: new Script({}), tools: [hold, hold_again] }).graph };
app.route(
  "/farside",
  createEmbedServer({ graph, threads, checkpointer: new MemorySaver(), upgradeWebSocket }),
);
app.use("/*", serveStatic({ root: process.argv[2] }));
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log(port));
injectWebSocket(server);
