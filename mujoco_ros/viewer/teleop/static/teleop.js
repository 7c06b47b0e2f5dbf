// The connection of a page to the viewer, and the motion that the page commands.

const RETRY_MS = 1000;
const ALIVE_MS = 1000;
const LARGEST_BACKLOG = 4096; // Bytes; motions that would be late are not sent.

/**
 * Fill a selection with names, and keep the one that was selected, at first the first one.
 *
 * While it is absent nothing is selected, unless the user selects another.
 */
export function fill(select, names) {
  if (names.join("\n") === [...select.options].map((it) => it.value).join("\n")) return;
  const wanted = select.value || select.dataset.wanted || (names[0] ?? "");
  select.dataset.wanted = wanted;
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  select.value = wanted;
}

export class Teleop extends EventTarget {
  /** Connect. `keepsControl`: take control, if it is free, when the page becomes visible. */
  constructor({ watches = false, keepsControl = false } = {}) {
    super();
    this.watches = watches;
    this.keepsControl = keepsControl && !watches;
    this.status = {};
    this.rows = [];
    this.isMoving = false;
    this.receivedAt = performance.now();
    this.mark = null; // When the status was collected, on the page's clock [ms], at the earliest.
    this.open();
    setInterval(() => this.send({ alive: true }), ALIVE_MS);
    const leave = () => {
      this.stop();
      this.send({ control: "release" });
    };
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) leave();
      else this.takeControl();
    });
    window.addEventListener("pagehide", leave);
    window.addEventListener("blur", () => this.stop());
  }

  /** Age of the status, at most [s]; before the first mark that of the newest message. */
  get lagS() {
    return (performance.now() - (this.mark ?? this.receivedAt)) / 1000;
  }

  get hasControl() {
    return this.isOpen && this.status.control === "yours";
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(message) {
    if (this.isOpen && !(this.watches && "control" in message)) {
      this.socket.send(JSON.stringify(message));
    }
  }

  /**
   * Command a motion for the next half second, as shares of the largest velocities; return whether it is sent.
   *
   * Without a name, what is held on the page must be released and held again.
   */
  move(name, linear, angular) {
    if (!name) {
      this.stop();
      return false;
    }
    if (!this.hasControl || this.socket.bufferedAmount > LARGEST_BACKLOG) return false;
    this.isMoving = true;
    this.send({ move: { name, linear, angular } });
    return true;
  }

  /** End the motion, and release all that is held on the page. */
  stop() {
    if (this.isMoving) this.send({ stop: true });
    this.isMoving = false;
    this.dispatchEvent(new Event("stop"));
  }

  takeControl() {
    if (this.keepsControl && !document.hidden) this.send({ control: "take" });
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = this.watches ? "?watch" : "";
    this.socket = new WebSocket(`${scheme}://${location.host}/teleop${query}`);
    this.socket.binaryType = "blob";
    this.socket.onopen = () => this.takeControl();
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => {
      this.isMoving = false;
      this.status = {};
      this.rows = [];
      this.dispatchEvent(new Event("stop"));
      this.dispatchEvent(new Event("status"));
      setTimeout(() => this.open(), RETRY_MS);
    };
  }

  receive(data) {
    this.receivedAt = performance.now();
    if (typeof data !== "string") {
      this.dispatchEvent(new CustomEvent("image", { detail: data }));
      return;
    }
    const { rows, error, mark, ...changes } = JSON.parse(data);
    if (error) this.dispatchEvent(new CustomEvent("error", { detail: error }));
    else this.send({ received: this.receivedAt });
    this.mark = mark ?? this.mark;
    if ("curves" in changes) this.rows = [];
    for (const row of rows ?? []) {
      if (this.rows.length && row[0] <= this.rows.at(-1)[0]) this.rows = [];
      this.rows.push(row);
    }
    Object.assign(this.status, changes);
    if (!this.hasControl && this.isMoving) this.stop();
    this.dispatchEvent(new Event("status"));
  }
}
