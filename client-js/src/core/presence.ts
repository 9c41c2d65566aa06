import type { ClientAnnounceParams, ToolDeclaration } from "../wire/messages.ts";

/** What this page is and can do, as it is announced. */
export interface Presence {
  readonly tools: ToolDeclaration[];
  readonly visible: boolean;
  readonly focused: boolean;
  readonly permissions: Required<ClientAnnounceParams>["permissions"];
}
