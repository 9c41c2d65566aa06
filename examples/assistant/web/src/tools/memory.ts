import { tool } from "farside";
import * as store from "../store.ts";
import { z } from "../zod.ts";

export const Memory = z.object({ key: z.string(), value: z.string() });
export const Memories = z.object({ entries: z.array(Memory) });

export const remember = tool({
  name: "remember",
  description: "Remember something in this browser.",
  schema: Memory,
  result: Memory,
}).implement(async (memory) => {
  await store.put(memory);
  return memory;
});

export const recall = tool({
  name: "recall",
  description: "Look up what was remembered: one key, or everything.",
  schema: z.object({ key: z.string().nullish() }),
  result: Memories,
}).implement(async ({ key }) => {
  if (key === undefined || key === null) return { entries: await store.all() };
  const found = await store.get(key);
  return { entries: found === undefined ? [] : [found] };
});
