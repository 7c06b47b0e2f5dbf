// On Studio's page: a link to the page for phones, and gamepads and 3D mice, if there are any.

import { GamepadInput } from "/teleop/gamepad.js";
import { askForMouse, hasWebHid, openAllowedMice } from "/teleop/space_mouse.js";
import { fill, Teleop } from "/teleop/teleop.js";

const KEPT_MS = 3000; // Control is released this long after the last motion.
const bar = document.createElement("div");
bar.id = "teleop";
bar.style.cssText =
  "position:fixed;top:3px;right:10px;z-index:9998;display:flex;gap:8px;align-items:center;" +
  "color:#9aa0ae;font:13px sans-serif";
const link = document.createElement("a");
link.href = "/phone";
link.textContent = "phone page";
link.style.color = "inherit";
bar.append(link);
document.body.append(bar);

let hasStarted = false;

function start() {
  if (hasStarted) return;
  hasStarted = true;
  const teleop = new Teleop();
  const hint = document.createElement("span");
  const select = document.createElement("select");
  select.style.font = "inherit";
  bar.prepend(hint, select);
  const gamepad = new GamepadInput(teleop, () => select.value);
  let pressed = false;
  let usedAt = 0;
  gamepad.addEventListener("press", () => {
    pressed = true;
    teleop.send({ control: "take" });
  });
  teleop.addEventListener("status", () => fill(select, teleop.status.movable ?? []));
  setInterval(() => {
    const { control } = teleop.status;
    const isTaken = pressed && control === "taken";
    hint.textContent = isTaken ? "another page has control" : `gamepad: ${gamepad.hint}`;
    bar.classList.toggle("moving", teleop.isMoving);
    if (teleop.isMoving) usedAt = performance.now();
    if (!gamepad.isPressed) {
      pressed = false;
      if (control === "yours" && performance.now() - usedAt > KEPT_MS) {
        teleop.send({ control: "release" });
      }
    }
  }, 200);
}

const present = () => [...(navigator.getGamepads?.() ?? [])].some(Boolean);
if (present()) start();
else window.addEventListener("gamepadconnected", start, { once: true });

const mouseError = document.createElement("span");
const refuse = (error) => (mouseError.textContent = `3D mouse: ${error.message}`);
openAllowedMice(start).catch(refuse);
if (hasWebHid()) {
  const button = document.createElement("button");
  button.textContent = "3D mouse";
  button.title = "Use a 3D mouse of 3Dconnexion at this machine";
  button.style.cssText =
    "all:unset;cursor:pointer;text-decoration:underline;font:inherit;color:inherit";
  button.onclick = async () => {
    mouseError.textContent = "";
    try {
      if (await askForMouse()) start();
    } catch (error) {
      refuse(error);
    }
  };
  bar.append(mouseError, button);
}
