// The scene of the page: connects to the server, draws what it sends, and reports what users do.
import { PageCamera } from "./camera.js";
import { Marks } from "./marks.js";
import { FRAME, PICTURE, readHeader, Slots } from "./stream.js";
import { Pointer } from "./pointer.js";
import { View } from "./view.js";

const RETRY_MS = 1000, REPORT_MS = 500, WINDOW_MS = 2000;
const REST_MS = 150; // a processor that draws rests after a press elsewhere on the page
const PRESSES = ["pointerdown", "click", "keydown"];
const LEAST_FPS = 10; // a slower page draws less, and then shows pictures
const FIRST_FRAMES = 4, MEASURED_FRAMES = 12; // not measured, because shaders are compiled; measured

// Show the scene in an element. `drawing` is "auto", "three" or "pictures"; `onEvent` gets
// "model", "options", "camera", "selected" and "drawing" with a value each.
// `above` is the share of the height that stays free above what is framed.
export function mountScene(element, settings = {}) {
  return new MountedScene(element, {
    socketUrl: "/scene", assetsUrl: "/scene/assets/", imagesUrl: "/pictures/scene/", drawing: "auto", above: 0, onEvent: () => {},
    ...settings,
  });
}

class MountedScene {
  constructor(element, settings) {
    this.element = element; this.settings = settings;
    if (getComputedStyle(element).position === "static") element.style.position = "relative";
    element.tabIndex = 0;
    const [canvas, pictures, marks] = ["", "", "pointer-events:none"].map((style) => {
      const each = document.createElement("canvas");
      each.style.cssText = `position:absolute;inset:0;width:100%;height:100%;${style}`;
      element.append(each);
      return each;
    });
    this.pictures = pictures.getContext("bitmaprenderer");
    this.marks = new Marks(marks);
    const software = isSoftware();
    try {
      this.view = new View(canvas, { antialias: !software, quality: software ? 1 : 2 });
    } catch (error) {
      console.warn(`three.js cannot draw: ${error.message}`);
      this.view = null;
    }
    this.end = new AbortController(); // of what it listens to
    this.signal = this.end.signal;
    this.restsUntil = 0;
    const rest = ({ target }) => {
      if (software && !element.contains(target)) this.restsUntil = performance.now() + REST_MS;
    };
    for (const type of PRESSES) document.addEventListener(type, rest, { capture: true, signal: this.signal });
    this.slots = new Slots();
    this.pointer = new Pointer(this);
    this.frames = []; this.offset = Infinity;
    this.options = null; this.render = null; // flags, groups, … of the server; flags of rendering
    this.setDrawing(settings.drawing);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(element);
    this.resize();
    this.connect();
    this.reporter = setInterval(() => this.report(), REPORT_MS);
    this.schedule();
  }

  schedule() {
    const loop = () => this.loop();
    if (this.view) { this.view.renderer.setAnimationLoop(loop); return; }
    const again = () => { loop(); if (!this.signal.aborted) requestAnimationFrame(again); };
    requestAnimationFrame(again);
  }

  // Set the camera: a pose, a followed body, or a camera of the model.
  setCamera({ followed, fixed, ...pose }) {
    const { camera } = this;
    if (!camera) return;
    if (followed !== undefined) camera.followed = followed;
    if (fixed !== undefined) camera.fixed = fixed;
    camera.setPose(pose);
    this.watch();
    this.reportCamera();
  }

  // Report the camera if it has changed.
  reportCamera() {
    const { camera } = this, value = { ...camera.pose, followed: camera.followed, fixed: camera.fixed };
    const text = JSON.stringify(value);
    if (text !== this.reportedCamera) this.settings.onEvent("camera", value);
    this.reportedCamera = text;
  }

  // Select a body; 0 selects none.
  select(body) {
    if (body !== this.pointer.selected) this.pointer.select(body, null);
  }

  // Show a body with all below it, or for 0 all bodies.
  frame(body = 0) {
    const { azimuth, elevation } = this.camera, { width, height } = this;
    this.send({ frame: { body, azimuth, elevation, aspect: width / height, above: this.settings.above } });
  }

