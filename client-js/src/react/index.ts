"use client";

export {
  FarsideProvider,
  type FarsideProviderProps,
  type StreamOptions,
  type ThreadOptions,
  useStream,
  useThread,
  useTool,
} from "./hooks.ts";
export type { Callbacks } from "./page-client.ts";
export type { Stream } from "./stream.ts";
