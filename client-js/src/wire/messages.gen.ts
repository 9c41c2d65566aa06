// Generated from protocol/schema.json by `make generate`. Do not edit.

export type CallsData = CallOpened | CallOffered | CallClaimed | CallReleased | CallProgressed | CallEnded;
export type MessagesData =
  | MessageStart
  | ContentBlockStart
  | ContentBlockDelta
  | ContentBlockFinish
  | MessageFinish
  | MessageError
  | MessageRemoved;
export type ToolsData = ToolStarted | ToolOutputDelta | ToolFinished | ToolFailed;
export type TasksData = TaskStarted | TaskEnded;
export type ToolResult = Success | Failure;

export interface Protocol {
  commands: {
    "run.start": {
      params: RunStartParams;
      result: RunStartResult;
    };
    "run.cancel": {
      params: RunCancelParams;
      result: EmptyResult;
    };
    "input.respond": {
      params: InputRespondParams;
      result: EmptyResult;
    };
    "input.inject": {
      params: InputInjectParams;
      result: EmptyResult;
    };
    "subscription.subscribe": {
      params: SubscribeParams;
      result: SubscribeResult;
    };
    "subscription.unsubscribe": {
      params: UnsubscribeParams;
      result: EmptyResult;
    };
    "subscription.reconnect": {
      params: ReconnectParams;
      result: ReconnectResult;
    };
    "agent.getTree": {
      params: AgentGetTreeParams;
      result: AgentGetTreeResult;
    };
    "state.get": {
      params: StateGetParams;
      result: StateGetResult;
    };
    "state.listCheckpoints": {
      params: ListCheckpointsParams;
      result: ListCheckpointsResult;
    };
    "state.fork": {
      params: StateForkParams;
      result: StateForkResult;
    };
    "client.announce": {
      params: ClientAnnounceParams;
      result: ClientAnnounceResult;
    };
    "call.claim": {
      params: CallClaimParams;
      result: CallClaimResult;
    };
    "call.release": {
      params: CallReleaseParams;
      result: EmptyResult;
    };
    "call.progress": {
      params: CallProgressParams;
      result: CallProgressResult;
    };
    "call.settle": {
      params: CallSettleParams;
      result: CallSettleResult;
    };
    "connection.ping": {
      params: ConnectionPingParams;
      result: EmptyResult;
    };
  };
  events: {
    lifecycle: LifecycleData;
    "input.requested": InputRequestedData;
    calls: CallsData;
    messages: MessagesData;
    tools: ToolsData;
    values: {};
    updates: UpdatesData;
    checkpoints: CheckpointsData;
    tasks: TasksData;
    custom: CustomData;
  };
}
/**
 * Start a run. Ours: ``run_id``, chosen by the client, makes a repeated command harmless.
 *
 * ``multitask_strategy`` (also ``multitaskStrategy``) and ``fork_from`` (also ``forkFrom``) are what LangGraph's
 * clients send beside the published parameters. ``fork_from`` is the id of the checkpoint at which the run begins; the
 * clients put it into ``config.configurable.checkpoint_id``, which means the same.
 */
export interface RunStartParams {
  assistant_id: string;
  input?: unknown;
  config?: {
    [k: string]: unknown;
  };
  metadata?: {
    [k: string]: unknown;
  };
  run_id?: string;
  multitask_strategy?: "reject" | "interrupt" | "rollback" | "enqueue";
  fork_from?: string;
}
export interface RunStartResult {
  run_id: string;
}
/**
 * Ours. Stop the active run, or the named one.
 */
export interface RunCancelParams {
  run_id?: string;
}
/**
 * The result of a command that only succeeds.
 */
export interface EmptyResult {}
/**
 * Answer interrupts: either many (``responses``), each once, or one (``interrupt_id`` and ``response``).
 *
 * ``update`` and ``goto`` are carried out in the step that resumes the run (LangGraph's ``Command``); ``config`` and
 * ``metadata`` replace entries of the run's own from then on.
 */
