// Gamepads and 3D mice of the browser's machine. They send { linear, angular } while they are held,
// then null; and { grip }, the end of the range of a gripper, once.

import { make, setText } from "./elements.js";
import { GamepadInput } from "/page/gamepad.js";
import { askForMouse, hasWebHid, openAllowedMice } from "/page/space_mouse.js";

// Takes the motions of devices; the page has one, whose element may be created again.
class Receiver extends EventTarget {
  target = "";
  emit = null;
  isMoving = false;

  move(name, linear, angular) {
    if (!name || !this.emit) {
      this.stop();
      return false;
    }
    this.isMoving = true;
    this.emit({ linear, angular });
    return true;
  }

  grip(end) {
    if (this.target) this.emit?.({ grip: end });
  }

  stop() {
    if (this.isMoving) this.emit?.(null);
    this.isMoving = false;
    this.dispatchEvent(new Event("stop"));
  }
}

const receiver = new Receiver();
const input = new GamepadInput(receiver, () => receiver.target);
document.addEventListener("visibilitychange", () => document.hidden && receiver.stop());
addEventListener("blur", () => receiver.stop());
let problem = "";
const report = (error) => (problem = `3D mouse: ${error.message}`);
openAllowedMice().catch(report);

export default function devices(root, options, emit) {
  const onclick = () => {
    problem = "";
    askForMouse().catch(report);
  };
  const words = make("span");
  root.append(words, make("button", { type: "button", className: "control button", onclick,
    title: "Choose a 3D mouse of 3Dconnexion at this machine", hidden: !hasWebHid() }, "3D mouse"));
  const refresh = () => {
    const text = problem || (input.pad ? `Gamepad: ${input.hint}` : "Press a button of a gamepad to use it.");
    setText(words, text);
    root.toggleAttribute("data-found", input.pad !== null);
  };
  refresh();
  const timer = setInterval(() => (root.isConnected ? refresh() : clearInterval(timer)), 500);
  receiver.emit = emit;
  return (changed, state) => {
    if (receiver.target && receiver.target !== state.target) receiver.stop();
    receiver.target = state.off ? "" : state.target;
  };
}
