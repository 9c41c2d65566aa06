import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isObject } from "../wire/values.ts";

/** A JSON Schema. What is not known of it is ignored, formats included: the server checks everything again. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** The keywords that are known, as Python has found them to be valid. */
interface Keywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly allOf?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly patternProperties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly propertyNames?: unknown;
  readonly required?: readonly string[];
  readonly prefixItems?: readonly unknown[];
  readonly items?: unknown;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly multipleOf?: number;
}

interface Complaint {
  readonly expected: string;
  readonly given: unknown;
  readonly path: readonly PropertyKey[];
}

/** More complaints than that help nobody. */
const MAX_COMPLAINTS = 8;

/** The keywords that limit the size of each kind of value. */
const SIZES: Readonly<Record<string, readonly [string, string]>> = {
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  string: ["minLength", "maxLength"],
  array: ["minItems", "maxItems"],
  object: ["minProperties", "maxProperties"],
};

/** The content of bytes. */
const OPAQUE = Symbol();

/** Makes a Standard Schema of a JSON Schema. Bytes are what JSON carries as `{ $bytes: string }`, and fit any string there. */
export function jsonSchema<T>(root: JsonSchema): StandardSchemaV1<T> & StandardJSONSchemaV1<T> {
  const validate = (value: unknown): StandardSchemaV1.Result<T> => {
    const complaints: Complaint[] = [];
    check(root, root, value ?? null, [], complaints);
    if (complaints.length === 0) return { value: value as T };
    return {
      issues: complaints.map(({ expected, given, path }) => {
        return { message: `expected ${expected}, got ${shown(given)}`, path };
      }),
    };
  };
  const written = () => (isObject(root) ? root : root ? {} : { not: {} });
  const jsonSchema = { input: written, output: written };
  return { "~standard": { version: 1, vendor: "farside", validate, jsonSchema } };
}

function check(
  root: unknown,
  schema: unknown,
  given: unknown,
  path: PropertyKey[],
  found: Complaint[],
): void {
  const complain = (expected: string) => {
    if (found.length < MAX_COMPLAINTS) found.push({ expected, given, path: [...path] });
  };
  const value = isBytes(given) ? { $bytes: OPAQUE } : given;
  const kind = kindOf(value);
  // A blob or a canvas: its form shows when it is sent.
  if (kind === undefined) return;
  if (schema === false) complain("nothing");
  if (!isObject(schema)) return;
  const keywords: Keywords = schema;
  const within = (inner: unknown, key: PropertyKey, item: unknown) => {
    path.push(key);
    check(root, inner, item, path, found);
    path.pop();
  };

  if (keywords.type !== undefined) {
    const types = [keywords.type].flat();
    if (!types.includes(kind) && !(kind === "integer" && types.includes("number"))) {
      complain(types.join(" or "));
      return;
    }
  }
  const constants = keywords.const === undefined ? keywords.enum : [keywords.const];
  if (constants && !constants.some((each) => each === value || canonical(each) === canonical(value))) {
    complain(constants.map(shown).join(" or "));
  }
  for (const each of keywords.allOf ?? []) check(root, each, given, path, found);
  if (keywords.$ref !== undefined) check(root, target(root, keywords.$ref), given, path, found);
  for (const branches of [keywords.anyOf, keywords.oneOf]) {
    if (branches === undefined) continue;
    const outcomes = branches.map((each) => {
      const complaints: Complaint[] = [];
      check(root, each, given, path, complaints);
      return complaints;
    });
    const fitting = outcomes.filter((complaints) => complaints.length === 0).length;
    if (fitting === 0) {
      // The branch that fits best is meant; where none fits at all, any would do.
      const meant = outcomes.find((complaints) => complaints.every((each) => each.path.length > path.length));
      if (meant === undefined)
        complain([...new Set(outcomes.flat().map((each) => each.expected))].join(" or "));
      else found.push(...meant);
    } else if (fitting > 1 && branches === keywords.oneOf) complain("one fitting alternative");
  }

  const bound = (keyword: string, fits: (size: number, limit: number) => boolean) => {
    const limit = schema[keyword] as number | undefined;
    if (limit !== undefined && !fits(sizeOf(value), limit)) complain(`${keyword} ${limit}`);
  };
  const [least, most] = SIZES[kind] ?? ["", ""];
  bound(least, (size, limit) => size >= limit);
  bound(most, (size, limit) => size <= limit);
  if (typeof value === "number") {
    bound("exclusiveMinimum", (size, limit) => size > limit);
    bound("exclusiveMaximum", (size, limit) => size < limit);
    bound("multipleOf", isMultiple);
  }
  if (typeof value === "string") {
    const { pattern } = keywords;
    if (pattern !== undefined && matches(pattern, value) === false) complain(`pattern ${pattern}`);
  } else if (Array.isArray(value)) {
    const { prefixItems = [], items } = keywords;
    for (const [index, item] of value.entries()) {
      within(index < prefixItems.length ? prefixItems[index] : items, index, item);
    }
    if (keywords.uniqueItems && new Set(value.map(canonical)).size < value.length) complain("uniqueItems");
  } else if (isObject(value)) {
    const { properties = {}, patternProperties = {}, additionalProperties, propertyNames } = keywords;
    for (const name of keywords.required ?? []) {
      if (!Object.hasOwn(value, name) || value[name] === undefined) complain(`the member ${name}`);
    }
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      let isKnown = Object.hasOwn(properties, key);
      if (isKnown) within(properties[key], key, item);
      for (const [pattern, inner] of Object.entries(patternProperties)) {
        const fits = matches(pattern, key);
        if (fits) within(inner, key, item);
        isKnown ||= fits !== false;
      }
      if (!isKnown) within(additionalProperties, key, item);
      within(propertyNames, key, key);
    }
  }
}

/** What JSON has of a value; undefined for what it has not. */
function kindOf(value: unknown): string | undefined {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

/** A number is as large as itself. */
function sizeOf(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" ? [...value].length : Object.keys(value as object).length;
}

function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** Decimal fractions are no exact numbers. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return !(Math.abs(times - Math.round(times)) > 1e-9);
}

/** Whether the pattern matches; undefined where Python may see that differently. */
function matches(pattern: string, text: string): boolean | undefined {
  try {
    return /^\p{ASCII}*$/u.test(text) ? new RegExp(pattern, "u").test(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The same text for what JSON Schema takes for equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isObject(item) ? Object.fromEntries(Object.entries(item).sort()) : item,
  );
}

/** What a reference within the schema names; undefined where its steps are escaped, which is not known here. */
function target(root: unknown, ref: string): unknown {
  return ref
    .split("/")
    .slice(1)
    .reduce((found, step) => Object(found)[step], root);
}

/** A value in a few words. */
function shown(value: unknown): string {
  if (isBytes(value)) return "bytes";
  if (value === undefined) return "nothing";
  return typeof value === "object" && value !== null
    ? `an ${kindOf(value)}`
    : JSON.stringify(value).slice(0, 100);
}
