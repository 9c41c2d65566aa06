/** Whether the user has just clicked or typed, as the browser sees it; true where it does not tell. */
export function hasGesture(): boolean {
  return globalThis.navigator?.userActivation?.isActive ?? true;
}

/** Whether a body of this page has used up the newest click. The browser may still take it for a fresh one. */
let isUsed = false;

/**
 * Takes the click that has just happened, if there is one. Of the bodies that use it up only the first gets it, after all
 * others.
 */
export async function takeGesture(usesUp: boolean): Promise<boolean> {
  if (!usesUp && hasGesture()) return true;
  // What else begins with this click, begins first; and who proceeds without one holds up nothing.
  await new Promise((resolve) => setTimeout(resolve));
  if (!usesUp || isUsed || !hasGesture()) return false;
  isUsed = true;
  for (const sign of ["click", "keydown"]) {
    globalThis.addEventListener?.(sign, () => (isUsed = false), { capture: true, once: true });
  }
  return true;
}
