// Writes src/wire/messages.gen.ts from protocol/schema.json; with --check, fails when that file is out of date.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const schemaPath = path("../../protocol/schema.json");
const typesPath = path("../src/wire/messages.gen.ts");
const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");

const objectOf = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const mapValues = (object, transform) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, transform(value)]));

async function generate() {
  const { commands, events, $defs } = JSON.parse(readFileSync(schemaPath, "utf8"));
  const protocol = objectOf({
    commands: objectOf(mapValues(commands, ({ params, result }) => objectOf({ params, result }))),
    events: objectOf(events),
  });
  const source = await compile({ ...protocol, $defs }, "Protocol", {
    additionalProperties: false,
    bannerComment: "// Generated from protocol/schema.json by `make generate`. Do not edit.",
    format: false,
    unreachableDefinitions: true,
  });
  const withoutReferences = source
    .replace(
      /^ \* This interface was referenced by `Protocol`'s JSON-Schema\n \* via the `definition` ".*"\.\n/gm,
      "",
    )
    .replace(/^ \*\s*\n(?= \*\/)/gm, "")
    .replace(/^\/\*\*\n \*\/\n/gm, "");
  return execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${typesPath}`], {
    cwd: path("../.."),
    encoding: "utf8",
    input: withoutReferences,
  });
}

const types = await generate();
if (process.argv.includes("--check")) {
  if (types !== readFileSync(typesPath, "utf8")) {
    console.error(`${typesPath} is out of date: run \`make generate\`.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(typesPath, types);
}
