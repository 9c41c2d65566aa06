import { CONSUMES_CLICK } from "./activation.ts";
import * as declarations from "./declarations.gen.ts";
import { asking, refused, unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

/**
 * `share`: the system's dialog, in which the user chooses an app or a person.
 *
 * Permission: none. Click: needed and used up. Not idempotent. A dialog that the user closes is `dismissed`.
 */
export const share = () =>
  declarations.share.implement(async ({ title, text, url }, { signal }) => {
    if (!navigator.share) throw unsupported("sharing");
    const data = { ...(title && { title }), ...(text && { text }), ...(url && { url }) };
    if (!navigator.canShare?.(data)) {
      throw refused(
        "invalid_args",
        "expected a title, a text or a valid URL, got nothing that can be shared",
      );
    }
    await until(
      signal,
      asking(() => navigator.share(data)),
    );
    return { shared: true };
  }, CONSUMES_CLICK);
