export { MemoryJournal } from "../journal/memory-journal.ts";
export { ManualClock, quiet } from "./clock.ts";
export { FakeConnection, type ReceivedCommand, type Welcome } from "./connection.ts";
export { playTranscript } from "./player.ts";
export { FakeServer, type FakeServerOptions } from "./server.ts";
export { FakeSocket } from "./socket.ts";
export type { BodyOutcome, Transcript, TranscriptStep } from "./transcript.ts";
