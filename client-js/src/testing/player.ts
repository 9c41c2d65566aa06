import type { Encoding } from "../transport/transport.ts";
import { JSON_CODEC } from "../wire/codec.ts";
import { ManualClock } from "./clock.ts";
import { FakePage } from "./page.ts";
import type { Transcript } from "./transcript.ts";

/**
 * Plays the pages' half of a transcript with real clients, in one encoding. Throws at the first step that goes
 * otherwise, and when a page has sent more than the transcript says.
 */
export async function playTranscript(transcript: Transcript, encoding: Encoding): Promise<void> {
  const clock = new ManualClock();
  const pages = new Map<string, FakePage>();
  // Bytes are written in the file as they are in a frame.
  const { steps } = JSON_CODEC.decode(JSON.stringify(transcript)) as Transcript;
  for (const [index, step] of steps.entries()) {
    const name = step.page ?? "page";
    try {
      if ("do" in step && step.do === "advance") {
        await clock.advance(step.ms);
        continue;
      }
      let page = pages.get(name);
      if (page === undefined) {
        page = new FakePage(transcript, name, encoding, clock);
        pages.set(name, page);
      }
      await page.play(step);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      const text = JSON.stringify(transcript.steps[index]);
      throw new Error(`${transcript.name}, step ${index}: ${message}\nThe step was ${text}`, { cause });
    }
  }
  for (const [name, page] of pages) await page.end(`${transcript.name}, ${name}`);
}
