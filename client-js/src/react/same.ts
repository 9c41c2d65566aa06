import { isObject } from "../wire/values.ts";

/** Whether two values are the same, or arrays or plain objects with the same elements or fields. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!(isObject(one) && isObject(other)) && !(Array.isArray(one) && Array.isArray(other))) return false;
  const fields = Object.entries(one);
  return (
    fields.length === Object.keys(other).length &&
    fields.every(([key, value]) => key in other && Object.is((other as Record<string, unknown>)[key], value))
  );
}
