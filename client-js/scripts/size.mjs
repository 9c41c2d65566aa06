// Measures what a page pays for one client with one tool, as a bundler ships it, and holds it to a budget.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const BUDGET = 16 * 1024;
const ENTRY = "virtual:entry";

const page = `
import { createClient, tool } from "farside";

const schema = { "~standard": { version: 1, vendor: "size", validate: (value) => ({ value }) } };
const getTime = tool({ name: "get_time", description: "Get the time.", schema })
  .implement(async () => ({ time: new Date().toISOString() }));
createClient({ url: "/farside", agent: "assistant", tools: [getTime] });
`;

const { output } = await build({
  configFile: false,
  logLevel: "warn",
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
    rolldownOptions: { input: ENTRY },
  },
});

const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
const gzipped = gzipSync(code, { level: 9 }).length;
console.log(
  `farside, one client with one tool: ${Buffer.byteLength(code)} bytes minified, ${gzipped} gzipped (budget ${BUDGET})`,
);
process.exitCode = gzipped > BUDGET ? 1 : 0;
