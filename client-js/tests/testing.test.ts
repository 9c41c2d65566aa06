import { describe, expect, test } from "vitest";
import { createClient } from "../src/index.ts";
import { FakeServer, ManualClock, playTranscript, quiet, type Transcript } from "../src/testing/index.ts";
import { WELCOME } from "./messages.ts";

describe("ManualClock", () => {
  test("runs what is due, in order, each at its own time", async () => {
    const clock = new ManualClock(100);
    const ran: string[] = [];
    const note = (name: string) => () => ran.push(`${name} at ${clock.now()}`);
    clock.at(130, note("late"));
    clock.at(110, async () => {
      note("early")();
      await Promise.resolve();
      clock.at(120, note("follow-up"));
    });
    clock.at(90, note("overdue"));
    clock.at(140, note("later"));
    clock.at(115, note("cancelled"))();
    expect(clock.next).toBe(90);
    await clock.advance(30);
    expect(ran).toEqual(["overdue at 100", "early at 110", "follow-up at 120", "late at 130"]);
    expect([clock.now(), clock.next]).toEqual([130, 140]);
  });

  test("begins where the transcripts begin", () => {
    expect(new ManualClock().now()).toBe(1_700_000_000_000);
    expect(new ManualClock().next).toBeUndefined();
  });
});

test("quiet waits for all promises that can settle", async () => {
  let settled = 0;
  const chain = async () => {
    for (; settled < 1_000; settled++) await Promise.resolve();
  };
  void chain();
  await quiet();
  expect(settled).toBe(1_000);
});

describe("FakeServer", () => {
  test("pings, and waits for what takes longer than promises", async () => {
    const server = new FakeServer();
    connect(server);
    const connection = await server.connection();
    await connection.welcome();
    const next = connection.next("connection.ping");
    connection.ping();
    expect((await next).method).toBe("connection.ping");
  });

  const connect = (server: FakeServer) =>
    createClient({
      url: "ws://server",
      agent: "a",
      WebSocket: server.WebSocket,
      clock: new ManualClock(),
    }).thread("t");

  test("takes connections, or lets them wait", async () => {
    const server = new FakeServer({ accepts: false });
    connect(server);
    await quiet();
    expect(server.knocking).toEqual(["ws://server/threads/t/stream/events"]);
    const waiting = server.connection();
    const connection = server.accept();
    expect(await waiting).toBe(connection);
    expect(() => server.accept()).toThrow("there is none");
    server.accepts = true;
    connect(server);
    expect(await server.connection()).toBe(server.connections[1]);
  });

  test("forgets a page that has given up", async () => {
    const server = new FakeServer({ accepts: false });
    const thread = connect(server);
    await quiet();
    thread.close();
    expect(server.knocking).toEqual([]);
  });

  test("says what it expected and what came", async () => {
    const server = new FakeServer();
    connect(server);
    const connection = await server.connection();
    await expect(connection.take("run.start")).rejects.toThrow("to send run.start; it sent client.announce");
    await connection.take();
    await connection.take();
    await expect(connection.take()).rejects.toThrow("it sent nothing");
  });
});

