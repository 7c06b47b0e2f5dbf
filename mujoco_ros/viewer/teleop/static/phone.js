// The page for phones; at /watch the same page without controls.

import { GamepadInput } from "/teleop/gamepad.js";
import { openAllowedMice } from "/teleop/space_mouse.js";
import { fill, Teleop } from "/teleop/teleop.js";

const PERIOD_MS = 100; // Of the motion while a pad is held.
const STALE_S = 0.5;
const MESSAGE_MS = 5000;
const SPAN_S = 20;
const COLOURS = ["#4c8bf5", "#e0783c", "#3fb46b", "#c25bd0", "#d4a72c", "#2fb3b8", "#e05a6d"];
const watches = location.pathname === "/watch";
const root = document.documentElement;
const teleop = new Teleop({ watches, keepsControl: true });
const element = (id) => document.getElementById(id);
root.classList.toggle("watch", watches);

function report(text, isBad) {
  element("message").textContent = text;
  element("message").classList.toggle("bad", isBad);
}

/** A round pad that is deflected while a finger holds it. */
class Pad {
  constructor(id) {
    this.element = element(id);
    this.knob = this.element.querySelector(".knob");
    this.label = this.element.querySelector("span");
    this.pointer = null;
    this.right = this.up = 0;
    this.element.addEventListener("pointerdown", (event) => {
      if (this.pointer !== null || !teleop.hasControl) return;
      this.pointer = event.pointerId;
      this.element.setPointerCapture(event.pointerId);
      this.follow(event);
    });
    this.element.addEventListener("pointermove", (event) => this.follow(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      this.element.addEventListener(end, (event) => {
        if (event.pointerId !== this.pointer) return;
        this.release();
        drive();
      });
    }
    teleop.addEventListener("stop", () => this.release());
  }

  follow(event) {
    if (event.pointerId !== this.pointer) return;
    const box = this.element.getBoundingClientRect();
    const radius = box.width / 2;
    const right = event.clientX - box.left - radius;
    const up = box.top + radius - event.clientY;
    const reach = Math.max(radius, Math.hypot(right, up));
    this.show(right / reach, up / reach);
  }

  release() {
    this.pointer = null;
    this.show(0, 0);
  }

  show(right, up) {
    this.right = right;
    this.up = up;
    this.element.classList.toggle("held", this.pointer !== null);
    const radius = this.element.clientWidth / 2 - this.knob.clientWidth / 2;
    this.knob.style.transform = `translate(${right * radius}px, ${-up * radius}px)`;
  }
}

const movePad = new Pad("move");
const turnPad = new Pad("turn");
let isDriving = false;

/** Command the motion of the pads, or its end. */
function drive() {
  const isHeld = movePad.pointer !== null || turnPad.pointer !== null;
  if (!isHeld) {
    if (isDriving) teleop.stop();
    isDriving = false;
    return;
  }
  isDriving = true;
  const speed = Number(element("speed").value);
  const [ahead, left] = [speed * movePad.up, -speed * movePad.right];
  const [up, turn] = [speed * turnPad.up, -speed * turnPad.right];
  teleop.move(element("target").value, [ahead, left, up], [0, 0, turn]);
}
setInterval(drive, PERIOD_MS);

openAllowedMice().catch((error) => (element("device").textContent = `3D mouse: ${error.message}`));
const gamepad = new GamepadInput(teleop, () => element("target").value);
gamepad.addEventListener("change", () => {
  element("device").textContent = gamepad.pad ? `gamepad: ${gamepad.hint}` : "";
});

const OWNERS = {
  yours: "You have control.",
  taken: "Another page has control.",
  free: "Control is free.",
  watch: "",
};

function showControl({ control, requests, waiting }) {
  const ask = element("ask");
  element("owner").textContent =
    requests > 0 ? "Another page requests control." : waiting ? "Waiting for control…" : OWNERS[control] ?? "";
  ask.hidden = !(control === "free" || control === "taken" || requests > 0);
  ask.textContent =
    requests > 0 ? "Hand over" : waiting ? "Cancel" : control === "free" ? "Take control" : "Request control";
  element("deny").hidden = !(requests > 0);
}
element("ask").addEventListener("click", () => {
  const { requests, waiting } = teleop.status;
  if (requests > 0) teleop.keepsControl = false; // Until the page is loaded again.
  teleop.send({ control: requests > 0 || waiting ? "release" : "request" });
});
element("deny").addEventListener("click", () => teleop.send({ control: "deny" }));

function showControllers(controllers, isEnabled) {
  const shown = JSON.stringify([controllers, isEnabled]);
  const list = element("controllers");
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  list.replaceChildren(
    ...controllers.map(({ name, state, available }) => {
      const row = document.createElement("div");
      row.className = "controller";
      const label = document.createElement("b");
      const active = document.createElement("em");
      active.textContent = state || "…";
      active.classList.toggle("error", state === "error");
      label.append(`${name} is `, active);
      row.append(label);
      for (const transition of available) {
        const button = document.createElement("button");
        button.textContent = transition;
        button.disabled = !isEnabled;
        button.addEventListener("click", () => teleop.send({ transition: [name, transition] }));
        row.append(button);
      }
      return row;
    }),
  );
}

let image = "";
function showCamera(cameras) {
  element("camera").hidden = !cameras.length;
  element("cameras").hidden = cameras.length < 2;
  const select = element("cameras");
  fill(select, cameras);
  if (!select.value) select.selectedIndex = 0; // If there is one.
  const wanted = document.hidden ? null : select.value || null;
  if (wanted !== image) {
    image = wanted;
    teleop.send({ camera: wanted });
  }
}
let address = "";
teleop.addEventListener("image", ({ detail }) => {
  URL.revokeObjectURL(address);
  address = URL.createObjectURL(new Blob([detail], { type: "image/jpeg" }));
  element("image").src = address;
});
for (const end of ["load", "error"]) {
  element("image").addEventListener(end, () => teleop.send({ drawn: true }));
}
document.addEventListener("visibilitychange", () => showCamera(teleop.status.cameras ?? []));

/** Draw a plot per unit, of the last samples. */
function drawPlots(curves) {
  const units = [...new Set(curves.map(([unit]) => unit))];
  const area = element("plots");
  while (area.children.length > units.length) area.lastChild.remove();
  while (area.children.length < units.length) {
    const figure = document.createElement("figure");
    figure.append(document.createElement("figcaption"), document.createElement("canvas"));
    area.append(figure);
  }
  units.forEach((unit, index) => drawPlot(area.children[index], unit, curves));
}

function drawPlot(figure, unit, curves) {
  const [caption, canvas] = figure.children;
  const indices = curves.flatMap(([own], index) => (own === unit ? [index] : []));
  if (caption.dataset.shown !== JSON.stringify(curves)) {
    caption.dataset.shown = JSON.stringify(curves);
    caption.replaceChildren(`${unit}  `);
    indices.forEach((index, number) => {
      const name = document.createElement("i");
      name.textContent = curves[index][1];
      name.style.color = COLOURS[number % COLOURS.length];
      caption.append(name, " ");
    });
  }
  const scale = window.devicePixelRatio;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const newest = teleop.rows.at(-1)?.[0] ?? 0;
  const rows = teleop.rows.filter(([time]) => time >= newest - SPAN_S);
  const values = rows.flatMap(([, row]) => indices.map((index) => row[index])).filter((it) => it !== null);
  if (!values.length) return;
  const margin = 0.05 * Math.max(Math.max(...values) - Math.min(...values), 1e-3);
  const low = Math.min(...values) - margin;
  const high = Math.max(...values) + margin;
  const x = (time) => 44 + ((width - 46) * (time - newest + SPAN_S)) / SPAN_S;
  const y = (value) => 8 + ((height - 26) * (high - value)) / (high - low);
  const faint = getComputedStyle(figure.firstChild).color;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = context.strokeStyle = faint;
  context.lineWidth = 0.5;
  context.textAlign = "right";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(high - low)));
  for (const value of [high - margin, low + margin]) {
    context.fillText(value.toFixed(Math.min(digits, 4)), 40, y(value) + 4);
    context.strokeRect(44, y(value), width - 46, 0);
  }
  context.fillText(`${newest.toFixed(1)} s`, width - 2, height - 4);
  context.textAlign = "left";
  context.fillText(`${(newest - SPAN_S).toFixed(1)} s`, 44, height - 4);
  context.lineWidth = 1.5;
  indices.forEach((index, number) => {
    context.strokeStyle = COLOURS[number % COLOURS.length];
    context.beginPath();
    let isJoined = false; // Null is a gap.
    for (const [time, row] of rows) {
      const isSample = row[index] !== null;
      if (isSample) context[isJoined ? "lineTo" : "moveTo"](x(time), y(row[index]));
      isJoined = isSample;
    }
    context.stroke();
  });
}

