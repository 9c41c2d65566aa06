// The bodies of the tools, each with the browser's own API.
import { tool } from "/client/index.js";

/** A Standard Schema out of what it complains about, undefined when the value fits. */
function schema(complaint = () => undefined) {
  const validate = (value) => {
    const message = complaint(value);
    return message === undefined ? { value } : { issues: [{ message, path: ["word"] }] };
  };
  return { "~standard": { version: 1, vendor: "harness", validate } };
}

/** The tools; `note` hears when a body begins and when its signal fires. */
export function makeTools(note) {
  const held = new Map();

  const implemented = (name, body, { args = schema(), ...options } = {}) =>
    tool({ name, description: name, schema: args }).implement((given, context) => {
      const { signal } = context;
      note({ tool: name, body: "begun", given });
      signal.addEventListener("abort", () => note({ tool: name, body: "aborted", code: signal.reason.code }));
      return body(given, context);
    }, options);

  const hold = ({ name }) => new Promise((resolve) => held.set(name, resolve));

  const tools = [
    implemented("get_location", locate),
    implemented("get_location_soon", locate),
    implemented("copy_text", copy),
    implemented("copy_text_on_click", copy, { activation: "required" }),
    implemented("open_window", () => open("about:blank") !== null, { activation: "consumed" }),
    implemented("paste_text", () => navigator.clipboard.readText()),
    implemented("remember", ({ key, value }) => inStore("readwrite", (store) => store.put(value, key))),
    implemented("recall", ({ key }) => inStore("readonly", (store) => store.get(key))),
    implemented("draw", async (drawing) => {
      const png = await draw(drawing);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", png));
      note({ tool: "draw", drawn: { length: png.length, sha256: hex(digest) } });
      return png;
    }),
    implemented("give", give),
    implemented("hold", hold),
    implemented("hold_again", hold),
    implemented("hold_soon", hold),
    implemented("throw", ({ message }) => {
      throw new TypeError(message);
    }),
    implemented("mislead", () => "no position"),
    implemented("ping", () => "pong", {
      args: schema(({ word }) => (word === "ping" ? undefined : `expected ping, got ${word}`)),
    }),
  ];
  /** Lets a body of `hold` return. */
  const release = (name, value) => held.get(name)(value);
  return { tools, release };
}

function locate({ timeout }) {
  const options = typeof timeout === "number" ? { timeout } : {};
  return new Promise((resolve, reject) =>
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude, accuracy } }) => resolve({ latitude, longitude, accuracy }),
      reject,
      options,
    ),
  );
}

async function copy({ text }) {
  await navigator.clipboard.writeText(text);
  return text.length;
}

/** Does one request in a transaction of the page's database; resolves with its result when that is stored. */
function inStore(mode, request) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("memory", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("memory");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction("memory", mode);
      const asked = request(transaction.objectStore("memory"));
      transaction.oncomplete = () => {
        database.close();
        resolve(asked.result);
      };
      transaction.onabort = () => reject(transaction.error);
    };
  });
}

/** A PNG: its left half in a color, its right half noise. */
async function draw({ width, height, color }) {
  const canvas = halfFilled(document.createElement("canvas"), width, height, color);
  const context = canvas.getContext("2d");
  const middle = Math.floor(width / 2);
  const noise = context.createImageData(width - middle, height);
  for (let at = 0; at < noise.data.length; at += 65_536)
    crypto.getRandomValues(noise.data.subarray(at, at + 65_536));
  for (let at = 3; at < noise.data.length; at += 4) noise.data[at] = 255;
  context.putImageData(noise, middle, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return new Uint8Array(await blob.arrayBuffer());
}

/** A picture, its left half red, in one of the forms that a page has for pictures. */
async function give({ form }) {
  const canvas = halfFilled(document.createElement("canvas"), 4, 2, "#ff0000");
  const png = () => new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  switch (form) {
    case "canvas":
      return canvas;
    case "offscreen":
      return halfFilled(new OffscreenCanvas(4, 2), 4, 2, "#ff0000");
    case "image data":
      return canvas.getContext("2d").getImageData(0, 0, 4, 2);
    case "bitmap":
      return createImageBitmap(canvas);
    case "blob":
      return png();
    case "file":
      return new File([await png()], "red.png", { type: "image/png" });
    case "bytes":
      return new Uint8Array(await (await png()).arrayBuffer());
  }
}

function halfFilled(canvas, width, height, color) {
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, Math.floor(width / 2), height);
  return canvas;
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
