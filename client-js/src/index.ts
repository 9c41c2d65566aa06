export { type Client, createClient, type ThreadOptions } from "./client/client.ts";
export type { SubmitInput } from "./client/input.ts";
export type { ClientOptions, IdKind } from "./client/options.ts";
export type { Thread } from "./client/thread.ts";
export type { AgentEvent, ToolEvent, ToolStep, ToolWaiting } from "./core/effects.ts";
export type { Note } from "./core/note.ts";
export type {
  ConnectionState,
  ContentBlock,
  Interrupt,
  Message,
  QueuedRun,
  Snapshot,
  ThreadStatus,
  ToolCall,
  ToolCallState,
} from "./core/snapshot.ts";
export { FarsideError, type FarsideErrorOptions, TOOL_ERROR_CODES, type ToolErrorCode } from "./errors.ts";
export type { Journal } from "./journal/journal.ts";
export type { ImplementOptions } from "./tool/admission.ts";
export { hasConsent, revokeConsent } from "./tool/consent.ts";
export { declare, type PythonDeclaration } from "./tool/declare.ts";
export { type JsonSchema, jsonSchema } from "./tool/json-schema.ts";
export {
  type DeclaredTool,
  type NoArgs,
  type Tool,
  type ToolBody,
  type ToolContext,
  type ToolDeclaration,
  type ToolImplementation,
  tool,
} from "./tool/tool.ts";
export { withOptions } from "./tool/with-options.ts";
export type { Clock } from "./transport/clock.ts";
export type { Socket, SocketConstructor } from "./transport/socket.ts";
export type { Encoding } from "./transport/transport.ts";