function show() {
  const status = teleop.status;
  const { run = "", time, factor, controllers = [], cameras = [], movable = [], curves = [] } = status;
  const isConnected = teleop.isOpen && time !== undefined;
  const label = !isConnected ? "reconnecting…" : run || "the simulator does not respond";
  element("run").textContent = run === "playing" && factor !== null ? `${run} at ${factor.toFixed(2)}x` : label;
  element("run").className = isConnected && run ? run : "bad";
  element("time").textContent = isConnected ? `${time.toFixed(2)} s` : "";
  element("title").textContent = status.title ?? "";
  if (status.title) document.title = `${status.title} – mujoco_ros`;
  showControl(status);
  showControllers(controllers, teleop.hasControl);
  showCamera(isConnected ? cameras : []);
  fill(element("target"), movable);
  element("aim").hidden = movePad.element.hidden = turnPad.element.hidden = !movable.length;
  const isFrame = !element("target").value.startsWith("/");
  turnPad.label.textContent = isFrame ? "up, turn" : "turn";
  for (const pad of [movePad, turnPad]) pad.element.classList.toggle("off", !teleop.hasControl);
  const isPaused = run === "paused";
  element("pause").textContent = isPaused ? "Play" : "Pause";
  element("pause").classList.toggle("play", isPaused);
  element("pause").disabled = !isConnected || (isPaused && !teleop.hasControl);
  element("step").disabled = !isPaused || !teleop.hasControl;
  drawPlots(curves);
}
teleop.addEventListener("status", show);
element("pause").addEventListener("click", () =>
  teleop.send({ [teleop.status.run === "paused" ? "play" : "pause"]: true }),
);
element("step").addEventListener("click", () => teleop.send({ step: true }));

let reported = "";
let errorAt = -Infinity;
teleop.addEventListener("error", ({ detail }) => {
  errorAt = performance.now();
  report(detail, true);
});
setInterval(() => {
  const lag = teleop.lagS;
  root.dataset.lagS = lag.toFixed(3);
  element("lag").hidden = lag <= STALE_S;
  element("lag").textContent = `${lag.toFixed(1)} s old`;
  if (performance.now() - errorAt > MESSAGE_MS && reported !== (teleop.status.request ?? "")) {
    reported = teleop.status.request ?? "";
    report(reported, false);
  }
}, 200);
