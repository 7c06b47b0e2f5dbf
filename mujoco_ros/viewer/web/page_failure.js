// Tells the user why Studio's program does not start, or has stopped, in place of an empty page.

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
  let hasFailed = false;

  const show = (reason, remedy) => {
    if (hasFailed) return;
    hasFailed = true;
    notice.textContent = `${reason}\n${remedy}`;
    const append = () => document.body.append(notice);
    if (document.body) append();
    else document.addEventListener("DOMContentLoaded", append);
  };
  const stop = (error) =>
    show(`The viewer has stopped: ${error}`, "Reload this page, or use the phone page.");

  // The driver restarts or the machine slept; the program cannot draw again, a new one can.
  const reload = async () => {
    try {
      const last = Number(sessionStorage.getItem(LOST));
      sessionStorage.setItem(LOST, Date.now());
      if (Date.now() - last < LOST_AGAIN_MS) throw new Error("again");
    } catch {
      stop("the browser has lost its graphics context");
      return;
    }
    // Without a server, the browser would replace the page by an error.
    for (;;) {
      try {
        if ((await fetch(location.href, { cache: "no-store" })).ok) break;
      } catch {
        // no connection yet
      }
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
    location.reload();
  };

  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    const context = getContext.call(this, kind, ...rest);
    if (kind === "webgl2" && context === null) {
      show(
        "This browser has no WebGL 2, which the viewer needs.",
        "Allow hardware acceleration in its settings, or use the phone page.",
      );
    } else if (kind === "webgl2") {
      this.addEventListener("webglcontextlost", reload);
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