export interface InputRespondParams {
  /**
   * @maxItems 1024
   */
  responses?: Response[];
  interrupt_id?: string;
  response?: unknown;
  namespace?: string[];
  update?: {
    [k: string]: unknown;
  };
  goto?: string | RunSend | [string | RunSend, ...(string | RunSend)[]];
  config?: {
    [k: string]: unknown;
  };
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * An answer to one interrupt.
 */
export interface Response {
  interrupt_id: string;
  response: unknown;
  namespace?: string[];
}
/**
 * A node of the agent's graph and what it is given (LangGraph's ``Send``).
 */
export interface RunSend {
  node: string;
  input?: unknown;
}
/**
 * Put a message into a run that is under way; refused with ``not_supported``.
 */
export interface InputInjectParams {
  namespace?: string[];
  message: InputMessage;
}
/**
 * What a user or the system says unasked.
 */
export interface InputMessage {
  role: "user" | "system";
  content: string;
  name?: string;
}
/**
 * Receive events of these channels. Ours: ``since``, replay only what came after this seq.
 */
export interface SubscribeParams {
  /**
   * @minItems 1
   * @maxItems 64
   */
  channels: [string, ...string[]];
  /**
   * @maxItems 256
   */
  namespaces?: string[][];
  depth?: number;
  since?: number;
}
/**
 * ``calls`` and ``interrupts`` (ours) are what is open now: state, not events.
 */
export interface SubscribeResult {
  subscription_id: string;
  replayed_events: number;
  calls?: Call[];
  interrupts?: Interrupt[];
}
/**
 * An unsettled tool call as the subscribe reply and the event ``opened`` carry it.
 *
 * ``interrupt_id`` names the call in every command; ``tool_call_id`` is the model's id, which may repeat.
 * ``client_id``: whom it is offered to, or who claimed it. ``deadline`` is in milliseconds of the server's clock since
 * the epoch.
 */
export interface Call {
  interrupt_id: string;
  tool_call_id: string;
  run_id: string;
  name: string;
  args: {
    [k: string]: unknown;
  };
  state: "open" | "offered" | "claimed";
  client_id?: string;
  deadline?: number;
  title?: string;
}
/**
 * A pause that is no tool call: the payload is the agent's own.
 */
export interface Interrupt {
  interrupt_id: string;
  payload: unknown;
}
/**
 * End a subscription.
 */
export interface UnsubscribeParams {
  subscription_id: string;
}
/**
 * What a client that was away asks for before it subscribes anew. ``last_event_id``: the last event it has.
 */
export interface ReconnectParams {
  run_id: string;
  last_event_id?: string;
  /**
   * @maxItems 1024
   */
  subscriptions?: string[];
}
/**
 * ``restored`` is always false: subscribe anew, with ``since``. ``missed_events``: how many came after
 * ``last_event_id``, where that was one of the thread's.
 */
export interface ReconnectResult {
  restored: boolean;
  missed_events?: number;
  current_namespaces: AgentStatusEntry[];
}
/**
 * A graph within the agent, by where it is, and how it stands.
 */
export interface AgentStatusEntry {
  namespace: string[];
  status: "started" | "running" | "completed" | "failed" | "interrupted";
}
/**
 * Read which graphs a run, by default the newest, has entered.
 */
export interface AgentGetTreeParams {
  run_id?: string;
}
export interface AgentGetTreeResult {
  tree: AgentTreeNode;
}
/**
 * A graph that a run has entered, and the graphs within it.
 */
export interface AgentTreeNode {
  namespace: string[];
  status: "started" | "running" | "completed" | "failed" | "interrupted";
  graph_name: string;
  children?: AgentTreeNode[];
}
/**
 * Read the thread's state, whole or some keys.
 */
export interface StateGetParams {
  namespace?: string[];
  /**
   * @maxItems 1024
   */
  keys?: string[];
}
/**
 * ``calls``, ``run``, ``queued`` are ours: every call of the thread, settled ones with their result; the run; and
 * the runs that wait for it, in order.
 */
export interface StateGetResult {
  values: {
    [k: string]: unknown;
  };
  checkpoint?: CheckpointRef;
  run?: RunState;
  calls?: (Call | SettledCall)[];
  queued?: QueuedRun[];
}
/**
 * ``ns``: the namespace, its segments joined by ``|``; absent for the root's.
 */
export interface CheckpointRef {
  id: string;
  ns?: string;
}
/**
 * The run that is under way, else the newest that ended. ``running`` includes waiting for a tool.
 */
export interface RunState {
  run_id: string;
  assistant_id: string;
  status: "running" | "completed" | "failed" | "cancelled";
  error?: ErrorBody;
}
/**
 * Why a tool call has no value. ``code`` is one of the family "tool" in errors.json.
 */
export interface ErrorBody {
  code: string;
  message: string;
  details?: {
    [k: string]: unknown;
  };
}
/**
 * A call with its answer, as ``state.get`` lists those whose result the messages do not hold.
 */
export interface SettledCall {
  interrupt_id: string;
  tool_call_id: string;
  run_id: string;
  name: string;
  args: {
    [k: string]: unknown;
  };
  result: Success | Failure;
}
/**
 * A tool result with a value.
 */
export interface Success {
  status: "success";
  value: unknown;
}
/**
 * A tool result without a value.
 */
export interface Failure {
  status: "error";
  error: ErrorBody;
}
/**
 * A run that starts when those before it have ended.
 */
export interface QueuedRun {
  run_id: string;
  assistant_id: string;
  input: unknown;
}
/**
 * List checkpoints, the newest first. ``before``: only those older than this one.
 */
export interface ListCheckpointsParams {
  namespace?: string[];
  limit?: number;
  before?: string;
}
export interface ListCheckpointsResult {
  checkpoints: CheckpointSummary[];
}
/**
 * A checkpoint. ``timestamp`` is ISO 8601; ``step`` counts the supersteps, -1 for a thread's first input.
 */
export interface CheckpointSummary {
  id: string;
  timestamp: string;
  step: number;
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * Start a run at a checkpoint: with ``input``, or, without, with what was to happen there.
 */
export interface StateForkParams {
  checkpoint_id: string;
  input?: unknown;
  config?: {
    [k: string]: unknown;
  };
}
export interface StateForkResult {
  run_id: string;
  thread_id: string;
}
/**
 * Ours. Who this page is and what it can do; sent first, and again whenever it changes. ``replaces``: the ids of
 * pages that are gone, for whose calls this one answers.
 */
export interface ClientAnnounceParams {
  client_id: string;
  /**
   * @maxItems 1024
   */
  replaces?: string[];
  /**
   * @maxItems 1024
   */
  tools: ToolDeclaration[];
  visible?: boolean;
  focused?: boolean;
  permissions?: {
    [k: string]: "granted" | "denied" | "prompt";
  };
}
/**
 * A tool that a page implements. ``fingerprint`` is that of the schema it was built against; ``permissions`` names
 * those of the browser that it cannot do without.
 */
export interface ToolDeclaration {
  name: string;
  fingerprint?: string;
  /**
   * @maxItems 16
   */
  permissions?:
    | []
    | [string]
    | [string, string]
    | [string, string, string]
    | [string, string, string, string]
    | [string, string, string, string, string]
    | [string, string, string, string, string, string]
    | [string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string, string]
    | [string, string, string, string, string, string, string, string, string, string, string, string, string]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
      ]
    | [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
        string,
      ];
}
/**
 * ``ping_ms``: how often to ping; ``lease_ms``: how long a claim lasts; ``limits``: how large a frame may be;
 * ``mismatches``: the announced tools whose schemas are not the server's, those that this connection has not been told
 * of before.
 */
export interface ClientAnnounceResult {
  ping_ms: number;
  lease_ms: number;
  limits: AnnounceLimits;
  mismatches?: ToolMismatch[];
}
export interface AnnounceLimits {
  frame_bytes: number;
  depth: number;
  items: number;
}
/**
 * A tool that was announced with the ``fingerprint`` of other schemas than the server's, which has ``expected``.
 */
export interface ToolMismatch {
  name: string;
  fingerprint: string;
  expected: string;
}
/**
 * Ours. Take a call for execution, or renew a claim. ``claim_id`` is made by the client, so that no reply can be
 * lost with it: a new one for each claim, that nobody can guess.
 */
export interface CallClaimParams {
  interrupt_id: string;
  claim_id: string;
}
/**
 * The call is yours for ``lease_ms``; renew it before then by claiming again.
 */
export interface CallClaimResult {
  interrupt_id: string;
  tool_call_id: string;
  name: string;
  args: {
    [k: string]: unknown;
  };
  lease_ms: number;
  deadline?: number;
}
/**
 * Ours. Decline an offer, or give up a claim. ``started``: it may have been executed, the outcome is unknown.
 */
export interface CallReleaseParams {
  interrupt_id: string;
  claim_id?: string;
  started?: boolean;
  reason?: string;
}
/**
 * Ours. Show progress to subscribers; renews the claim.
 */
export interface CallProgressParams {
  interrupt_id: string;
  claim_id: string;
  value: unknown;
}
export interface CallProgressResult {
  lease_ms: number;
}
/**
 * Ours. Answer a call; acknowledged only when stored. ``claim_id`` proves a claim, also one that another client id
 * made: a page that was reopened after a crash sends what the one before it has computed.
 */
export interface CallSettleParams {
  interrupt_id: string;
  claim_id: string;
  result: Success | Failure;
}
/**
 * What was stored: an answer that does not fit the result schema is stored as ``invalid_result``.
 */
export interface CallSettleResult {
  result: Success | Failure;
}
/**
 * Ours. Is anybody there?
 */
export interface ConnectionPingParams {}
/**
 * ``started`` is for graphs within the graph, with ``cause`` where it is known.
 *
 * Ours: ``queued`` (never on a plain connection); ``run_id``; ``input`` (with root ``running`` and ``queued``: what
 * the user sent); ``code`` (with ``failed``); ``replaced_by`` (with ``interrupted``: the run of the message that came
 * in its place; a plain connection hears nothing of this end).
 */
export interface LifecycleData {
  event: "queued" | "started" | "running" | "completed" | "failed" | "interrupted";
  graph_name?: string;
  cause?: CauseToolCall;
  run_id?: string;
  input?: unknown;
  error?: string;
  code?: string;
  replaced_by?: string;
}
/**
 * A tool call of the parent: its body called the graph.
 */
export interface CauseToolCall {
  type: "toolCall";
  tool_call_id: string;
}
export interface InputRequestedData {
  interrupt_id: string;
  payload: unknown;
}
export interface CallOpened {
  interrupt_id: string;
  tool_call_id: string;
  run_id: string;
  name: string;
  args: {
    [k: string]: unknown;
  };
  state: "open" | "offered" | "claimed";
  client_id?: string;
  deadline?: number;
  title?: string;
  event: "opened";
}
/**
 * The client may claim the call now; nobody else may until it is offered to another or released.
 */
export interface CallOffered {
  event: "offered";
  interrupt_id: string;
  client_id: string;
}
export interface CallClaimed {
  event: "claimed";
  interrupt_id: string;
  client_id: string;
}
export interface CallReleased {
  event: "released";
  interrupt_id: string;
  reason?: string;
}
export interface CallProgressed {
  event: "progress";
  interrupt_id: string;
  value: unknown;
}
/**
 * ``settled`` by an answer, ``cancelled`` by stop or a new message, ``expired`` by its deadline.
 */
export interface CallEnded {
  event: "settled" | "cancelled" | "expired";
  interrupt_id: string;
  tool_call_id: string;
  name: string;
  result: Success | Failure;
}
/**
 * Ours, in all message events: ``message_id``, so that two messages may stream at once.
 */
export interface MessageStart {
  event: "message-start";
  role: "ai" | "human" | "system" | "tool";
  id: string;
  message_id?: string;
  metadata?: {
    [k: string]: unknown;
  };
}
export interface ContentBlockStart {
  event: "content-block-start";
  index: number;
  content: {
    [k: string]: unknown;
  };
  message_id?: string;
}
export interface ContentBlockDelta {
  event: "content-block-delta";
  index: number;
  delta: TextDelta | ReasoningDelta | DataDelta | BlockDelta | ToolCallDelta;
  message_id?: string;
}
export interface TextDelta {
  type: "text-delta";
  text: string;
}
export interface ReasoningDelta {
  type: "reasoning-delta";
  reasoning: string;
}
export interface DataDelta {
  type: "data-delta";
  data: string;
  encoding?: "base64";
}
export interface BlockDelta {
  type: "block-delta";
  fields: {
    [k: string]: unknown;
  };
}
export interface ToolCallDelta {
  type: "tool-call-delta";
  args: string;
}
export interface ContentBlockFinish {
  event: "content-block-finish";
  index: number;
  content: {
    [k: string]: unknown;
  };
  message_id?: string;
}
/**
 * ``usage``: the tokens of this message. ``metadata``: what the provider said of its answer.
 */
export interface MessageFinish {
  event: "message-finish";
  message_id?: string;
  usage?: {
    [k: string]: unknown;
  };
  metadata?: {
    [k: string]: unknown;
  };
}
export interface MessageError {
  event: "error";
  message: string;
  code?: string;
  message_id?: string;
}
/**
 * Ours. A run began at a checkpoint that lacks the message.
 */
export interface MessageRemoved {
  event: "message-removed";
  message_id: string;
}
export interface ToolStarted {
  event: "tool-started";
  tool_call_id: string;
  tool_name: string;
  input?: unknown;
}
export interface ToolOutputDelta {
  event: "tool-output-delta";
  tool_call_id: string;
  delta: string;
}
/**
 * Ours: ``interrupt_id``, where the tool was a headless one of a plain function agent.
 */
export interface ToolFinished {
  event: "tool-finished";
  tool_call_id: string;
  output: unknown;
  interrupt_id?: string;
}
export interface ToolFailed {
  event: "tool-error";
  tool_call_id: string;
  message: string;
  code?: string;
}
/**
 * What a node of the graph has written to its state.
 */
export interface UpdatesData {
  node?: string;
  values: {
    [k: string]: unknown;
  };
}
/**
 * A checkpoint that the graph has stored, without the state in it. ``step`` -1: before the first step.
 */
export interface CheckpointsData {
  id: string;
  parent_id?: string;
  step: number;
  source: "input" | "loop" | "update" | "fork";
}
/**
 * A node of the graph begins. ``metadata``: ``lc_agent_name``, where the graph is an agent with a name.
 */
export interface TaskStarted {
  id: string;
  name: string;
  input: unknown;
  triggers: string[];
  metadata?: {
    [k: string]: unknown;
  };
}
/**
 * A node has ended, or paused: then ``interrupts`` holds what for. ``error`` says only that it failed.
 */
export interface TaskEnded {
  id: string;
  name: string;
  error: string | null;
  result: unknown;
  interrupts: unknown[];
}
/**
 * ``name``: of the channel ``custom:<name>``, which carries the event too.
 */
export interface CustomData {
  payload: unknown;
  name?: string;
}
/**
 * Client to server.
 */
export interface Command {
  id: number;
  method: string;
  params?: {
    [k: string]: unknown;
  };
}
/**
 * ``id`` is null when the command's id could not be read. ``retryable`` and ``details`` are ours.
 */
export interface ErrorReply {
  type: "error";
  id: number | null;
  error: string;
  message: string;
  retryable?: boolean;
  details?: {
    [k: string]: unknown;
  };
  meta?: ReplyMeta;
}
/**
 * ``applied_through_seq``: the thread's newest seq when the command was carried out.
 */
export interface ReplyMeta {
  applied_through_seq: number;
}
/**
 * Server to client. ``event_id`` is the same in every replay; ``seq`` grows along the thread.
 */
export interface Event {
  type: "event";
  event_id: string;
  seq: number;
  method: string;
  params: EventParams;
}
/**
 * ``namespace``: the graph's path, empty at the root. ``timestamp``: milliseconds since the epoch.
 */
export interface EventParams {
  namespace: string[];
  timestamp: number;
  data: unknown;
}
/**
 * Ours, server to client: answer it with ``connection.ping``. ``sent`` counts the messages that this connection was
 * sent before it: a client that received another number of them reconnects.
 */
export interface Ping {
  type: "ping";
  sent: number;
}
export interface SuccessReply {
  type: "success";
  id: number;
  result: {
    [k: string]: unknown;
  };
  meta?: ReplyMeta;
}
