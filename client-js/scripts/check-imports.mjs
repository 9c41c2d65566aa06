// Holds src/ to its import directions: each module of src/ (a file or a folder) and what it may import.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const base = ["errors", "attempt", "wire", "core", "tool"];
const client = [...base, "transport", "journal", "client"];
const MODULES = {
  errors: [],
  wire: ["errors"],
  core: ["errors", "wire"],
  attempt: [],
  tool: ["errors", "attempt", "wire", "core"],
  transport: [...base, "transport"],
  journal: [...base, "transport"],
  client,
  prompt: [...client, "index"],
  react: [...client, "index"],
  tools: [...client, "index"],
  webmcp: [...client, "index"],
  testing: [...client, "index"],
  langgraph: [...client, "index"],
  index: client,
};
const PACKAGES = {
  "@standard-schema/spec": ["tool", "tools", "webmcp", "client", "index", "testing"],
  react: ["react"],
  "modern-screenshot": ["tools"],
};

const src = fileURLToPath(new URL("../src", import.meta.url));
const nameOf = (path) =>
  relative(src, path)
    .replace(/\.tsx?$/, "")
    .split(sep)
    .join("/");
const isIn = (name, homes) => homes.some((home) => name === home || name.startsWith(`${home}/`));

function complaint(file, specifier) {
  const importer = nameOf(file);
  const module = importer.split("/")[0];
  if (!specifier.startsWith(".")) {
    const name = specifier.match(/^(@[^/]+\/)?[^/]+/)[0];
    return isIn(importer, PACKAGES[name] ?? []) ? undefined : `has no home for ${name}`;
  }
  const imported = nameOf(resolve(dirname(file), specifier)).split("/")[0];
  return imported === module || MODULES[module]?.includes(imported)
    ? undefined
    : `must not import ${imported}`;
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']/g;
for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  if (!/\.tsx?$/.test(entry.name)) continue;
  if (!(nameOf(file).split("/")[0] in MODULES)) {
    console.error(`src/${nameOf(file)} belongs to no module that scripts/check-imports.mjs knows`);
    process.exitCode = 1;
  }
  for (const [, specifier] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const problem = complaint(file, specifier);
    if (problem === undefined) continue;
    console.error(`src/${nameOf(file)} ${problem} ("${specifier}")`);
    process.exitCode = 1;
  }
}
