import { expect, test } from "vitest";
import { createClient, tool } from "../src/index.ts";
import { ManualClock, quiet } from "../src/testing/index.ts";
import { ModelServer } from "./model.ts";

/** Numbers that look random and are the same each time. */
function seeded(seed: number) {
  let state = seed + 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/**
 * Two pages, one server that is a model of what it should be, and a network that loses commands, replies and
 * connections. However it goes: a call is executed by one page, once, and its result is stored or its execution has
 * ended as interrupted; and both pages show the same in the end.
 */
test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  "nothing is lost or done twice (seed %i)",
  async (seed) => {
    const random = seeded(seed);
    const clock = new ManualClock();
    const server = new ModelServer(clock, 3);
    const executions: { id: string; page: string; isOver: boolean }[] = [];

    const openPage = (name: string) => {
      const work = tool({ name: "work", description: "" }).implement(
        (_args, { toolCallId, signal, progress }) => {
          const twin = executions.find(({ id, isOver }) => id === toolCallId && !isOver);
          if (twin !== undefined) throw new Error(`${toolCallId} runs in ${twin.page} already`);
          const execution = { id: toolCallId, page: name, isOver: false };
          executions.push(execution);
          signal.addEventListener("abort", () => {
            execution.isOver = true;
          });
          return new Promise((resolve) => {
            const finish = () => {
              execution.isOver = true;
              resolve(`${name} did ${toolCallId}`);
            };
            const step = () => {
              progress(clock.now());
              clock.at(clock.now() + random() * 20_000, finish);
            };
            if (random() < 0.2) finish();
            else clock.at(clock.now() + random() * 5_000, step);
          });
        },
      );
      const client = createClient({
        url: "ws://server",
        agent: "a",
        tools: [work],
        clientId: name,
        encoding: random() < 0.5 ? "json" : "msgpack",
        WebSocket: server.fake.WebSocket,
        clock,
        random,
      });
      return client.thread("t");
    };

    const pages = [openPage("one"), openPage("two")];
    await quiet();
    server.loses = () => random() < 0.1;
    for (let turn = 0; turn < 3; turn++) {
      pages[Math.floor(random() * 2)]?.submit(`turn ${turn}`);
      for (let step = 0; step < 15; step++) {
        await clock.advance(random() * 4_000);
        server.tick();
        const open = server.fake.connections.filter(({ isOpen }) => isOpen);
        if (random() < 0.15) open[Math.floor(random() * open.length)]?.drop();
        if (random() < 0.05) open[Math.floor(random() * open.length)]?.silence();
      }
    }
    server.loses = () => false;
    for (let step = 0; step < 40; step++) {
      await clock.advance(4_000);
      server.tick();
    }

    expect(server.isIdle).toBe(true);
    expect(server.calls.size).toBe(9);
    for (const [id, { result }] of server.calls) {
      const mine = executions.filter((execution) => execution.id === id);
      if (result?.status === "success") {
        expect(mine).toHaveLength(1);
        expect(result.value).toBe(`${mine[0]?.page} did ${id}`);
      } else {
        // Its page was away for longer than a lease.
        expect(result?.error.code).toBe("interrupted");
        expect(mine.length).toBeLessThanOrEqual(1);
      }
    }
    const [one, two] = pages.map((page) => page.getSnapshot());
    expect(one).toMatchObject({ connection: "open", status: "idle", error: null });
    expect(one?.toolCalls.map(({ state }) => state)).not.toContain("running");
    expect(two).toEqual(one);
    for (const page of pages) page.close();
  },
);
