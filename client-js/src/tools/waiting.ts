import { refused } from "./refusal.ts";

/** What a promise comes to, unless the signal fires first: then its reason is thrown. */
export function until<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** What a promise comes to within a time; then it is `timed_out`. A browser's own timeouts do not run in a hidden page. */
export function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const why = document.visibilityState === "hidden" ? " The page is hidden." : "";
      reject(refused("timed_out", `${what} within ${ms} ms.${why}`));
    }, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
