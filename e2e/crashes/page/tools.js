// Two tools whose bodies are counted outside of the page; `hold_again` is idempotent.
import { tool } from "/client/index.js";

const { tell, reach } = window.points;
const never = new Promise(() => {});
/** A task of its own. A timer would be late in a page that is not seen. */
const task = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
const any = { "~standard": { version: 1, vendor: "crashes", validate: (value) => ({ value }) } };

async function body() {
  const run = crypto.randomUUID();
  tell({ run });
  if (!reach("body begun")) return never;
  await task();
  return reach("body finished") ? run : never;
}

export function makeTools() {
  const tools = ["hold", "hold_again"].map((name) =>
    tool({ name, description: name, schema: any }).implement(body),
  );
  return { tools };
}
