// The scene of the page: connects to the server, draws what it sends, and reports what users do.
import { PageCamera } from "./camera.js";
import { FRAME, readHeader, Slots } from "./stream.js";
import { Pointer } from "./pointer.js";
import { View } from "./view.js";

const RETRY_MS = 1000, REPORT_MS = 500;

export function mountScene(element, { socketUrl, token = "", assetsUrl = "/scene/assets/", onEvent = () => {} } = {}) {
  return new MountedScene(element, { socketUrl, token, assetsUrl, onEvent });
}

class MountedScene {
  constructor(element, settings) {
    this.element = element; this.settings = settings;
    element.style.position ||= "relative";
    element.tabIndex = 0;
    const canvas = () => {
      const each = document.createElement("canvas");
      each.style.cssText = "position:absolute;inset:0;width:100%;height:100%;display:block";
      element.append(each);
      return each;
    };
    this.canvas = canvas();
    this.labels = canvas();
    this.labels.style.pointerEvents = "none";
    const software = isSoftware();
    this.view = new View(this.canvas, this.labels, { antialias: !software, quality: software ? 1 : 2 });
    this.slots = new Slots();
    this.pointer = new Pointer(this);
    this.drawn = 0; this.frames = []; this.offset = Infinity;
    this.isDirty = true;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(element);
    this.resize();
    this.connect();
    this.reporter = setInterval(() => this.report(), REPORT_MS);
    this.view.renderer.setAnimationLoop(() => this.loop());
  }

  // Set the camera: a pose, a followed body, or a camera of the model.
  setCamera({ followed, fixed, ...pose }) {
    if (followed !== undefined) this.camera.followed = followed;
    if (fixed !== undefined) this.camera.fixed = fixed;
    this.camera.setPose(pose);
    this.watch();
  }

  // Show all bodies; the server answers with a camera.
  frame(body = 0) { this.send({ frame: { body, ...this.camera.pose } }); }

  // Set visual flags, groups, label or frame (as `ViewOptions`), or flags of rendering.
  setOption({ render, ...options }) {
    if (render) this.view.setFlags(render);
    if (Object.keys(options).length) this.send({ options });
    this.isDirty = true;
  }

  dispose() {
    this.isDisposed = true;
    clearInterval(this.reporter);
    clearTimeout(this.retry);
    this.observer.disconnect();
    this.pointer.dispose();
    this.socket?.close();
    this.view.dispose();
    this.canvas.remove();
    this.labels.remove();
  }

  connect() {
    const url = new URL(this.settings.socketUrl ?? "/scene", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    if (this.settings.token) url.searchParams.set("token", this.settings.token);
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.message(JSON.parse(data)) : this.receive(data));
    this.socket.onclose = () => {
      this.settings.onEvent("connection", false);
      if (!this.isDisposed) this.retry = setTimeout(() => this.connect(), RETRY_MS);
    };
    this.socket.onopen = () => this.settings.onEvent("connection", true);
  }

  send(message) { if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message)); }

  message(message) {
    if (message.model) this.setModel(message.model);
    if (message.camera) this.setCamera(message.camera);
    if (message.selected) this.pointer.select(message.selected.body, null);
    if (message.picked) this.pointer.picked(message.picked);
    this.settings.onEvent("message", message);
  }

  setModel(model) {
    const isOther = model.scene !== this.model?.scene;
    this.model = model;
    if (this.camera) this.camera.setModel(model, isOther); else this.camera = new PageCamera(model);
    this.slots = new Slots();
    this.offset = Infinity;
    const url = (name) => this.settings.assetsUrl + name;
    this.view.setModel(model, url, () => { this.isDirty = true; });
    this.pointer.select(0, null);
    this.options = model.options;
    this.watch();
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
    if (header.kind === FRAME) this.view.drawing.apply(this.slots, this.slots.read(buffer, header));
    this.header = header;
    this.isDirty = true;
  }

  loop() {
    const now = performance.now();
    if (!this.model || !(this.isDirty || this.pointer.isMoving || this.isMeasuring)) return;
    this.isDirty = false;
    this.camera.update(this.slots.view, this.view.width, this.view.height);
    this.view.draw(this.camera, this.slots);
    this.frames.push(now);
    if (this.header && this.header.sequence !== this.acknowledged) {
      this.acknowledged = this.header.sequence;
      this.send({ ack: this.acknowledged });
    }
  }

  // Show the rate of frames, and the age of the newest one, on the root element.
  report() {
    const now = performance.now();
    this.frames = this.frames.filter((time) => now - time < 2000);
    const fps = this.frames.length / 2;
    const lag = this.header ? Math.max(0, now / 1000 - this.header.time - this.offset) : Infinity;
    document.documentElement.dataset.fps = fps.toFixed(1);
    document.documentElement.dataset.lagS = lag.toFixed(2);
    if (this.model) this.send({ report: { fps, lag_s: Math.min(lag, 1e6) } });
  }

  resize() {
    const { clientWidth, clientHeight } = this.element;
    const ratio = this.view.quality > 1 ? Math.min(window.devicePixelRatio || 1, 2) : 1;
    this.view.resize(Math.max(clientWidth, 1), Math.max(clientHeight, 1), ratio);
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
