import { isObject } from "../wire/values.ts";

/** Throws unless both values are equal. */
export function assertEqual(got: unknown, expected: unknown, what: string): void {
  const place = differenceOf(got, expected, true);
  if (place !== undefined) throw new Error(complaint(got, expected, what, place));
}

/** Throws unless `got` contains `expected`: objects may have more keys, arrays as many elements. */
export function assertContains(got: unknown, expected: unknown, what: string): void {
  const place = differenceOf(got, expected, false);
  if (place !== undefined) throw new Error(complaint(got, expected, what, place));
}

/** Where two values differ, as a path; undefined if they do not. */
function differenceOf(got: unknown, expected: unknown, isExact: boolean, place = "$"): string | undefined {
  if (Object.is(got, expected) || got === expected) return undefined;
  if (got instanceof Uint8Array || expected instanceof Uint8Array) {
    const same =
      got instanceof Uint8Array && expected instanceof Uint8Array && String(got) === String(expected);
    return same ? undefined : place;
  }
  if (Array.isArray(got) && Array.isArray(expected)) {
    if (got.length !== expected.length) return place;
    return firstOf(expected.keys(), (index) =>
      differenceOf(got[index], expected[index], isExact, `${place}[${index}]`),
    );
  }
  // Snapshots hold errors, whose message is not enumerable.
  if (!(isObject(got) || got instanceof Error) || !isObject(expected)) return place;
  const values = got as Readonly<Record<string, unknown>>;
  const keys = new Set([...Object.keys(expected), ...(isExact ? Object.keys(values) : [])]);
  return firstOf(keys, (key) => differenceOf(values[key], expected[key], isExact, `${place}.${key}`));
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function complaint(got: unknown, expected: unknown, what: string, place: string): string {
  return `${what} differs at ${place}\nexpected ${show(expected)}\n     got ${show(got)}`;
}

function show(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Error
      ? { ...item, message: item.message }
      : item instanceof Uint8Array
        ? `bytes ${item}`
        : item,
  );
}
