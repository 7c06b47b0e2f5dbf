"""The script added to Studio's page: it reconnects the stream of states and keeps the theme."""

from websockets.http11 import Response

_PAGES = ("/", "/index.html")
_HEAD = b"<head>"
# Studio's page reconnects only after 60 frames, half a minute without a graphics card. It starts
# dark, whatever the browser prefers, and sends its theme only when the theme changes, even while
# the viewer ignores it.
_SCRIPT = b"""
    <script>
      "use strict";
      (() => {
        const RETRY_MS = 500;
        const DELIBERATE = 4000; // Studio's page handles close codes from here on.
        const THEME = "mjwv_theme"; // Key of Studio's page.
        const PREFERRED = "mujoco_ros_preferred";
        const Socket = window.WebSocket;
        const notice = document.createElement("div");
        notice.id = "reconnecting";
        notice.textContent = "reconnecting\\u2026";
        notice.style.cssText =
          "position:fixed;top:45%;left:50%;transform:translate(-50%,-50%);z-index:9999;" +
          "padding:12px 24px;border-radius:8px;background:#c77f12;color:#fff;" +
          "font:16px sans-serif;pointer-events:none";

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

        class ReconnectingSocket {
          constructor(url) {
            this.url = url;
            this.isClosed = this.hasOpened = this.isInControl = false;
            this.theme = `theme=${initialTheme}`;
            this.open();
          }
          open() {
            this.socket = new Socket(this.url);
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
          construct: (Kind, [url, ...rest]) =>
            new URL(url, location.href).pathname === "/state"
              ? new ReconnectingSocket(url)
              : new Kind(url, ...rest),
        });
      })();
    </script>
"""


def add_script(path: str, response: Response) -> None:
    """Add the script to the response if it is the page."""
    if path.partition("?")[0] not in _PAGES or response.status_code != 200:
        return
    response.body = response.body.replace(_HEAD, _HEAD + _SCRIPT, 1)
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(response.body))
