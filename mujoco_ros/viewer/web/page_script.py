"""What is added to Studio's page: a stream of states that is opened again when it is lost."""

from websockets.http11 import Response

_PAGES = ("/", "/index.html")
_HEAD = b"<head>"
# Studio's page opens the stream again only after 60 pictures, which takes a browser that draws a
# few of them a second half a minute. It is dark at first, whatever the browser prefers, and tells
# its theme only when that changes, whether the viewer listens or not.
_SCRIPT = b"""
    <script>
      "use strict";
      (() => {
        const RETRY_MS = 500;
        const DELIBERATE = 4000; // Close codes from here on are told to Studio's page.
        const THEME = "mjwv_theme"; // Where Studio's page keeps it.
        const PREFERRED = "mujoco_ros_preferred";
        const Socket = window.WebSocket;
        const notice = document.createElement("div");
        notice.id = "reconnecting";
        notice.textContent = "reconnecting\\u2026";
        notice.style.cssText =
          "position:fixed;top:45%;left:50%;transform:translate(-50%,-50%);z-index:9999;" +
          "padding:12px 24px;border-radius:8px;background:#c77f12;color:#fff;" +
          "font:16px sans-serif;pointer-events:none";

        // What is chosen on the page holds until the browser prefers something else than it did.
        const theme = () => {
          const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
          const preferred = isDark ? "dark" : "light";
          try {
            if (localStorage.getItem(PREFERRED) !== preferred) {
              localStorage.setItem(PREFERRED, preferred);
              localStorage.setItem(THEME, preferred);
            }
            return localStorage.getItem(THEME) || preferred;
          } catch { // The browser keeps nothing for pages.
            return preferred;
          }
        };
        const firstTheme = theme(); // Before Studio's page looks for its own.

        class LastingSocket {
          constructor(url) {
            this.url = url;
            this.isClosed = this.hasOpened = this.hasControls = false;
            this.theme = `theme=${firstTheme}`;
            this.open();
          }
          open() {
            this.socket = new Socket(this.url);
            this.socket.binaryType = "arraybuffer";
            this.socket.onopen = (event) => {
              notice.remove();
              this.hasControls = false;
              if (!this.hasOpened && this.onopen) this.onopen(event);
              this.hasOpened = true;
            };
            this.socket.onmessage = (event) => this.receive(event);
            this.socket.onerror = (event) => {
              if (!this.hasOpened && this.onerror) this.onerror(event);
            };
            this.socket.onclose = (event) => this.lose(event);
          }
          receive(event) {
            if (typeof event.data === "string" && event.data.includes("role=")) {
              // The viewer forgets what it was told by who has not the controls yet.
              const hasControls = event.data.includes("role=controller");
              if (hasControls && !this.hasControls) this.socket.send(this.theme);
              this.hasControls = hasControls;
            }
            if (this.onmessage) this.onmessage(event);
          }
          lose(event) {
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
          close(...why) {
            this.isClosed = true;
            this.socket.close(...why);
          }
        }

        window.WebSocket = new Proxy(Socket, {
          construct: (Kind, [url, ...rest]) =>
            new URL(url, location.href).pathname === "/state"
              ? new LastingSocket(url)
              : new Kind(url, ...rest),
        });
      })();
    </script>
"""


def add_script(path: str, response: Response) -> None:
    """Add the script to the answer to a request, if that is the page."""
    if path.partition("?")[0] not in _PAGES or response.status_code != 200:
        return
    response.body = response.body.replace(_HEAD, _HEAD + _SCRIPT, 1)
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(response.body))
