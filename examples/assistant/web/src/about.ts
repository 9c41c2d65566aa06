import { z } from "./zod.ts";

/** Who answers, and sentences to begin with. */
const About = z.object({
  model: z.string().nullable(),
  scripted: z.boolean(),
  sentences: z.array(z.string()),
});

export type About = z.infer<typeof About>;

export async function fetchAbout(): Promise<About> {
  const response = await fetch("./about");
  if (!response.ok) throw new Error(`expected 200 from ${response.url}, got ${response.status}`);
  return About.parse(await response.json());
}
