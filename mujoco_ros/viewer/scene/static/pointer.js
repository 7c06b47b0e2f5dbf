// Mouse, touch and keys: move the camera, select and pull bodies, drag handles.

const CLICK_PX = 4, WHEEL = 0.0005;

export class Pointer {
  constructor(scene) {
    this.scene = scene; this.element = scene.element;
    this.selected = 0; this.local = null; // the selected body, and the picked point in its frame
    this.pointers = new Map(); // positions of buttons or fingers that are down
    this.pull = null;
    this.listeners = [
      ["pointerdown", (event) => this.down(event)], ["pointermove", (event) => this.move(event)],
      ["pointerup", (event) => this.up(event)], ["pointercancel", (event) => this.up(event)],
      ["dblclick", (event) => this.pick(event, "left")],
      ["wheel", (event) => this.wheel(event)],
      ["contextmenu", (event) => event.preventDefault()],
    ];
    for (const [name, listener] of this.listeners) {
      this.element.addEventListener(name, listener, { passive: false });
    }
    this.element.style.touchAction = "none";
  }

  get isMoving() { return this.pointers.size > 0; }

  dispose() {
    for (const [name, listener] of this.listeners) this.element.removeEventListener(name, listener);
  }

  position(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width, height: box.height };
  }

  down(event) {
    if (!this.scene.camera) return;
    this.element.setPointerCapture(event.pointerId);
    this.element.focus({ preventScroll: true });
    this.pointers.set(event.pointerId, { ...this.position(event), button: event.button });
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const at = this.position(event);
    const dx = (at.x - before.x) / at.height, dy = (at.y - before.y) / at.height;
    const { camera } = this.scene;
    if (this.pointers.size > 1) this.pinch(event.pointerId, at);
    else if (before.button === 0) camera.rotate(dx, dy);
    else if (before.button === 2) camera.pan(dx, dy, event.shiftKey);
    else camera.zoom(dy);
    this.pointers.set(event.pointerId, { ...at, button: before.button });
    this.scene.isDirty = true;
  }

  // Two fingers shift and zoom.
  pinch(id, at) {
    const before = this.pointers.get(id), { camera } = this.scene;
    const [other] = [...this.pointers].find(([key]) => key !== id).slice(1);
    const apart = (p) => Math.hypot(p.x - other.x, p.y - other.y);
    camera.pan((at.x - before.x) / at.height / 2, (at.y - before.y) / at.height / 2, false);
    camera.zoom((apart(at) - apart(before)) / at.height);
  }

  up(event) { this.pointers.delete(event.pointerId); }

  wheel(event) {
    event.preventDefault();
    this.scene.camera?.zoom(-WHEEL * event.deltaY);
    this.scene.isDirty = true;
  }

  pick(event, button) {
    const { x, y, width, height } = this.position(event);
    const camera = this.scene.camera.message([x / width, 1 - y / height]);
    this.scene.send({ pick: { ...camera, button, ctrl: event.ctrlKey } });
  }

  picked({ body, local, button }) {
    if (button === "left") this.select(Math.max(body, 0), local);
  }

  select(body, local) {
    this.selected = body; this.local = local;
    const { view } = this.scene;
    if (view.drawing) { view.drawing.selected = body; view.drawing.reassign(); }
    if (this.scene.camera) this.scene.watch();
  }
}
