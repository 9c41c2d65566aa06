// The tools for files, media and the page, for the harness of the browser tests.
import * as ready from "/client/tools/index.js";

const parameters = new URLSearchParams(location.search);
// Browsers without pickers have these alone.
if (parameters.has("inputs")) {
  globalThis.showOpenFilePicker = undefined;
  delete globalThis.showSaveFilePicker;
}
// An app that shows its pages itself.
if (parameters.has("router")) {
  navigation.addEventListener("navigate", (event) => {
    const { pathname } = new URL(event.destination.url);
    const handler = async () => {
      document.title = `Showing ${pathname}`;
    };
    event.intercept({ handler });
  });
}

/** The streams that were asked for. */
const streams = [];
const devices = navigator.mediaDevices;
const getUserMedia = devices.getUserMedia.bind(devices);
let asking = Promise.resolve();
let held = () => {};
devices.getUserMedia = async (wanted) => {
  const stream = await getUserMedia(wanted);
  held();
  await asking;
  streams.push(stream);
  return stream;
};
/** Whether each device that was on is off again. */
globalThis.areOff = () =>
  streams.map((stream) => stream.getTracks().every((track) => track.readyState === "ended"));
/** The browser asks the user, who answers later; `devicesHeld` resolves when it has been asked. */
globalThis.holdDevices = () => {
  globalThis.devicesHeld = new Promise((resolve) => {
    held = resolve;
  });
  asking = new Promise((resolve) => {
    globalThis.giveDevices = async () => {
      resolve();
      await new Promise((done) => setTimeout(done));
    };
  });
};
/** The browser refuses from now on. */
globalThis.failDevices = (name) => {
  devices.getUserMedia = async () => {
    throw new DOMException("made up", name);
  };
};

const order = document.querySelector("#order");
const heard = [];
for (const type of ["input", "change", "submit"]) {
  order.addEventListener(type, (event) => heard.push(`${type} ${event.target.name}`));
}
const values = () =>
  Object.fromEntries([...new FormData(order)].filter(([, value]) => typeof value === "string"));
/** What the page's code has heard of its form, and what the form holds. */
globalThis.order = () => ({ heard: heard.splice(0), values: values() });

/** The tools. */
export function makeTools() {
  const { openFile, saveFile, draw, takePhoto, recordAudio, askUser, getSelection, fillForm, navigate } =
    ready;
  const tools = [
    openFile({ maxBytes: 1000, accept: ["text/*", ".bin"] }),
    saveFile({ maxBytes: 1000 }),
    draw(),
    takePhoto({ warmUpMs: 0 }),
    recordAudio({ maxSeconds: 30 }),
    askUser(),
    getSelection({ within: "#public, #order input, #order textarea" }),
    fillForm({ forms: ["#order"], passwords: parameters.has("passwords") }),
    navigate({
      paths: ["/orders/*", "/account/private", /^\/help(\/\w+)?$/],
      query: !parameters.has("go"),
      ...(parameters.has("go") ? { go: (url) => history.pushState(null, "", url) } : {}),
    }),
    ready.takeScreenshot({ elements: { page: "body", half: "#half", nothing: "#nothing" }, hide: "#badge" }),
  ];
  return { tools, release: () => {} };
}
