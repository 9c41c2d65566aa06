const SIGNS = ["click", "pointerup", "keydown", "touchend"] as const;

/** Whether the user has just clicked or typed, as the browser sees it; true where it does not tell. */
export function hasGesture(): boolean {
  return globalThis.navigator?.userActivation?.isActive ?? true;
}

/** Waits for the next click or key; rejects with the signal's reason. */
export function nextGesture(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    const options = { capture: true, signal: stop.signal };
    const end = (settle: () => void) => {
      stop.abort();
      settle();
    };
    const look = () => {
      if (hasGesture()) end(resolve);
    };
    const giveUp = () => end(() => reject(signal.reason));
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, options);
    for (const sign of SIGNS) globalThis.addEventListener(sign, look, options);
  });
}
