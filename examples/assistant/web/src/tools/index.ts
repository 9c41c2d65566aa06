import { drawChart } from "./chart.ts";
import { copyText, pasteText } from "./clipboard.ts";
import { getLocation } from "./location.ts";
import { recall, remember } from "./memory.ts";

/** What this page can do for the agent; examples/assistant/agent.py declares the same. */
export const tools = [getLocation, copyText, pasteText, remember, recall, drawChart];
