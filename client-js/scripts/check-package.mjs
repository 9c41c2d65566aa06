// Packs the client, installs it in a fresh project, type-checks a use of it there and runs it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const client = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "farside-package-"));
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });

const USE = `
import { createClient, FarsideError, tool } from "farside";
import { FakeServer, ManualClock } from "farside/testing";

const ping = tool({ name: "ping", description: "Answers." }).implement(() => "pong");
const server = new FakeServer();
const client = createClient({
  url: "ws://server",
  agent: "assistant",
  tools: [ping],
  WebSocket: server.WebSocket,
  clock: new ManualClock(),
});
const status: "loading" | "idle" | "running" | "failed" = client.thread("t").getSnapshot().status;
if (status !== "loading") throw new FarsideError("failed", \`expected loading, got \${status}\`);
// @ts-expect-error A client is for an agent.
createClient;({ url: "ws://server" }) satisfies Parameters<typeof createClient>[0];
client.close();
`;

try {
  run("npm", ["pack", "--silent", "--pack-destination", project], client);
  const [tarball] = readdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  writeFileSync(join(project, "use.ts"), USE);
  run("npm", ["install", "--silent", "--no-package-lock", `./${tarball}`], project);
  const options = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
  run(process.execPath, [tsc, ...options, "use.ts"], project);
  run(process.execPath, ["use.js"], project);
  console.log(`${tarball}: installs, type-checks and runs in a fresh project`);
} finally {
  rmSync(project, { recursive: true, force: true });
}
