// Talks on many threads at once, one message after the other, and counts what its tools do.
import { createClient, tool } from "/client/index.js";

const schema = { "~standard": { version: 1, vendor: "chaos", validate: (value) => ({ value }) } };
const query = new URLSearchParams(location.search);
const ran = {};

function counted(name) {
  return tool({ name, description: name, schema }).implement(async ({ key }, { progress }) => {
    ran[`${name} ${key}`] = (ran[`${name} ${key}`] ?? 0) + 1;
    progress({ key });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    return `${name}ed`;
  });
}

const client = createClient({
  url: query.get("url"),
  agent: "agent",
  tools: [counted("look"), counted("pay")],
});

/** Resolves when the thread has heard so many messages of the user, and nothing is under way. */
function settled(thread, count) {
  return new Promise((resolve) => {
    const look = () => {
      const { status, messages, queued } = thread.getSnapshot();
      const said = messages.filter(({ role }) => role === "human").length;
      if (said < count || status !== "idle" || queued.length > 0) return;
      stop();
      resolve();
    };
    const stop = thread.subscribe(look);
    look();
  });
}

async function talk(threadId, turns) {
  const thread = client.thread(threadId);
  for (let turn = 0; turn < turns; turn++) {
    await thread.submit(`turn-${turn}`);
    await settled(thread, turn + 1);
  }
}

window.chaos = {
  ran,
  run: (threads, turns) => Promise.all(threads.map((thread) => talk(thread, turns))),
};
