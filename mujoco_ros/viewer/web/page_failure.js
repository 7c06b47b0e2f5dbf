// Tells the user why Studio's program does not start, or has stopped, in place of an empty page, and
// loads the page again if a new one can start.

const pageFailure = (() => {
  "use strict";
  const notice = document.createElement("div");
  notice.id = "failure";
  notice.style.cssText =
    "position:fixed;top:45%;left:50%;transform:translate(-50%,-50%);z-index:9999;" +
    "padding:12px 24px;border-radius:8px;background:#c62828;color:#fff;" +
    "font:16px sans-serif;white-space:pre-line;text-align:center";
  const LOST = "graphics lost at";
  const LOST_AGAIN_MS = 30000;
  const RETRY_MS = 1000;
  const RELOADS = "reloads";
  const MOST_RELOADS = 5; // with less than RELOADED_AGAIN_MS between them
  const RELOADED_AGAIN_MS = 60000;
  let hasFailed = false;
  let isLoadedAgain = false;

  const show = (reason, remedy) => {
    if (hasFailed || isLoadedAgain) return;
    hasFailed = true;
    notice.textContent = `${reason}\n${remedy}`;
    const append = () => document.body.append(notice);
    if (document.body) append();
    else document.addEventListener("DOMContentLoaded", append);
  };
  const stop = (error) =>
    show(`The viewer has stopped: ${error}`, "Reload this page, or use the phone page.");

  // A file may be missing for ever: by a damaged installation, or a browser that blocks it.
  const mayReload = () => {
    try {
      const [last, count] = JSON.parse(sessionStorage.getItem(RELOADS) || "[0, 0]");
      const reloads = Date.now() - last < RELOADED_AGAIN_MS ? count + 1 : 1;
      sessionStorage.setItem(RELOADS, JSON.stringify([Date.now(), reloads]));
      return reloads <= MOST_RELOADS;
    } catch {
      return false;
    }
  };

  // Without a server, the browser would replace the page by an error.
  const load = window.fetch.bind(window);
  const loadAgain = async () => {
    if (hasFailed || isLoadedAgain) return;
    isLoadedAgain = true;
    for (;;) {
      await new Promise((done) => setTimeout(done, RETRY_MS));
      try {
        // A server that refuses this page tells the reason on the new one.
        if ((await load(location.href, { cache: "no-store" })).status < 500) break;
      } catch {
        // no connection yet
      }
    }
    if (mayReload()) {
      location.reload();
    } else {
      isLoadedAgain = false;
      stop("its program cannot be loaded");
    }
  };

  // The driver restarts or the machine slept; the program cannot draw again, a new one can.
  const onLostGraphics = () => {
    try {
      const last = Number(sessionStorage.getItem(LOST));
      sessionStorage.setItem(LOST, Date.now());
      if (Date.now() - last < LOST_AGAIN_MS) throw new Error("again");
    } catch {
      stop("the browser has lost its graphics context");
      return;
    }
    loadAgain();
  };

  // A viewer that starts again serves no files for a while, without which the program aborts.
  window.fetch = async (resource, ...rest) => {
    try {
      return await load(resource, ...rest);
    } catch (error) {
      if (resource !== "materials") loadAgain(); // They are then fetched one by one.
      throw error;
    }
  };
  window.addEventListener("error", ({ target }) => {
    if (target instanceof HTMLScriptElement && !("optional" in target.dataset)) loadAgain();
  }, true);

  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    const context = getContext.call(this, kind, ...rest);
    if (kind === "webgl2" && context === null) {
      show(
        "This browser has no WebGL 2, which the viewer needs.",
        "Allow hardware acceleration in its settings, or use the phone page.",
      );
    } else if (kind === "webgl2") {
      this.addEventListener("webglcontextlost", onLostGraphics);
    }
    return context;
  };

  // An exception in a frame ends the program: it then requests no more frames.
  const requestFrame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => requestFrame((time) => {
    try {
      draw(time);
    } catch (error) {
      stop(error);
      throw error;
    }
  });
  // It starts outside of a frame.
  window.addEventListener("error", (event) => {
    if (event.filename.endsWith("web_client.js")) stop(event.error || event.message);
  });
  window.addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof WebAssembly.RuntimeError) stop(event.reason);
  });

  return {
    get hasFailed() {
      return hasFailed;
    },
  };
})();
