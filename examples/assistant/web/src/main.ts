import {
  createClient,
  type Snapshot,
  type Thread,
  type ToolCall,
  type ToolEvent,
  type ToolWaiting,
} from "farside";
import { Composer } from "./composer.ts";
import { ConversationView } from "./conversation-view.ts";
import { byId } from "./dom.ts";
import { icon } from "./icons.ts";
import { Scrolling } from "./scrolling.ts";
import { Suggestions } from "./suggestions.ts";
import { tools } from "./tools/index.ts";

const PARAMETER = "thread";

const client = createClient({ url: "/farside", agent: "assistant", tools, onTool });

const view = new ConversationView(submit);
const composer = new Composer({ submit, stop: () => void thread.stop() });
const suggestions = new Suggestions((sentence) => {
  submit(sentence);
  focusComposer();
});
const scrolling = new Scrolling();
const connection = byId("connection", HTMLParagraphElement);
const connectionLabel = byId("connection-label", HTMLSpanElement);
const newButton = byId("new", HTMLButtonElement);

/** What tools ask the user before they begin, by the model's id of the call. */
const waiting = new Map<string, ToolWaiting>();
let wasOpen = false;
let thread = open();

newButton.prepend(icon("plus"));
newButton.addEventListener("click", () => {
  if (thread.getSnapshot().messages.length > 0) {
    history.pushState(null, "", location.pathname);
    reopen();
  }
  focusComposer();
});
addEventListener("popstate", reopen);
suggestions
  .load()
  .catch((error: unknown) => console.error(error))
  .finally(render);
focusComposer();

/** Opens the conversation that the address names, or a new one, which it names then. */
function open(): Thread {
  const address = new URL(location.href);
  const asked = address.searchParams.get(PARAMETER) ?? undefined;
  let opened: Thread;
  try {
    opened = client.thread(asked);
  } catch {
    opened = client.thread();
  }
  if (opened.threadId !== asked) {
    address.searchParams.set(PARAMETER, opened.threadId);
    history.replaceState(null, "", address);
  }
  opened.subscribe(render);
  return opened;
}

function reopen(): void {
  thread.close();
  waiting.clear();
  view.clear();
  thread = open();
  render();
}

/** Where there is a keyboard; a touch screen would bring one up over the conversation. */
function focusComposer(): void {
  if (matchMedia("(pointer: fine)").matches) composer.focus();
}

function submit(text: string): void {
  // Why it was refused is in the snapshot.
  thread.submit(text).catch(() => composer.giveBack(text));
  scrolling.toEnd();
}

function onTool(event: ToolEvent): void {
  if (event.phase === "waiting") waiting.set(event.toolCallId, event);
  else waiting.delete(event.toolCallId);
  render();
}

function render(): void {
  const snapshot = thread.getSnapshot();
  const { status, messages, toolCalls } = snapshot;
  const isRunning = status === "running";
  // A new message calls off what waits for the page; at any other time of a run the server would refuse it.
  const canSend = !isRunning || toolCalls.some(isOpen);
  view.update(snapshot, ({ id, state }) => (state === "answered" ? undefined : waiting.get(id)));
  composer.update(isRunning, canSend);
  if (status !== "loading") suggestions.update(messages.length > 0, canSend);
  scrolling.update(messages.length > 0);
  showConnection(snapshot);
}

function isOpen({ state, interruptId }: ToolCall): boolean {
  return interruptId !== undefined && (state === "waiting" || state === "running");
}

function showConnection({ connection: state }: Snapshot): void {
  if (state === "open") wasOpen = true;
  connection.dataset["state"] = state;
  const lost = wasOpen ? "Reconnecting" : "Connecting";
  connectionLabel.textContent = { open: "Connected", connecting: lost, closed: "Closed" }[state];
}
