import { tool } from "../tool/tool.ts";
import * as declarations from "./declarations.gen.ts";
import { asking, unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

const PERMISSION = "screen-wake-lock";

/** Lets go of what the page holds: one for all instances of the tool, which a page may make anew. */
let release = () => {};

/**
 * `hold_wake_lock`: keeps the screen on for a while. It answers as soon as the screen is kept on, since an agent that waited
 * could not talk meanwhile; a call that is withdrawn before lets the screen go. Browsers let it go while the page is hidden.
 *
 * Permission: `screen-wake-lock`, which browsers grant unasked. Click: none. Idempotent: it replaces what was held before.
 */
export const holdWakeLock = () =>
  tool({ ...declarations.hold_wake_lock, permissions: [PERMISSION] }).implement(
    async ({ duration }, { signal }) => {
      if (!navigator.wakeLock) throw unsupported("wake lock");
      release();
      if (duration === 0) return { held_until: null };
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), duration * 1000);
      release = () => stop.abort();
      stop.signal.addEventListener("abort", () => clearTimeout(timer));
      const held_until = new Date(Date.now() + duration * 1000).toISOString();
      try {
        await until(
          signal,
          asking(() => hold(stop.signal), PERMISSION),
        );
      } catch (error) {
        stop.abort();
        throw error;
      }
      const again = () => {
        if (document.visibilityState === "visible") hold(stop.signal).catch(() => {});
      };
      document.addEventListener("visibilitychange", again, { signal: stop.signal });
      return { held_until };
    },
  );

/** Keeps the screen on until the signal fires. */
async function hold(signal: AbortSignal): Promise<void> {
  const lock = await navigator.wakeLock.request("screen");
  const release = () => void lock.release();
  if (signal.aborted) release();
  signal.addEventListener("abort", release);
  lock.addEventListener("release", () => signal.removeEventListener("abort", release));
}