describe("playTranscript", () => {
  const announce = {
    client_id: "me",
    tools: [{ name: "add" }],
    visible: true,
    focused: false,
    permissions: {},
  };
  const channels = ["lifecycle", "messages", "tools", "calls", "input", "custom"];
  const event = (seq: number, method: string, data: object) => ({
    server: {
      type: "event",
      event_id: `e${seq}`,
      seq,
      method,
      params: { namespace: [], timestamp: 0, data },
    },
  });
  const call = { interrupt_id: "i", tool_call_id: "c", name: "add", args: { bytes: { $bytes: "AQI" } } };
  const hello = [
    { do: "connect" },
    { client: { id: 1, method: "client.announce", params: announce } },
    { server: { type: "success", id: 1, result: WELCOME } },
    { client: { id: 2, method: "state.get", params: { namespace: [] } } },
    { server: { type: "error", id: 2, error: "not_found", message: "new" } },
    { client: { id: 3, method: "subscription.subscribe", params: { channels, since: 0 } } },
    { server: { type: "success", id: 3, result: { subscription_id: "s", replayed_events: 0, calls: [] } } },
  ];
  const called = [
    event(1, "calls", { event: "opened", ...call, run_id: "r", state: "offered", client_id: "me" }),
    { client: { id: 4, method: "call.claim", params: { interrupt_id: "i", claim_id: "claim-1" } } },
    { server: { type: "success", id: 4, result: { ...call, lease_ms: 30_000 } } },
  ];
  const body = { name: "add", args: { bytes: { $bytes: "AQI" } } };
  const settled = (id: number, result: object) => ({
    client: { id, method: "call.settle", params: { interrupt_id: "i", claim_id: "claim-1", result } },
  });
  const play = (steps: object[], more: object = {}) =>
    playTranscript(
      { name: "test", thread: "t", tools: [{ name: "add" }], steps, ...more } as Transcript,
      "msgpack",
    );

  test("plays calls that return and throw, bytes and all", async () => {
    const value = { sum: { $bytes: "Aw" } };
    await play([
      ...hello,
      ...called,
      { tool: { ...body, returns: value } },
      settled(5, { status: "success", value }),
    ]);
    const error = { code: "dismissed", message: "no" };
    await play([
      ...hello,
      ...called,
      { tool: { ...body, throws: error } },
      settled(5, { status: "error", error }),
    ]);
    const failed = { code: "failed", message: "oops" };
    await play([
      ...hello,
      ...called,
      { tool: { ...body, throws: { message: "oops" } } },
      settled(5, { status: "error", error: failed }),
      { snapshot: { toolCalls: [{ name: "add", state: "running" }] } },
    ]);
  });

  test("plays submits, stops, lost connections and time", async () => {
    const input = { messages: [{ type: "human", content: "hi", id: "m" }] };
    const start = (id: number) => ({
      client: { id, method: "run.start", params: { assistant_id: "a", input, run_id: "r" } },
    });
    await play([
      ...hello,
      { do: "submit", text: "hi", message_id: "m", run_id: "r" },
      start(4),
      { do: "drop" },
      { do: "connect" },
      { client: { id: 1, method: "client.announce", params: announce } },
      { server: { type: "success", id: 1, result: WELCOME } },
      { client: { id: 2, method: "subscription.subscribe", params: { channels, since: 0 } } },
      start(3),
      { do: "stop" },
      { client: { id: 4, method: "run.cancel", params: { run_id: "r" } } },
      { do: "advance", ms: 30_000 },
      { client: { id: 5, method: "connection.ping", params: {} } },
      { snapshot: { status: "running", messages: [{ id: "m" }] } },
    ]);
  });

  test("plays bodies that go on, end later, and are aborted", async () => {
    const pending = [...hello, ...called, { tool: { ...body, pending: true } }];
    await play([
      ...pending,
      { tool_ends: { name: "add", returns: 1 } },
      settled(5, { status: "success", value: 1 }),
    ]);
    const result = { status: "error", error: { code: "cancelled", message: "stop" } };
    await play([
      ...pending,
      event(2, "calls", { event: "cancelled", ...call, result }),
      { aborted: { name: "add" } },
    ]);
    await expect(play([...pending, { aborted: { name: "add" } }])).rejects.toThrow(
      "whether the signal of add has fired",
    );
  });

  test("plays two pages", async () => {
    const other = hello.map((step) => ({
      ...JSON.parse(JSON.stringify(step).replace('"me"', '"other"')),
      page: "other",
    }));
    await play([
      ...hello,
      ...other,
      event(1, "lifecycle", { event: "running" }),
      { snapshot: { status: "running" } },
      { page: "other", snapshot: { status: "idle" } },
    ]);
  });

  test("lets a page lack tools", async () => {
    const without = hello.map((step) => JSON.parse(JSON.stringify(step).replace('[{"name":"add"}]', "[]")));
    const decline = { interrupt_id: "i", reason: "not_implemented" };
    await play([
      ...without,
      called[0] as object,
      { client: { id: 4, method: "call.release", params: decline } },
    ]);
  });

  test("plays pings", async () => {
    const answer = (id: number) => ({ client: { id, method: "connection.ping", params: {} } });
    await play([
      ...hello,
      { server: { type: "ping", sent: 3 } },
      answer(4),
      { server: { type: "success", id: 4, result: {} } },
      { server: { type: "ping", sent: 5 } },
      answer(5),
    ]);
  });

  test("lets tools need permissions", async () => {
    const tools = [{ name: "add", permissions: ["geolocation"] }];
    await play([
      hello[0] as object,
      { client: { id: 1, method: "client.announce", params: { ...announce, tools } } },
      hello[3] as object,
    ]);
  });

  test.each<[string, object[], string]>([
    [
      "another message",
      [...hello, { client: { id: 4, method: "run.cancel", params: {} } }],
      "step 7: expected the page to send a command",
    ],
    [
      "another parameter",
      [
        { do: "connect" },
        { client: { id: 1, method: "client.announce", params: { ...announce, focused: true } } },
      ],
      "differs at $.params.focused",
    ],
    ["too few messages", hello.slice(0, 3), "what the page sent besides"],
    [
      "messages before a drop",
      [...hello.slice(0, 3), { do: "drop" }],
      "what the page sent besides before the drop",
    ],
    ["a body that was not called", [...hello, { tool: body }], "expected the body of add to be called"],
    ["a body that was called besides", [...hello, ...called], "what the page executed besides"],
    [
      "other arguments",
      [...hello, ...called, { tool: { ...body, args: { bytes: { $bytes: "AQM" } } } }],
      "the arguments of add differs at $.bytes",
    ],
    ["another snapshot", [...hello, { snapshot: { status: "failed" } }], "the snapshot differs at $.status"],
    [
      "other numbers of things",
      [...hello, { snapshot: { messages: [{}] } }],
      "the snapshot differs at $.messages",
    ],
    ["no connection", [hello[1] as object], 'expected a step {"do": "connect"} before'],
    ["a step that nobody knows", [{ sing: "a song" }], "expected a step that vectors/README.md knows"],
  ])("complains about %s", async (_what, steps, complaint) => {
    await expect(play(steps)).rejects.toThrow(complaint);
  });
});
