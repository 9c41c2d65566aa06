import type { Command, ErrorReply, Event, Ping, Protocol, SuccessReply } from "./messages.gen.ts";
import { isObject } from "./values.ts";

export type * from "./messages.gen.ts";

/** The name of a command. */
export type Method = keyof Protocol["commands"];

/** The parameters of a command. */
export type Params<M extends Method> = Protocol["commands"][M]["params"];

/** The result of a command. */
export type Result<M extends Method> = Protocol["commands"][M]["result"];

/** Server to client. */
export type ServerMessage = SuccessReply | ErrorReply | Event | Ping;

/** A command before it is sent: without its id. */
export type Request = Omit<Command, "id">;

/** Whether a decoded frame is a message of the server, as far as its envelope tells. */
export function isServerMessage(message: unknown): message is ServerMessage {
  if (!isObject(message)) return false;
  switch (message["type"]) {
    case "success":
      return typeof message["id"] === "number" && isObject(message["result"]);
    case "error":
      return typeof message["error"] === "string";
    case "event": {
      const params = message["params"];
      return (
        typeof message["event_id"] === "string" &&
        typeof message["seq"] === "number" &&
        isObject(params) &&
        Array.isArray(params["namespace"]) &&
        isObject(params["data"])
      );
    }
    case "ping":
      return typeof message["sent"] === "number";
    default:
      return false;
  }
}
