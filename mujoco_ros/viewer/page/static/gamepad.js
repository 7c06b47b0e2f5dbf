// Gamepads and 3D mice of the browser's machine, with a button that must be held.

import { spaceMice } from "./space_mouse.js";

const PERIOD_MS = 50;
const RAMP_MS = 300; // from the first motion to the full velocity: nothing jumps
const DEAD_ZONE = 0.12;
const A = 0, B = 1, LEFT = 4, RIGHT = 5; // buttons of the standard mapping of the Gamepad API, two at the shoulders
// Vendor and product of 3D mice in the names of Chromium and Firefox.
const MOUSE = /vendor: (256f|046d product: c6[0-2])|^(256f-|0?46d-c6[0-2])/i;

const isStandard = (pad) => pad.mapping === "standard";
// Other devices without the standard mapping may rest at full deflection.
const isUsable = (pad) => pad?.connected && (isStandard(pad) || (pad.axes.length === 6 && MOUSE.test(pad.id)));
// Whether the button that must be held is held: a shoulder button, or any one of a 3D mouse.
const isHeld = (pad) =>
  pad.buttons.some(({ pressed }, at) => pressed && (!isStandard(pad) || at === LEFT || at === RIGHT));

function deflection(value) {
  const beyond = Math.min(Math.max(Math.abs(value) - DEAD_ZONE, 0), 1);
  return (Math.sign(value) * beyond) / (1 - DEAD_ZONE);
}

const limited = (values, gain) => values.map((value) => Math.max(-1, Math.min(1, gain * value)));

// Return the motion that a device commands: linear and angular, ahead, left and up.
function motion(pad) {
  const [x = 0, y = 0, u = 0, v = 0, w = 0, z = 0] = pad.axes.map(deflection);
  if (!isStandard(pad)) return [[-y, -x, -u], [-w, -v, -z]]; // right, back, down, and about these
  const turns = pad.buttons[RIGHT]?.pressed && !pad.buttons[LEFT]?.pressed;
  return turns ? [[0, 0, 0], [-x, -y, -u]] : [[-y, -x, -v], [0, 0, -u]];
}

// Return where a device moves a gripper: to the lower (-1) or upper (1) end of its range, or not (0).
const grip = (pad) => (isStandard(pad) ? !!pad.buttons[B]?.pressed - !!pad.buttons[A]?.pressed : 0);

export class GamepadInput {
  // Poll devices for a receiver of motions; `target` returns the name of what they move.
  constructor(receiver, target) {
    this.receiver = receiver;
    this.target = target;
    this.pad = null;
    this.grip = 0;
    this.isPressed = false;
    this.movesSince = null;
    this.needsRelease = false;
    receiver.addEventListener("stop", () => {
      this.needsRelease ||= this.isPressed;
      this.isPressed = false;
      this.movesSince = null;
    });
    setInterval(() => this.poll(), PERIOD_MS);
  }

  // Text of what to hold.
  get hint() {
    if (!this.pad) return "no device with the standard mapping";
    return isStandard(this.pad) ? "hold LB to move, RB to rotate; A and B move the gripper" : "hold a button to move";
  }

  poll() {
    const pads = [...(navigator.getGamepads?.() ?? []), ...spaceMice()].filter(isUsable);
    const pad = pads.find(isHeld) ?? pads[0] ?? null;
    this.pad = pad;
    if (pad === null || !isHeld(pad)) {
      if (this.isPressed) this.receiver.stop();
      this.needsRelease = false;
      return;
    }
    if (document.hidden) {
      if (this.isPressed) this.receiver.stop();
      this.needsRelease = true;
    }
    const gripped = this.grip;
    this.grip = grip(pad);
    const [linear, angular] = motion(pad);
    // A 3D mouse has to be at rest when its button is pressed.
    this.needsRelease ||= !this.isPressed && !isStandard(pad) && [...linear, ...angular].some(Boolean);
    if (this.needsRelease) return;
    if (this.grip && this.grip !== gripped) this.receiver.grip(this.grip);
    this.isPressed = true;
    const now = performance.now();
    const gain = Math.min((now - (this.movesSince ?? now)) / RAMP_MS, 1);
    if (this.receiver.move(this.target(), limited(linear, gain), limited(angular, gain))) {
      this.movesSince ??= now;
    }
  }
}
