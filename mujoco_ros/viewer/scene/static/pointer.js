// Mouse, touch and keys: move the camera, select and pull bodies, drag handles, switch flags.
import { THREE } from "./three.js";

const CLICK_PX = 4, DOUBLE_MS = 400, WHEEL = 0.0005;
const TAKES_KEYS = "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, "
  + "[contenteditable], [popover], [role=application]"; // what needs the keys that are pressed in it
const PRESSED_BY_SPACE = "button, summary, a, input, [role=button], [role=tab], [role=separator]";
const FOR_SIMULATION = ["Space", "ArrowRight", "ArrowLeft", "Backspace", "Minus", "Equal", "Escape", "F2", "F3"];

export class Pointer {
  constructor(scene) {
    this.scene = scene; this.element = scene.element;
    this.selected = 0; this.local = null; // the selected body, and the picked point in its frame
    this.pointers = new Map(); // positions of buttons or fingers that are down
    this.pull = null; this.click = null;
    const { element, scene: { signal } } = this;
    for (const [name, act] of Object.entries({ pointerdown: this.down, pointermove: this.move,
      pointerup: this.up, pointercancel: this.up, wheel: this.wheel,
      contextmenu: (event) => event.preventDefault() })) {
      element.addEventListener(name, act.bind(this), { passive: false, signal });
    }
    // Keys act wherever the focus is, after all that handles them there.
    window.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.release(), { signal });
    element.style.touchAction = "none";
  }

  position(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width, height: box.height };
  }

  down(event) {
    const { scene } = this, at = this.position(event);
    if (!scene.camera?.frustum) return;
    this.element.setPointerCapture(event.pointerId);
    this.element.focus({ preventScroll: true });
    const button = event.altKey ? 2 - event.button : event.button; // Alt swaps left and right
    this.pointers.set(event.pointerId, { ...at, button, start: at });
    const isTouch = event.pointerType === "touch";
    if (this.pointers.size === 1 && button === 0
      && scene.marks.grip(scene.camera, scene.slots, at.x, at.y, isTouch)) {
      this.sendHandle(at, "begin");
    } else if (event.ctrlKey && this.selected && button !== 1) {
      this.beginPull(button === 0);
    }
  }

  move(event) {
    const before = this.pointers.get(event.pointerId), { camera, marks } = this.scene;
    if (!before) return;
    const at = this.position(event);
    const dx = (at.x - before.x) / at.height, dy = (at.y - before.y) / at.height;
    if (marks.drag) this.sendHandle(at, "move");
    else if (this.pull) this.movePull(dx, dy, event.shiftKey);
    else if (this.pointers.size > 1) this.pinch(event.pointerId, at);
    else if (before.button === 0) camera.rotate(dx, dy);
    else if (before.button === 2) camera.pan(dx, dy, event.shiftKey);
    else camera.zoom(dy);
    this.pointers.set(event.pointerId, { ...before, ...at });
    this.scene.isDirty = true;
  }

  // Two fingers shift and zoom.
  pinch(id, at) {
    const before = this.pointers.get(id), { camera } = this.scene;
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const apart = (p) => Math.hypot(p.x - other.x, p.y - other.y);
    camera.pan((at.x - before.x) / at.height / 2, (at.y - before.y) / at.height / 2, false);
    camera.scale(apart(before) / Math.max(apart(at), 1));
  }

  up(event) {
    const pointer = this.pointers.get(event.pointerId), at = this.position(event);
    if (!pointer) return;
    this.pointers.delete(event.pointerId);
    if (this.scene.marks.drag) this.sendHandle(at, "move");
    if (this.scene.marks.drag || this.pull) this.release();
    else if (Math.hypot(at.x - pointer.start.x, at.y - pointer.start.y) < CLICK_PX) {
      this.clicked(event, at, pointer.button);
    }
    this.scene.isDirty = true;
  }

  // End what is pulled or dragged, where it is.
  release() {
    const { marks } = this.scene;
    if (marks.drag) {
      this.scene.send({ handle: marks.held("end") });
      marks.drag = null;
    }
    if (this.pull) this.sendPull("end");
    this.pull = null;
    this.scene.isDirty = true;
  }

  clicked(event, at, button) {
    const last = this.click, now = event.timeStamp;
    this.click = { ...at, button, now };
    if (!last || last.button !== button || now - last.now > DOUBLE_MS
      || Math.hypot(at.x - last.x, at.y - last.y) > 2 * CLICK_PX) return;
    this.click = null;
    const camera = this.scene.camera.message([at.x / at.width, 1 - at.y / at.height]);
    const name = button === 2 ? "right" : "left";
    this.scene.send({ pick: { ...camera, button: name, ctrl: event.ctrlKey } });
  }

  wheel(event) {
    event.preventDefault();
    this.scene.camera?.zoom(-WHEEL * event.deltaY);
    this.scene.isDirty = true;
  }

  // Handle the server's answer to a double click.
  picked({ body, local, point, button, with_ctrl: ctrl }) {
    const { camera } = this.scene;
    if (button === "left") this.select(Math.max(body, 0), local);
    else if (ctrl) this.scene.setCamera({ followed: Math.max(body, 0), fixed: -1 });
    else if (body >= 0) this.scene.setCamera({ followed: 0, fixed: -1, lookat: point });
    if (camera) this.scene.isDirty = true;
  }

  select(body, local) {
    if (this.pull) this.sendPull("end");
    this.selected = body; this.local = local ?? [0, 0, 0];
    this.pull = null;
    const drawing = this.scene.view?.drawing;
    if (drawing && drawing.selected !== body) { drawing.selected = body; drawing.reassign(); }
    if (this.scene.camera) this.scene.watch();
    this.scene.settings.onEvent("selected", body);
  }

  // Return the pose of the selected body, as the server has sent it; null before that.
  bodyPose() {
    const { view } = this.scene.slots;
    if (!view || !(view[6] || view[7] || view[8] || view[9])) return null;
    return { position: new THREE.Vector3(view[3], view[4], view[5]),
      turn: new THREE.Quaternion(view[7], view[8], view[9], view[6]) };
  }

  anchor() {
    const pose = this.bodyPose();
    return pose && new THREE.Vector3(...this.local).applyQuaternion(pose.turn).add(pose.position);
  }

  beginPull(rotates) {
    const pose = this.bodyPose(), target = this.anchor();
    if (!pose) return;
    this.pull = { rotates, target, turn: pose.turn.clone() };
    this.sendPull("begin");
  }

  movePull(dx, dy, isHorizontal) {
    const { camera, marks } = this.scene, { pull } = this;
    if (pull.rotates) {
      // Up and down turns about the axis to the right, left and right about the vertical, or with
      // Shift about the axis of the view.
      const right = camera.aligned(1, 0, false), ahead = camera.aligned(0, -1, true);
      const vector = isHorizontal ? right.multiplyScalar(dy).addScaledVector(ahead, dx)
        : right.multiplyScalar(dy).add(new THREE.Vector3(0, 0, dx));
      const angle = 2 * Math.PI * vector.length();
      if (angle) {
        const step = new THREE.Quaternion().setFromAxisAngle(vector.normalize(), angle);
        pull.turn.premultiply(step).normalize();
      }
    } else {
      const scale = camera.pixelSize(pull.target, marks.height) * marks.height;
      pull.target.addScaledVector(camera.aligned(dx, dy, isHorizontal), scale);
    }
    this.sendPull("move");
  }

  sendPull(phase) {
    const { target, turn, rotates } = this.pull;
    this.scene.send({ pull: { body: this.selected, phase, rotates, local: this.local,
      position: target.toArray(), quat_wxyz: [turn.w, turn.x, turn.y, turn.z] } });
  }

  // Return the ends of the spring of a pull; null without one.
  spring() {
    const anchor = this.pull && !this.pull.rotates ? this.anchor() : null;
    return anchor && [anchor, this.pull.target];
  }

  sendHandle(at, phase) {
    const { scene } = this;
    scene.send({ handle: scene.marks.dragTo(scene.camera, at.x, at.y, phase) });
  }

  key(event) {
    const { scene } = this, { model, camera } = scene;
    if (event.code === "KeyA" && event.ctrlKey && event.target === scene.element) {
      event.preventDefault(); // it would select the text of the page
      scene.send({ key: { key: "KeyA" } });
    }
    if (!model || event.altKey || event.metaKey || event.ctrlKey || event.defaultPrevented) return;
    const { target } = event, taker = target.closest?.(TAKES_KEYS);
    // What is hidden has the focus until the browser draws again, as the field of a closed search.
    const isTaken = taker && taker !== scene.element && taker.checkVisibility();
    if (isTaken || (event.code === "Space" && target.closest?.(PRESSED_BY_SPACE))) return;
    if (event.repeat && !event.code.startsWith("Arrow")) return; // held: it would act thirty times a second
    // The browser closes a popup.
    if (event.key === "Escape" && document.querySelector(":popover-open")) return;
    if (this.viewKey(event, model, camera)) {
      event.preventDefault();
    } else if (FOR_SIMULATION.includes(event.code)) {
      event.preventDefault();
      scene.send({ key: { key: event.code } });
    }
  }

  // Handle a key that changes what is shown; return whether it does.
  viewKey(event, model, camera) {
    const { scene } = this, key = event.key.toUpperCase(), { choices } = model;
    const next = (names, name) => names[(names.indexOf(name) + 1) % names.length];
    const digit = /^Digit([0-5])$/.exec(event.code);
    if (digit) {
      const kind = event.shiftKey ? "site" : "geom", shown = [...scene.options.groups[kind]];
      shown[Number(digit[1])] = !shown[Number(digit[1])];
      scene.setOption({ groups: { [kind]: shown } });
    } else if (key === "[" || key === "]") {
      const count = model.cameras.length + 1, step = key === "]" ? 1 : -1;
      scene.setCamera({ fixed: (camera.fixed + 1 + step + count) % count - 1 });
    } else if (key === "F6") {
      scene.setOption({ frame: next(choices.frames, scene.options.frame) });
    } else if (key === "F7") {
      scene.setOption({ label: next(choices.labels, scene.options.label) });
    } else if (event.key.length === 1 && choices.flags.some(([, each]) => each === key)) {
      const [name] = choices.flags.find(([, each]) => each === key);
      scene.setOption({ flags: { [name]: !scene.options.flags[name] } });
    } else if (event.key.length === 1 && choices.render.some(([, each]) => each === key)) {
      const [name] = choices.render.find(([, each]) => each === key);
      scene.setOption({ render: { [name]: !scene.render[name] } });
    } else {
      return false;
    }
    return true;
  }
}
