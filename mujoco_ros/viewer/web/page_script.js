// Measures the lag of Studio's page, reconnects, and keeps its theme.
//
// Studio's page reconnects only after 60 frames, half a minute without a graphics card. It starts
// dark, whatever the browser prefers, and sends its theme only when the theme changes, even while
// the viewer ignores it. For the marks, see `MarkedConnection`; each frame of the page draws what
// arrived before it, and this script's callback precedes Studio's.

(() => {
  "use strict";
  const RETRY_MS = 500;
  const DELIBERATE = 4000; // Studio's page handles close codes from here on.
  const THEME = "mjwv_theme"; // Key of Studio's page.
  const PREFERRED = "mujoco_ros_preferred";
  const Socket = window.WebSocket;
  const notice = document.createElement("div");
  notice.id = "reconnecting";
  notice.textContent = "reconnecting\u2026";
  notice.style.cssText =
    "position:fixed;top:45%;left:50%;transform:translate(-50%,-50%);z-index:9999;" +
    "padding:12px 24px;border-radius:8px;background:#c77f12;color:#fff;" +
    "font:16px sans-serif;pointer-events:none";

  // Studio's page is empty until its program runs, which then shows how the model loads.
  const loading = document.createElement("div");
  loading.id = "loading";
  loading.textContent = "loading the viewer\u2026";
  loading.style.cssText =
    "position:fixed;top:45%;left:50%;transform:translate(-50%,-50%);z-index:9999;" +
    "color:#b8bcc8;font:16px sans-serif;pointer-events:none";
  const stripe = document.createElement("div");
  stripe.style.cssText = "margin-top:12px;height:3px;width:40px;background:#4c8bf5";
  loading.append(stripe);
  document.addEventListener("DOMContentLoaded", () => {
    document.body.append(loading);
    const motion = [{ marginLeft: "0px" }, { marginLeft: "100px" }];
    stripe.animate(motion, { duration: 800, direction: "alternate", iterations: Infinity });
  });

  // Studio's page fetches the materials of its renderer one by one, after its program runs.
  const load = window.fetch.bind(window);
  const MATERIAL = /^assets[/]([^/]+[.]filamat)$/;
  const materials = load("materials").then(async (response) => {
    if (!response.ok) throw new Error(`materials: ${response.status}`);
    const content = await response.arrayBuffer();
    const end = new Uint8Array(content).indexOf(10);
    const files = JSON.parse(new TextDecoder().decode(content.slice(0, end)));
    let first = end + 1;
    return new Map(files.map(([name, size]) => {
      first += size;
      return [name, content.slice(first - size, first)];
    }));
  }).catch(() => new Map());
  window.fetch = async (resource, ...rest) => {
    const material = typeof resource === "string" && MATERIAL.exec(resource);
    const content = material && (await materials).get(material[1]);
    return content ? new Response(content) : load(resource, ...rest);
  };

  // A theme chosen on the page stays until the preference of the browser changes.
  const theme = () => {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const preferred = isDark ? "dark" : "light";
    try {
      if (localStorage.getItem(PREFERRED) !== preferred) {
        localStorage.setItem(PREFERRED, preferred);
        localStorage.setItem(THEME, preferred);
      }
      return localStorage.getItem(THEME) || preferred;
    } catch { // The browser denies storage.
      return preferred;
    }
  };
  const initialTheme = theme(); // Before Studio's page reads its own.

  // Studio's renderer sets its own title.
  Object.defineProperty(document, "title", {
    get: () => document.querySelector("title").textContent,
    set: () => {},
  });

  const STALE_S = 0.5;
  const MARK = "drawn=";
  const UNCOVERED = "uncovered=";
  const measured = new Map(); // The socket of each path.
  class MeasuredSocket extends Socket {
    constructor(url, ...rest) {
      super(url, ...rest);
      const path = new URL(url, location.href).pathname;
      // Creation of what is displayed, on the page's clock [ms]; a new connection keeps it.
      this.newest = measured.has(path) ? measured.get(path).newest : null;
      this.mark = null;
      this.received = 0; // Binary messages.
      this.hasPanels = path === "/ui";
      this.addEventListener("message", (event) => {
        if (typeof event.data !== "string") {
          this.newest = this.mark;
          this.received += 1;
          super.send(`received=${this.received}`);
        } else if (event.data.startsWith(MARK)) {
          event.stopImmediatePropagation();
          const [drawn, waited, read] = event.data.slice(MARK.length).split(";").map(Number);
          this.mark = drawn + waited;
          if (this.hasPanels) heldInput.noteRead(read);
        } else if (event.data.startsWith(UNCOVERED)) {
          event.stopImmediatePropagation();
          visibleScene.set(event.data.slice(UNCOVERED.length).split(";").map(Number));
        }
      });
      if (this.hasPanels) {
        heldInput.connect();
        this.addEventListener("close", (event) => {
          if (measured.get(path) !== this) return;
          heldInput.disconnect();
          visibleScene.set([]);
          // A page that loses control has no panels; others keep the age of what they display.
          if (event.code >= DELIBERATE) measured.delete(path);
        });
      }
      measured.set(path, this);
    }
    send(data) {
      super.send(data);
      if (this.hasPanels && typeof data !== "string") heldInput.noteSent();
    }
  }
  const age = document.createElement("div");
  age.id = "lag";
  age.style.cssText =
    "position:fixed;top:4px;left:50%;transform:translateX(-50%);z-index:9999;" +
    "padding:4px 12px;border-radius:6px;background:#c62828;color:#fff;" +
    "font:14px sans-serif;pointer-events:none";
  const measure = () => {
    if (pageFailure.hasFailed) {
      // Control is free then.
      loading.remove();
      for (const socket of measured.values()) socket.close(DELIBERATE);
      requestAnimationFrame(measure); // A connection may be opened later.
      return;
    }
    const now = performance.now();
    const marks = [...measured.values()].map((socket) => socket.newest);
    const known = marks.filter((mark) => mark !== null);
    const lag = known.length ? (now - Math.min(...known)) / 1000 : 0;
    if (known.length) document.documentElement.dataset.lagS = lag.toFixed(3);
    for (const socket of measured.values()) {
      if (socket.readyState === Socket.OPEN) socket.send(`${MARK}${now};${lag}`);
    }
    age.textContent = `this image is ${lag.toFixed(1)} s old`;
    if (lag > STALE_S) document.body.append(age);
    else age.remove();
    heldInput.proceed();
    requestAnimationFrame(measure);
  };
  requestAnimationFrame(measure);

  class ReconnectingSocket {
    constructor(url) {
      this.url = url;
      this.isClosed = this.hasOpened = this.isInControl = false;
      this.theme = `theme=${initialTheme}`;
      loading.remove();
      this.open();
    }
    open() {
      this.socket = new MeasuredSocket(this.url);
      this.socket.binaryType = "arraybuffer";
      this.socket.onopen = (event) => {
        notice.remove();
        this.isInControl = false;
        if (!this.hasOpened && this.onopen) this.onopen(event);
        this.hasOpened = true;
      };
      this.socket.onmessage = (event) => this.receive(event);
      this.socket.onerror = (event) => {
        if (!this.hasOpened && this.onerror) this.onerror(event);
      };
      this.socket.onclose = (event) => this.handleClose(event);
    }
    receive(event) {
      if (typeof event.data === "string" && event.data.includes("role=")) {
        // The viewer drops the theme of a page that is not in control yet.
        const isInControl = event.data.includes("role=controller");
        if (isInControl && !this.isInControl) this.socket.send(this.theme);
        this.isInControl = isInControl;
      }
      if (this.onmessage) this.onmessage(event);
    }
    handleClose(event) {
      if (this.isClosed || !this.hasOpened || event.code >= DELIBERATE) {
        notice.remove();
        this.isClosed = true;
        if (this.onclose) this.onclose(event);
        return;
      }
      document.body.append(notice);
      setTimeout(() => this.isClosed || this.open(), RETRY_MS);
    }
    get readyState() {
      if (this.isClosed) return Socket.CLOSED;
      return this.hasOpened ? Socket.OPEN : this.socket.readyState;
    }
    get bufferedAmount() {
      return this.socket.bufferedAmount;
    }
    send(data) {
      if (typeof data === "string" && data.startsWith("theme=")) this.theme = data;
      if (this.socket.readyState === Socket.OPEN) this.socket.send(data);
    }
    close(...reason) {
      this.isClosed = true;
      this.socket.close(...reason);
    }
  }

  window.WebSocket = new Proxy(Socket, {
    construct: (Kind, [url, ...rest]) => {
      const path = new URL(url, location.href).pathname;
      if (path === "/state") return new ReconnectingSocket(url);
      return path === "/ui" ? new MeasuredSocket(url, ...rest) : new Kind(url, ...rest);
    },
  });
})();
