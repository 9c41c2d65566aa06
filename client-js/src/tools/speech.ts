import type { ToolErrorCode } from "../errors.ts";
import * as declarations from "./declarations.gen.ts";
import { refused, unsupported } from "./refusal.ts";

/** `SpeechSynthesisErrorEvent.error`. */
const CODES: { readonly [error: string]: ToolErrorCode } = {
  "not-allowed": "needs_gesture",
  "language-unavailable": "unsupported",
  "voice-unavailable": "unsupported",
  "synthesis-unavailable": "unsupported",
};

/** Options of {@link say}. */
export interface SayOptions {
  /** How long a voice may take to begin: where there is none, browsers say nothing. By default 5,000. */
  readonly startMs?: number;
}

/**
 * `say`: speaks a text. When the call is withdrawn, the page falls silent.
 *
 * Permission: none. Click: the user must have clicked in the page at some time. Not idempotent.
 */
export const say = ({ startMs = 5000 }: SayOptions = {}) =>
  declarations.say.implement(({ text, language, rate }, { signal }) => {
    const { speechSynthesis } = globalThis;
    if (!speechSynthesis) throw unsupported("speech synthesis");
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        settle();
      };
      const silence = (reason: unknown) =>
        end(() => {
          speechSynthesis.cancel();
          reject(reason);
        });
      const abort = () => silence(signal.reason);
      signal.addEventListener("abort", abort);
      const timer = speechSynthesis.speaking
        ? undefined
        : setTimeout(() => silence(refused("unsupported", "No voice has begun to speak.")), startMs);
      const utterance = new SpeechSynthesisUtterance(text);
      utterance.lang = language ?? document.documentElement.lang;
      utterance.rate = rate;
      utterance.onstart = () => clearTimeout(timer);
      utterance.onend = () => end(() => resolve({ spoken: true }));
      utterance.onerror = ({ error }) => {
        const otherwise = speechSynthesis.getVoices().length > 0 ? "failed" : "unsupported";
        end(() => reject(refused(CODES[error] ?? otherwise, `The browser has not spoken: ${error}.`)));
      };
      speechSynthesis.speak(utterance);
    });
  });
