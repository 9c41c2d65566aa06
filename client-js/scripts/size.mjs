// Measures what a page pays, as a bundler ships it, and holds it to budgets: one client with one tool, what React's hooks, the
// prompt and each of the ready-made tools add to that. React itself and libraries that a page chooses to install do not count.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import * as ready from "../dist/tools/index.js";

const KIB = 1024;
const TOOL_BUDGET = 2 * KIB;
/** By the name of their export: those that have a budget of their own. */
const TOOL_BUDGETS = { askUser: 3 * KIB };
const ENTRY = "virtual:entry";
const LIBRARIES = ["react", "modern-screenshot"];

const client = `
import { createClient, tool } from "farside";

const schema = { "~standard": { version: 1, vendor: "size", validate: (value) => ({ value }) } };
const getTime = tool({ name: "get_time", description: "Get the time.", schema })
  .implement(async () => ({ time: new Date().toISOString() }));
createClient({ url: "/farside", agent: "assistant", tools: [getTime] });
`;

const react = `
import { FarsideProvider, useStream, useThread, useTool } from "farside/react";

globalThis.hooks = { FarsideProvider, useStream, useThread, useTool };
`;

const prompt = `
import { createPrompt } from "farside/prompt";

globalThis.prompt = createPrompt();
`;

const webmcp = `
import { adopt, exposeToModelContext } from "farside/webmcp";

globalThis.webmcp = { adopt, exposeToModelContext };
`;

/** The size of a page's code, in bytes: minified, and gzipped too. Without the modules that are `external`. */
async function sizeOf(source, external = (id) => LIBRARIES.includes(id)) {
  const { output } = await build({
    configFile: false,
    // It warns of "use client", which means nothing here.
    logLevel: "error",
    root: fileURLToPath(new URL("..", import.meta.url)),
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === ENTRY ? id : undefined),
        load: (id) => (id === ENTRY ? source : undefined),
      },
    ],
    build: {
      write: false,
      target: "es2022",
      minify: true,
      modulePreload: false,
      rolldownOptions: { input: ENTRY, external },
    },
  });
  const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
  return { minified: Buffer.byteLength(code), gzipped: gzipSync(code, { level: 9 }).length };
}

function report(what, { minified, gzipped }, budget) {
  console.log(`${what}: ${minified} bytes minified, ${gzipped} gzipped (budget ${budget})`);
  if (gzipped > budget) process.exitCode = 1;
}

const alone = await sizeOf(client);
report("farside, one client with one tool", alone, 16 * KIB);
for (const [name, source] of Object.entries({ react, prompt, webmcp })) {
  const { minified, gzipped } = await sizeOf(client + source);
  const added = { minified: minified - alone.minified, gzipped: gzipped - alone.gzipped };
  report(`farside/${name}, beyond that`, added, name === "webmcp" ? KIB : 3 * KIB);
}

/** What the tools share with the client is no part of theirs. */
const isNotOfTool = (id, importer) =>
  LIBRARIES.includes(id) || (importer !== undefined && importer !== ENTRY && id.startsWith("../"));
for (const name of Object.keys(ready)) {
  const source = `import { ${name} } from "farside/tools"; globalThis.tools = [${name}()];`;
  report(`farside/tools, ${name}`, await sizeOf(source, isNotOfTool), TOOL_BUDGETS[name] ?? TOOL_BUDGET);
}