  // Set visual flags, groups, label or frame (as `ViewOptions`), or flags of rendering.
  setOption({ render, ...options }) {
    if (render) {
      Object.assign(this.render, render);
      this.view?.setFlags(render);
    }
    if (Object.keys(options).length) {
      const { flags, groups } = this.options;
      Object.assign(this.options, options, { flags: { ...flags, ...options.flags },
        groups: { ...groups, ...options.groups } });
      this.send({ options });
    }
    this.pictureRequest = "";
    this.isDirty = true;
    this.settings.onEvent("options", { ...this.options, render: this.render });
  }

  // Draw by "three", show "pictures", or choose by measuring ("auto").
  setDrawing(drawing) {
    this.drawing = drawing;
    this.measured = drawing === "auto" && this.view ? [] : null;
    this.showPictures(drawing === "pictures" || !this.view);
  }

  showPictures(areShown) {
    this.arePictures = areShown;
    this.pictures.canvas.hidden = !areShown;
    this.pictureRequest = "";
    if (this.view && !areShown) this.view.renderer.domElement.hidden = false; // until the first picture
    if (!areShown) this.send({ picture: null });
    this.isDirty = true;
    this.settings.onEvent("drawing", areShown ? "pictures" : "three");
  }

  dispose() {
    this.end.abort();
    clearInterval(this.reporter);
    clearTimeout(this.retry);
    this.observer.disconnect();
    this.socket.close();
    this.view?.dispose();
    this.element.replaceChildren();
  }

