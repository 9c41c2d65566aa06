// Packs the client, lints the package, installs it in a fresh project, type-checks uses of it there and runs them: first
// without React, which is optional, then with it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const client = fileURLToPath(new URL("..", import.meta.url));
const installed = fileURLToPath(new URL("../../node_modules", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "farside-package-"));
/** Runs a command; what it prints is shown if it fails. */
function run(command, args, cwd) {
  try {
    execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  } catch (error) {
    process.stderr.write(error.stdout ?? "");
    throw error;
  }
}
const runInstalled = (name, args) => run(join(installed, ".bin", name), args, project);

const USE = `
import { createClient, FarsideError, tool } from "farside";
import { FakeServer, ManualClock } from "farside/testing";
import { getLocation } from "farside/tools";
import { exposeToModelContext } from "farside/webmcp";

const ping = tool({ name: "ping", description: "Answers." }).implement(() => "pong");
const server = new FakeServer();
const client = createClient({
  url: "ws://server",
  agent: "assistant",
  tools: [ping, getLocation()],
  WebSocket: server.WebSocket,
  clock: new ManualClock(),
});
const status: "loading" | "idle" | "running" | "failed" = client.thread("t").getSnapshot().status;
if (status !== "loading") throw new FarsideError("failed", \`expected loading, got \${status}\`);
// @ts-expect-error A client is for an agent.
createClient;({ url: "ws://server" }) satisfies Parameters<typeof createClient>[0];
if (exposeToModelContext([ping, getLocation()]) !== undefined) throw new FarsideError("failed", "WebMCP in Node?");
client.close();
`;

const USE_REACT = `
import { FarsideProvider, type Stream, useStream, useThread, useTool } from "farside/react";
import { createElement } from "react";

createElement(FarsideProvider, { url: "/farside", agent: "assistant", children: "text" });
export const useStatus = (): Stream["status"] => useThread((thread) => thread.status);
export { useStream, useTool };
// @ts-expect-error A thread has no such field.
export const useNothing = () => useThread((thread) => thread.nothing);
`;

try {
  run("npm", ["pack", "--silent", "--pack-destination", project], client);
  const [tarball] = readdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  writeFileSync(join(project, "use.ts"), USE);
  run("npm", ["install", "--silent", "--no-package-lock", `./${tarball}`], project);
  // Only ES modules, and only with "exports": what older resolutions would say is of no account.
  runInstalled("publint", ["run", tarball, "--strict"]);
  runInstalled("attw", [tarball, "--profile", "esm-only", "--no-definitely-typed"]);
  const options = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
  runInstalled("tsc", [...options, "use.ts"]);
  run(process.execPath, ["use.js"], project);
  mkdirSync(join(project, "node_modules/@types"), { recursive: true });
  for (const name of ["react", "@types/react"])
    symlinkSync(join(installed, name), join(project, "node_modules", name));
  writeFileSync(join(project, "use-react.ts"), USE_REACT);
  runInstalled("tsc", [...options, "use-react.ts"]);
  run(process.execPath, ["use-react.js"], project);
  console.log(`${tarball}: is well-formed, installs, type-checks and runs in a fresh project`);
} finally {
  rmSync(project, { recursive: true, force: true });
}
