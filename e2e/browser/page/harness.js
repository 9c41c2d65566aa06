// The page of the browser tests: `window.harness` is what they see and do.
import { createClient } from "/client/index.js";
import { createPrompt } from "/client/prompt/index.js";
import { makeTools } from "./tools.js";

const parameters = new URLSearchParams(location.search);
const encoding = parameters.get("encoding");
/** How long something may take to come. */
const PATIENCE_MS = 20_000;

const log = [];
const texts = [];
const states = {};
const listeners = new Set();
const notify = () => {
  for (const listener of listeners) listener();
};
const note = (entry) => {
  log.push(entry);
  notify();
};

const { tools, release } = makeTools(note);
/** Asks the user; without it a click anywhere on the page will do. */
const prompt = parameters.has("prompt") ? createPrompt() : undefined;
const client = createClient({
  url: parameters.get("server") ?? "/farside",
  agent: parameters.get("agent"),
  tools,
  ...(encoding === null ? {} : { encoding }),
  onTool: (event) => {
    const { phase, name, error, proceed } = event;
    note({ tool: name, phase, ...(error ? { code: error.code } : {}) });
    if (prompt !== undefined) prompt(event);
    else if (phase === "waiting") addEventListener("click", proceed, { once: true });
  },
});
const thread = client.thread(parameters.get("thread"));

/** The snapshot, the log and what has been seen before, as JSON. */
function view() {
  const { connection, status, error, messages, toolCalls } = thread.getSnapshot();
  return {
    connection,
    status,
    error: error?.code ?? null,
    messages: messages.map(({ role, text, streaming }) => ({ role, text, streaming })),
    calls: toolCalls.map(({ name, args, state, result, error, interruptId }) => ({
      name,
      args,
      state,
      result: result instanceof Uint8Array ? { bytes: result.length } : result,
      code: error?.code,
      isAsked: interruptId !== undefined,
    })),
    log,
    /** The texts that the agent's last message had, one after another. */
    texts,
    /** The states that the newest call of each tool had, and the connection, and the status, one after another. */
    states,
  };
}

function see(name, state) {
  states[name] ??= [];
  if (states[name].at(-1) !== state) states[name].push(state);
}

thread.subscribe(() => {
  const { connection, status, messages, toolCalls } = thread.getSnapshot();
  see("connection", connection);
  see("status", status);
  const last = messages.at(-1);
  if (last?.role === "ai" && last.text !== "" && last.text !== texts.at(-1)) texts.push(last.text);
  for (const { name, state } of toolCalls) see(name, state);
  notify();
});

/** Has the agent answer on many new threads at once; what it said on each, or what the thread did instead. */
function converse(count, text) {
  const one = () =>
    new Promise((resolve) => {
      const thread = client.thread();
      const end = () => {
        clearTimeout(timer);
        const { status, messages, toolCalls } = thread.getSnapshot();
        const last = messages.at(-1);
        resolve(
          last?.role === "ai" && last.text ? last.text : `${status} ${toolCalls.map((call) => call.state)}`,
        );
        thread.close();
      };
      const timer = setTimeout(end, PATIENCE_MS);
      thread.subscribe(() => thread.getSnapshot().status !== "running" && end());
      thread.submit(text);
    });
  return Promise.all(Array.from({ length: count }, one));
}

/** Opens more threads; `until` looks again when one of them changes. */
function open(ids) {
  return ids.map((id) => {
    const opened = client.thread(id);
    opened.subscribe(notify);
    return opened;
  });
}

/** The view, as soon as the condition holds for it. */
function until(condition) {
  return new Promise((resolve, reject) => {
    const end = (settle) => {
      listeners.delete(look);
      clearTimeout(timer);
      settle();
    };
    const look = () => {
      const seen = view();
      if (condition(seen)) end(() => resolve(seen));
    };
    const giveUp = () =>
      reject(new Error(`waited for ${condition} and saw ${JSON.stringify(view(), null, 1)}`));
    const timer = setTimeout(() => end(giveUp), PATIENCE_MS);
    listeners.add(look);
    look();
  });
}

// What is said as soon as there is anything to say it to.
if (parameters.has("say")) thread.submit(parameters.get("say"));

window.harness = { client, tools, thread, view, until, open, converse, release };
