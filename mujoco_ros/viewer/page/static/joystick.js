// A pad that is held off its middle, with one axis or two; it returns when it is released.
// It sends { x, y } in -1..1, to the right and up, at most 20 times a second while it is held, then null.

import { make } from "./elements.js";

const PERIOD_MS = 50, ALIVE_MS = 200; // between two motions; between two messages of a still one
const KEYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export default function joystick(root, options, emit, signal) {
  const knob = make("span", { className: "knob" });
  root.append(knob);
  root.classList.add(options.axes);
  root.tabIndex = 0;
  const pressed = new Set();
  let pointer = null, at = null, sent = null, sentAt = 0, timer = 0, isOff = false;

  // Set the deflection; null releases the pad.
  function hold(next) {
    if (next && isOff) return;
    if (next) {
      const x = options.axes === "vertical" ? 0 : next[0], y = options.axes === "horizontal" ? 0 : next[1];
      const reach = Math.max(1, Math.hypot(x, y));
      next = [x / reach, y / reach];
    }
    at = next;
    root.classList.toggle("held", at !== null);
    const [x, y] = at ?? [0, 0];
    knob.style.left = `${50 + 38 * x}%`;
    knob.style.top = `${50 - 38 * y}%`;
    if (at === null) {
      clearInterval(timer);
      timer = 0;
      if (sent) emit(null);
      sent = null;
    } else if (!timer) {
      send();
      timer = setInterval(send, PERIOD_MS);
    }
  }

  function send() {
    if (!root.isConnected) return hold(null);
    const now = performance.now(), text = at.map((share) => share.toFixed(3)).join(" ");
    if (text === sent && now - sentAt < ALIVE_MS) return;
    sent = text;
    sentAt = now;
    emit({ x: +at[0].toFixed(3), y: +at[1].toFixed(3) });
  }

  function release() {
    pointer = null;
    pressed.clear();
    hold(null);
  }

  function move(event) {
    const box = root.getBoundingClientRect();
    const share = (value, low, size) => (2 * (value - low) / size - 1) / 0.76;
    hold([share(event.clientX, box.left, box.width), -share(event.clientY, box.top, box.height)]);
  }

  root.addEventListener("pointerdown", (event) => {
    if (isOff || event.button !== 0 || pointer !== null) return;
    event.preventDefault();
    root.focus({ preventScroll: true });
    pointer = event.pointerId;
    root.setPointerCapture(pointer);
    move(event);
  });
  root.addEventListener("pointermove", (event) => event.pointerId === pointer && move(event));
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
    root.addEventListener(name, (event) => event.pointerId === pointer && release());
  const byKeys = () =>
    hold(pressed.size ? [...pressed].reduce((sum, key) => [sum[0] + KEYS[key][0], sum[1] + KEYS[key][1]], [0, 0]) : null);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return release();
    if (!KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    pressed.add(event.key);
    if (!event.repeat) byKeys();
  });
  root.addEventListener("keyup", (event) => pressed.delete(event.key) && byKeys());
  root.addEventListener("blur", release);
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  addEventListener("blur", release, { signal });
  document.addEventListener("visibilitychange", () => document.hidden && release(), { signal });
  signal.addEventListener("abort", release);

  return (changed) => {
    if ("off" in changed) {
      isOff = changed.off;
      root.setAttribute("aria-disabled", isOff);
      root.tabIndex = isOff ? -1 : 0;
      if (isOff) release();
    }
    if (changed.hidden) release();
  };
}
