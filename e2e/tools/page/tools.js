// All ready-made tools, for the harness of the browser tests.
import * as ready from "/client/tools/index.js";

/** The options of those that are not tested with their defaults. */
const OPTIONS = {
  getLocation: { timeoutMs: 500 },
  remember: { maxMemories: 5 },
  say: { startMs: 500 },
};

/** The tools. `note` hears when a body begins and when its signal fires. */
export function makeTools() {
  const tools = Object.entries(ready).map(([name, make]) => make(OPTIONS[name]));
  return { tools, release: () => {} };
}