  connect() {
    const url = new URL(this.settings.socketUrl, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.message(JSON.parse(data)); else this.receive(data);
    };
    this.socket.onclose = () => {
      this.isGreeted = false;
      if (!this.signal.aborted) this.retry = setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  message(message) {
    if (message.model) this.setModel(message.model, message.options);
    if (message.camera) this.setCamera(message.camera);
    if (message.picked) this.pointer.picked(message.picked);
    if (message.pictures) this.leavePictures(message.pictures);
  }

  // Draw without pictures, for a reason, which is shown if the browser cannot draw either.
  leavePictures(reason) {
    this.measured = null;
    if (this.view) { this.showPictures(false); return; }
    this.note(`This browser has no WebGL 2, and ${reason}`, "alert");
  }

  // Show a text over the scene; an empty one removes the last one.
  note(text, role) {
    const before = this.element.querySelector("p");
    if (text === (before?.textContent ?? "")) return;
    before?.remove();
    if (!text) return;
    const note = document.createElement("p");
    note.setAttribute("role", role);
    note.style.cssText = "position:absolute;margin:12px;padding:2px 8px;border-radius:4px;color:white;background:#000a";
    note.textContent = text;
    this.element.append(note);
  }

  setModel(model, options) {
    const isOther = model.scene !== this.model?.scene, kept = this.options;
    this.model = model;
    this.slots = new Slots();
    this.offset = Infinity;
    this.header = null;
    if (this.camera) this.camera.setModel(model, isOther); else this.camera = new PageCamera(model);
    this.render ??= Object.fromEntries(model.choices.render.map(([name, , on]) => [name, on]));
    const { assetsUrl, imagesUrl } = this.settings;
    const urls = { assetUrl: (name) => assetsUrl + name, imageUrl: (camera) => imagesUrl + camera };
    this.view?.setModel(model, urls, () => { this.isDirty = true; });
    this.view?.setFlags(this.render);
    this.options = options;
    if (!this.isGreeted && kept) this.setOption(kept); // a new connection
    this.isGreeted = true;
    this.pictureRequest = "";
    if (this.measured) this.measured = [];
    this.pointer.select(0, null);
    this.settings.onEvent("model", model);
  }

  // Tell the server which poses the page follows.
  watch() {
    const { followed, fixed } = this.camera;
    this.send({ watch: { followed, camera: fixed, selected: this.pointer.selected } });
    this.isDirty = true;
  }

  receive(buffer) {
    const header = readHeader(buffer);
    if (header.version !== this.model?.version) return;
    this.offset = Math.min(this.offset, performance.now() / 1000 - header.time);
    if (header.kind === PICTURE) { this.showPicture(buffer, header); return; }
    if (header.kind === FRAME) {
      const changed = this.slots.read(buffer, header);
      this.view?.drawing.apply(this.slots, changed);
    } else {
      this.slots.read(buffer, { ...header, count: this.slots.count });
    }
    this.header = header;
    this.isDirty = true;
  }

  async showPicture(buffer, header) {
    const file = new Blob([new Uint8Array(buffer, 32)], { type: "image/jpeg" });
    const picture = await createImageBitmap(file);
    this.send({ ack: header.sequence });
    if (!this.arePictures) return;
    this.pictures.transferFromImageBitmap(picture);
    if (this.view) this.view.renderer.domElement.hidden = true;
    this.header = header;
    this.frames.push(performance.now());
    this.isDirty = true;
  }

  loop() {
    const isMeasuring = this.measured !== null && !this.view?.drawing?.pending;
    if (!this.model || !(this.isDirty || isMeasuring) || performance.now() < this.restsUntil) return;
    this.isDirty = false;
    this.camera.update(this.slots.view, this.width, this.height);
    if (this.arePictures) this.requestPicture(); else this.draw();
    const pending = this.arePictures ? 0 : this.view?.drawing?.pending;
    if (this.view) this.note(pending ? `loading ${pending} meshes and textures` : "", "status");
    this.marks.draw(this.camera, this.slots, this.pointer.spring(), this.arePictures);
    if (isMeasuring && this.slots.count) this.measure(performance.now());
  }

  draw() {
    this.view.draw(this.camera, this.slots);
    this.frames.push(performance.now());
    if (this.header?.kind === FRAME && this.header.sequence !== this.acknowledged) {
      this.acknowledged = this.header.sequence;
      this.send({ ack: this.acknowledged });
    }
  }

  requestPicture() {
    const { camera, width, height, render } = this;
    const picture = JSON.stringify({ camera: camera.message(), width, height, render });
    if (picture === this.pictureRequest) return;
    this.pictureRequest = picture;
    this.send({ picture: JSON.parse(picture) });
  }

  // Draw less, and then show pictures, if the page is too slow.
  measure(now) {
    this.measured.push(now);
    const count = this.measured.length;
    if (count < FIRST_FRAMES + MEASURED_FRAMES) return;
    const spans = this.measured.slice(FIRST_FRAMES).map((time, i) => time - this.measured[FIRST_FRAMES - 1 + i]);
    const fps = 1000 / spans.sort((a, b) => a - b)[Math.floor(spans.length / 2)];
    this.measured = null;
    if (fps >= LEAST_FPS) return;
    if (this.view.quality > 1) {
      this.view.setQuality(1);
      this.resize();
      this.measured = [];
    } else {
      this.showPictures(true);
    }
  }

  // Show the rate of frames, and the age of the newest one, on the root element.
  report() {
    const now = performance.now();
    this.frames = this.frames.filter((time) => now - time < WINDOW_MS);
    const fps = 1000 * this.frames.length / WINDOW_MS;
    const lag = this.header ? Math.max(0, now / 1000 - this.header.time - this.offset) : 1e6;
    document.documentElement.dataset.fps = fps.toFixed(1);
    document.documentElement.dataset.lagS = lag.toFixed(2);
    if (!this.model) return;
    this.send({}); // a page that is silent ends its drag
    this.reportCamera();
  }

  resize() {
    this.width = Math.max(this.element.clientWidth, 16);
    this.height = Math.max(this.element.clientHeight, 16);
    const ratio = this.view?.quality > 1 ? Math.min(window.devicePixelRatio || 1, 2) : 1;
    this.view?.resize(this.width, this.height, ratio);
    this.marks.resize(this.width, this.height);
    this.isDirty = true;
  }
}

// Return whether the processor draws.
function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
