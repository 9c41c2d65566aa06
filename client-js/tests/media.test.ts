import { describe, expect, test } from "vitest";
import { type ToolContext, tool } from "../src/index.ts";
import { resultOfBody } from "../src/tool/body.ts";
import { adopt } from "../src/tool/tool.ts";

const context: ToolContext = {
  signal: new AbortController().signal,
  progress: () => {},
  toolCallId: "c1",
  threadId: "t",
};

/** The result of a body that returns this. */
function returning(value: unknown) {
  const body = tool({ name: "give", description: "" }).implement(() => value);
  return resultOfBody(adopt(body), {}, context, () => {});
}

const data = Uint8Array.of(1, 2, 3);
const blob = new Blob([data], { type: "image/png" });
const carried = { mime_type: "image/png", data };

/** As an OffscreenCanvas and as an HTMLCanvasElement turn themselves into a blob. */
const offscreen = { convertToBlob: async () => blob };
const onPage = { toBlob: (done: (blob: Blob | null) => void) => done(blob) };

test.each([
  ["a blob", blob, carried],
  [
    "a file",
    new File([data], "a.png", { type: "image/png" }),
    { mime_type: "image/png", name: "a.png", data },
  ],
  ["a blob of no type", new Blob([data]), { mime_type: "", data }],
  ["a canvas off the page", offscreen, carried],
  ["a canvas on the page", onPage, carried],
  ["bytes", data, data],
  ["an ArrayBuffer", data.buffer, data],
  ["a part of a buffer", new Uint8Array([0, 1, 2, 3, 4]).subarray(1, 4), data],
  ["a typed array", new Uint16Array([0x0201]), Uint8Array.of(1, 2)],
  ["a view", new DataView(data.buffer, 1, 2), Uint8Array.of(2, 3)],
  ["several, deep", { shots: [blob, { again: blob }], n: 1 }, { shots: [carried, { again: carried }], n: 1 }],
])("%s is carried as bytes", async (_name, value, expected) => {
  expect(await returning(value)).toEqual({ status: "success", value: expected });
});

test("what is carried is a copy", async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const { value } = (await returning({ bytes })) as { value: { bytes: Uint8Array } };
  bytes[0] = 9;
  expect(value.bytes).toEqual(data);
});

describe("a failure", () => {
  test("an empty canvas", async () => {
    const empty = { toBlob: (done: (blob: null) => void) => done(null) };
    expect(await returning([empty, empty])).toMatchObject({
      status: "error",
      error: { code: "failed", message: expect.stringContaining("canvas is empty") },
    });
  });

  test("a value that contains itself", async () => {
    const loop: unknown[] = [blob];
    loop.push({ loop });
    expect(await returning(loop)).toMatchObject({ status: "error", error: { code: "invalid_result" } });
  });
});
