// Marks over the picture: texts, the spring of a pull, and the handles of frames, which can be dragged.
import { THREE } from "./three.js";

const LENGTH_PX = 70, RING = 0.75; // length of the axes of a frame; radius of rings in lengths
const GRIP_PX = 12, TOUCH_PX = 24; // how close to a handle a press grips it
const LEAST_SINE_SQUARED = 0.1; // limits the motion along an axis that points at the camera
const MOST_DRAG = 2; // largest motion of a drag, in distances to the camera

const vector = (v) => new THREE.Vector3(...v);
const quaternion = ([w, x, y, z]) => new THREE.Quaternion(x, y, z, w);
const wxyz = (q) => [q.w, q.x, q.y, q.z];
const css = (colour) => `rgb(${colour.map((c) => Math.round(255 * c)).join(" ")})`;

export class Marks {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.drag = null;
  }

  resize(width, height) {
    const sharp = window.devicePixelRatio || 1;
    Object.assign(this, { width, height, sharp });
    this.canvas.width = Math.round(width * sharp);
    this.canvas.height = Math.round(height * sharp);
  }

  // Return the pixel of a point; null behind the camera.
  pixel(camera, point) {
    const at = point.clone().project(camera.three);
    if (Math.abs(at.z) > 1) return null;
    return [(at.x + 1) / 2 * this.width, (1 - at.y) / 2 * this.height];
  }

  // Pictures contain the texts.
  draw(camera, slots, spring, arePictures) {
    const { context } = this, labels = arePictures ? [] : slots.labels;
    const hasTexts = labels.some(Boolean);
    // An empty canvas costs a browser without a graphics card as much as a full one.
    this.canvas.hidden = !(hasTexts || spring || slots.entries.length);
    if (this.canvas.hidden) return;
    context.setTransform(this.sharp, 0, 0, this.sharp, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const at = new THREE.Vector3();
    labels.forEach((text, slot) => {
      if (text) this.text(this.pixel(camera, at.fromArray(slots.places, 7 * slot)), text);
    });
    if (spring) {
      const ends = spring.map((point) => this.pixel(camera, point));
      this.line(ends, "rgb(255 220 60)", 3);
      for (const end of ends) this.dot(end, 5, "rgb(255 220 60)");
    }
    for (const entry of slots.entries) this.drawFrame(camera, this.current(entry));
  }

  // Return an entry where the drag in progress has it.
  current(entry) {
    const held = this.drag?.entry.name === entry.name ? this.drag.pose : null;
    return { ...entry, position: held?.position ?? vector(entry.position),
      turn: held?.turn ?? quaternion(entry.quat) };
  }

  drawFrame(camera, entry) {
    const origin = this.pixel(camera, entry.position);
    if (!origin) return;
    for (const grip of this.grips(camera, entry)) {
      const colour = this.drag?.grip.control.name === grip.control.name
        && this.drag.entry.name === entry.name ? "rgb(255 255 120)" : css(grip.control.colour);
      const pixel = this.pixel(camera, grip.point);
      if (grip.control.kind === "move") this.line([origin, pixel], colour, 3);
      if (grip.control.kind === "turn") {
        const radius = grip.point.clone().sub(entry.position), points = [];
        for (let k = -6; k <= 6; k++) {
          const turned = radius.clone().applyAxisAngle(grip.axis, k * Math.PI / 24);
          points.push(this.pixel(camera, turned.add(entry.position)));
        }
        this.line(points, colour, 2);
      }
      this.dot(pixel, grip.control.kind === "turn" ? 4 : 6, colour);
    }
    this.text([origin[0] + 9, origin[1] + 18], entry.label);
  }

  // Return where the handles of a frame are gripped, and their axes in the world.
  grips(camera, entry) {
    const length = LENGTH_PX * camera.pixelSize(entry.position, this.height);
    return entry.controls.map((control) => {
      // Axes that face the camera are given forwards, left and up.
      const [x, y, z] = control.axis, { faces } = control;
      const turn = faces ? camera.three.quaternion : entry.turn;
      const toWorld = ([a, b, c]) => (faces ? new THREE.Vector3(-b, c, -a) : new THREE.Vector3(a, b, c))
        .applyQuaternion(turn);
      const axis = toWorld([x, y, z]);
      let [along, direction] = [axis.clone(), axis];
      if (control.kind === "view" || control.central) along.set(0, 0, 0);
      else if (control.kind === "turn" || control.kind === "plane") {
        const [a, b, c] = control.axis.map(Math.abs);
        const first = toWorld(a > b && a > c ? [0, 1, 0] : b > c ? [0, 0, 1] : [1, 0, 0])
          .projectOnPlane(axis).normalize();
        along = first.clone().add(axis.clone().cross(first)).multiplyScalar(RING / Math.SQRT2);
        direction = axis.clone().cross(along).normalize();
      }
      return { control, axis, direction, point: along.multiplyScalar(length).add(entry.position) };
    });
  }

  // Grip the handle at a pixel; return whether there is one.
  grip(camera, slots, x, y, isTouch) {
    let nearest = isTouch ? TOUCH_PX : GRIP_PX;
    for (const each of slots.entries) {
      const entry = this.current(each);
      for (const grip of this.grips(camera, entry)) {
        const pixel = this.pixel(camera, grip.point);
        const distance = pixel ? Math.hypot(pixel[0] - x, pixel[1] - y) : Infinity;
        if (distance >= nearest) continue;
        nearest = distance;
        const pose = { position: entry.position.clone(), turn: entry.turn.clone() };
        this.drag = { entry: each, grip, pose, start: { ...pose }, x, y };
      }
    }
    return this.drag !== null;
  }

  // Drag the gripped handle to a pixel; return the message for the server.
  dragTo(camera, x, y, phase) {
    const { grip, start, pose } = this.drag;
    const ray = new THREE.Vector3(), { point, axis, direction, control } = grip;
    const s = camera.pixelSize(point, this.height), q = camera.three.quaternion;
    const offset = new THREE.Vector3(s * (x - this.drag.x), s * (this.drag.y - y), 0).applyQuaternion(q);
    camera.three.getWorldDirection(ray);
    const limit = MOST_DRAG * point.distanceTo(camera.three.position);
    if (!camera.frustum.flat) ray.copy(point).add(offset).sub(camera.three.position).normalize();
    const along = () => {
      const cosine = direction.dot(ray);
      const share = Math.max(1 - cosine * cosine, LEAST_SINE_SQUARED);
      const distance = (offset.dot(direction) - cosine * offset.dot(ray)) / share;
      return Math.min(Math.max(distance, -limit), limit);
    };
    if (control.kind === "turn") {
      const angle = along() / point.distanceTo(start.position);
      pose.turn = new THREE.Quaternion().setFromAxisAngle(axis, angle).multiply(start.turn);
    } else if (control.kind === "move") {
      pose.position = start.position.clone().addScaledVector(direction, along());
    } else {
      if (control.kind === "plane") {
        const slope = axis.dot(ray), least = Math.sqrt(LEAST_SINE_SQUARED);
        const steep = Math.sign(slope || 1) * Math.max(Math.abs(slope), least);
        offset.addScaledVector(ray, -axis.dot(offset) / steep).projectOnPlane(axis);
        offset.clampLength(0, limit);
      }
      pose.position = start.position.clone().add(offset);
    }
    return this.held(phase);
  }

  // Return where the drag has its frame, as a message for the server.
  held(phase) {
    const { entry, grip, pose } = this.drag;
    return { frame: entry.name, handle: grip.control.name, phase,
      position: pose.position.toArray(), quat_wxyz: wxyz(pose.turn) };
  }

  text(pixel, text) {
    if (!pixel) return;
    const { context } = this;
    context.font = "12px system-ui, sans-serif";
    context.lineWidth = 3;
    context.strokeStyle = "rgb(0 0 0 / 70%)";
    context.strokeText(text, ...pixel);
    context.fillStyle = "white";
    context.fillText(text, ...pixel);
  }

  line(pixels, colour, width) {
    if (pixels.includes(null)) return;
    const { context } = this;
    context.beginPath();
    pixels.forEach((pixel) => context.lineTo(...pixel));
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
  }

  dot(pixel, radius, colour) {
    if (!pixel) return;
    const { context } = this;
    context.beginPath();
    context.arc(...pixel, radius, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  }
}
