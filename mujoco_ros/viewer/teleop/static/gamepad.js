// Gamepads and 3D mice of the browser's machine, with a button that must be held.

import { spaceMice } from "./space_mouse.js";

const PERIOD_MS = 50;
const RAMP_MS = 300; // From the first motion to the full velocity: nothing jumps.
const DEAD_ZONE = 0.12;
const SHOULDERS = [4, 5]; // Of the standard mapping of the Gamepad API.
const MOUSE_AXES = 6;
// Vendor and product of 3D mice in the names of Chromium and Firefox.
const MOUSE = /vendor: (256f|046d product: c6[0-2])|^(256f-|0?46d-c6[0-2])/i;

const isStandard = (pad) => pad.mapping === "standard";
/** Whether a device is a 3D mouse; others without the standard mapping may rest at full deflection. */
const isMouse = (pad) => !isStandard(pad) && pad.axes.length === MOUSE_AXES && MOUSE.test(pad.id);

function deflection(value) {
  const beyond = Math.abs(value ?? 0) - DEAD_ZONE;
  return beyond <= 0 ? 0 : (Math.sign(value) * Math.min(beyond, 1)) / (1 - DEAD_ZONE);
}

const limited = (values, gain) =>
  values.map((value) => Math.max(-1, Math.min(1, gain * value)));

/** Return the motion that a device commands: linear and angular, ahead, left and up. */
function motion(pad) {
  const axes = pad.axes.map(deflection);
  if (!isStandard(pad)) {
    // Of a 3D mouse: right, back, down.
    return [
      [-axes[1], -axes[0], -axes[2]],
      [-axes[4], -axes[3], -axes[5]],
    ];
  }
  const turns = pad.buttons[SHOULDERS[1]]?.pressed && !pad.buttons[SHOULDERS[0]]?.pressed;
  const [x = 0, y = 0, u = 0, v = 0] = axes;
  return turns
    ? [[0, 0, 0], [-x, -y, -u]]
    : [[-y, -x, -v], [0, 0, -u]];
}

/** Whether the button that must be held is held: a shoulder button, or any one of a 3D mouse. */
function isHeld(pad) {
  if (isStandard(pad)) return SHOULDERS.some((it) => pad.buttons[it]?.pressed);
  return pad.buttons.some((it) => it.pressed);
}

export class GamepadInput extends EventTarget {
  /** Poll devices. `target`: returns the name of what they move. */
  constructor(teleop, target) {
    super();
    this.teleop = teleop;
    this.target = target;
    this.pad = null;
    this.isPressed = false;
    this.movesSince = null;
    this.needsRelease = false;
    teleop.addEventListener("stop", () => {
      this.needsRelease ||= this.isPressed;
      this.isPressed = false;
      this.movesSince = null;
    });
    setInterval(() => this.poll(), PERIOD_MS);
  }

  /** Text of what to hold. */
  get hint() {
    if (!this.pad) return "no device with the standard mapping";
    return isStandard(this.pad) ? "hold LB to move, RB to rotate" : "hold a button to move";
  }

  poll() {
    const pads = [...(navigator.getGamepads?.() ?? []), ...spaceMice()].filter(
      (it) => it?.connected && (isStandard(it) || isMouse(it))
    );
    const pad = pads.find(isHeld) ?? pads[0] ?? null;
    if (pad?.id !== this.pad?.id) {
      this.pad = pad;
      this.dispatchEvent(new Event("change"));
    }
    this.pad = pad;
    if (pad === null || !isHeld(pad)) {
      if (this.isPressed) this.teleop.stop();
      this.needsRelease = false;
      return;
    }
    if (document.hidden) {
      if (this.isPressed) this.teleop.stop();
      this.needsRelease = true;
    }
    if (this.needsRelease) return;
    const [linear, angular] = motion(pad);
    if (!this.isPressed) {
      if (!isStandard(pad) && [...linear, ...angular].some((it) => it !== 0)) {
        this.needsRelease = true;
        return;
      }
      this.isPressed = true;
      this.dispatchEvent(new Event("press"));
    }
    const now = performance.now();
    const gain = Math.min((now - (this.movesSince ?? now)) / RAMP_MS, 1);
    if (this.teleop.move(this.target(), limited(linear, gain), limited(angular, gain))) {
      this.movesSince ??= now;
    }
  }
}
