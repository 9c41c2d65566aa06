import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isObject } from "../wire/values.ts";

/** A JSON Schema, as far as it is checked here. What is not known is ignored: the server checks everything again. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

type Issue = StandardSchemaV1.Issue;
type Path = readonly PropertyKey[];

/** Makes a Standard Schema of a JSON Schema. Bytes are what JSON carries as `{ $bytes: string }`. Formats are not checked. */
export function jsonSchema<T>(root: JsonSchema): StandardSchemaV1<T> {
  const validate = (value: unknown): StandardSchemaV1.Result<T> => {
    const issues = [...check(root, value, [], root)];
    return issues.length > 0 ? { issues } : { value: value as T };
  };
  return { "~standard": { version: 1, vendor: "farside", validate } };
}

function* check(schema: unknown, given: unknown, path: Path, root: unknown): Generator<Issue> {
  if (schema === false) yield issue("expected nothing", given, path);
  if (!isObject(schema)) return;
  const fits = (inner: unknown) => check(inner, given, path, root).next().done === true;
  const value = carried(given);
  // A blob, a canvas: what it is carried as only shows later.
  if (typeOf(value) === undefined) return;

  const { $ref, type, enum: values, anyOf, oneOf, allOf, not } = schema as Schema;
  if ($ref !== undefined) yield* check(target($ref, root), given, path, root);
  if (type !== undefined) {
    const types = [type].flat();
    const fitting = types.some((name) => name === typeOf(value) || (name === "number" && typeOf(value) === "integer"));
    if (!fitting) return yield issue(`expected ${types.join(" or ")}`, given, path);
  }
  const constants = "const" in schema ? [schema["const"]] : values;
  if (constants && !constants.some((each) => isSame(each, value))) {
    yield issue(`expected ${constants.map(show).join(" or ")}`, given, path);
  }
  for (const each of allOf ?? []) yield* check(each, given, path, root);
  // TODO
}
