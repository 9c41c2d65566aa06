// Measures what a page pays, as a bundler ships it, and holds it to a budget: for one client with one tool, and for what
// React's hooks add to that, without React.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const ENTRY = "virtual:entry";

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

/** The size of a page with this code, in bytes: minified, and gzipped too. */
async function sizeOf(page) {
  const { output } = await build({
    configFile: false,
    // It warns of "use client", which means nothing here.
    logLevel: "error",
    root: fileURLToPath(new URL("..", import.meta.url)),
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === ENTRY ? id : undefined),
        load: (id) => (id === ENTRY ? page : undefined),
      },
    ],
    build: {
      write: false,
      target: "es2022",
      minify: true,
      modulePreload: false,
      rolldownOptions: { input: ENTRY, external: ["react"] },
    },
  });
  const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
  return { minified: Buffer.byteLength(code), gzipped: gzipSync(code, { level: 9 }).length };
}

function check(name, { minified, gzipped }, budget) {
  console.log(`${name}: ${minified} bytes minified, ${gzipped} gzipped (budget ${budget})`);
  if (gzipped > budget) process.exitCode = 1;
}

const alone = await sizeOf(client);
const withReact = await sizeOf(client + react);
check("farside, one client with one tool", alone, 16 * 1024);
const added = {
  minified: withReact.minified - alone.minified,
  gzipped: withReact.gzipped - alone.gzipped,
};
check("farside/react, beyond that", added, 3 * 1024);
