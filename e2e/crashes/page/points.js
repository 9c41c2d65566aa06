// Names the points of a call's life on this page, by what the page does to the world outside of it, and ends the page at one of
// them: `?point=` names it and `?way=` says how. The client knows nothing of it.
window.points = (() => {
  const url = new URL(location.href);
  const thread = url.searchParams.get("thread");
  const fatal = url.searchParams.get("point");
  const way = url.searchParams.get("way");
  /** From now on nothing leaves this page and nothing reaches it. */
  let isOver = false;

  /** Tells the test something; returns when it is known. */
  function tell(entry) {
    if (isOver) return;
    const request = new XMLHttpRequest();
    request.open("POST", `/records/${thread}`, false);
    request.send(JSON.stringify(entry));
  }

  /** The page has come to a point. Returns whether it goes on. */
  function reach(point) {
    tell(point === fatal ? { point, stopped: way } : { point });
    if (isOver || point !== fatal) return !isOver;
    isOver = true;
    if (way === "reload") {
      url.searchParams.delete("point");
      history.replaceState(null, "", url);
      location.reload();
    } else {
      // Until the process is killed.
      const request = new XMLHttpRequest();
      request.open("GET", "/never", false);
      request.send();
    }
    return false;
  }

  // --- the socket ---

  const COMMANDS = { "call.claim": "claim", "call.settle": "settle" };

  window.WebSocket = class extends WebSocket {
    #sent = new Map();

    constructor(...options) {
      super(...options);
      this.addEventListener("message", (event) => {
        const { id, type } = JSON.parse(event.data);
        const name = type === "event" ? undefined : this.#sent.get(id);
        const goesOn = name === undefined ? !isOver : reach(`${name} replied`);
        if (!goesOn) event.stopImmediatePropagation();
      });
    }

    send(frame) {
      const { id, method } = JSON.parse(frame);
      const name = COMMANDS[method];
      if (name !== undefined) this.#sent.set(id, name);
      if (!(name === undefined ? !isOver : reach(`before ${name}`))) return;
      super.send(frame);
      if (name !== undefined) reach(`after ${name}`);
    }
  };

  // --- the journal ---

  const { put, delete: remove, getAll } = IDBObjectStore.prototype;

  function write(store, name, request) {
    // A transaction in which nothing is asked for ends too, and the client hears of it.
    if (!reach(`before ${name}`)) return {};
    const { transaction } = store;
    const asked = request();
    asked.addEventListener("success", () => {
      if (fatal === `during ${name}`) transaction.commit();
      reach(`during ${name}`);
    });
    transaction.addEventListener("complete", (event) => {
      if (!reach(`after ${name}`)) event.stopImmediatePropagation();
    });
    return asked;
  }

  const nameOf = ({ asked, result }) => (asked ? "asked" : result === undefined ? "started" : "result");

  IDBObjectStore.prototype.put = function (note) {
    return write(this, nameOf(note), () => put.call(this, note));
  };

  IDBObjectStore.prototype.delete = function (key) {
    return write(this, "forget", () => remove.call(this, key));
  };

  IDBObjectStore.prototype.getAll = function () {
    const asked = getAll.call(this);
    asked.addEventListener("success", () => {
      const notes = asked.result.filter((note) => note.threadId === thread);
      if (fatal === null) tell({ found: notes.map(nameOf) });
    });
    return asked;
  };

  return { tell, reach };
})();
