// Draws the scene of a model into a canvas: geoms, sky, haze and shadow.
import { THREE } from "./three.js";
import { CASTS, Drawing } from "./drawing.js";
import { hazeMesh, placeHaze, REACH, skyMesh } from "./sky.js";

const LEAST_SHADOW = 512;

export class View {
  constructor(canvas, { antialias, quality }) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias, alpha: false, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // values are written as they are
    this.renderer.shadowMap.autoUpdate = false;
    this.scene = new THREE.Scene();
    this.scene.matrixWorldAutoUpdate = false;
    this.quality = quality; // 2: all effects, 1: neither shadow nor light per pixel
    this.flags = {};
    this.width = this.height = 1;
  }

  setModel(model, urls, onLoad) {
    this.clear();
    this.model = model;
    this.drawing = new Drawing(model, urls, () => { this.addSky(); onLoad(); },
      this.quality > 1 ? 4 : 1);
    this.scene.add(this.drawing.group);
    this.haze = hazeMesh(model.haze, model.slices);
    this.scene.add(this.haze);
    this.addSky();
    this.setQuality(this.quality);
    this.setFlags(Object.fromEntries(model.choices.render.map(([name, , on]) => [name, on])));
  }

  addSky() {
    const asset = this.model.assets.textures.find((texture) => texture.is_sky && texture.is_image);
    const texture = asset && this.drawing.loadTexture(asset);
    if (this.sky || !texture) return;
    this.sky = skyMesh(texture);
    this.sky.visible = this.showsSky;
    this.scene.add(this.sky);
  }

  setQuality(quality) {
    this.quality = quality;
    this.drawing.materials.isGouraud = quality < 2;
    this.drawing.materials.refresh();
    this.shadowTarget?.dispose();
    this.shadowTarget = null;
  }

  // Set rendering flags by MuJoCo's names.
  setFlags(flags) {
    Object.assign(this.flags, flags);
    const { materials } = this.drawing, all = this.flags;
    materials.wireframe = !!all.Wireframe;
    materials.cullFace = all["Cull Face"] !== false;
    materials.additive = !!all.Additive;
    const { fog, far } = this.model, { shared } = materials;
    shared.fogColour.value = fog.colour;
    shared.fogRange.value = [fog.start, fog.end];
    shared.far.value = far;
    materials.hasFog = !!all.Fog;
    materials.mode = all.Segment ? 1 : all.Depth ? 2 : 0;
    const isFoggy = all.Fog && fog.end < REACH * far; // fog hides the sky, as in MuJoCo's renderer
    this.showsSky = all.Skybox !== false && !all.Segment && !all.Depth && !isFoggy;
    if (this.sky) this.sky.visible = this.showsSky;
    this.renderer.setClearColor(new THREE.Color(...(isFoggy && !all.Segment ? fog.colour : [0, 0, 0])));
    this.drawing.segmented = all.Segment ? (all["Id Color"] ? "id" : "random") : false;
    materials.refresh();
    this.drawing.reassign();
  }

  resize(width, height, ratio) {
    this.width = width; this.height = height; this.ratio = ratio;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
  }

  draw(camera, slots) {
    const { drawing } = this, three = camera.three, eye = three.position;
    const forward = new THREE.Vector3();
    three.getWorldDirection(forward);
    drawing.centrePlanes(eye);
    const hasShadow = this.quality > 1 && this.flags.Shadow && this.model.shadow.size > 0;
    const light = drawing.materials.setLights(slots.lights, eye.toArray(), forward.toArray(), hasShadow);
    const infinite = drawing.planes[0];
    this.haze.visible = !!this.sky?.visible && this.flags.Haze && infinite !== undefined
      && this.placeHaze(eye, slots, infinite);
    if (light) this.drawShadow(light);
    this.renderer.render(this.scene, three);
  }

  placeHaze(eye, slots, slot) {
    const p = Array.from(slots.places.subarray(7 * slot, 7 * slot + 7));
    return placeHaze(this.haze, eye, p.slice(0, 3), p.slice(3), this.model.far);
  }

  // Draw what the light sees into the shadow map.
  drawShadow(light) {
    const { shadow, near, far } = this.model, { materials } = this.drawing;
    if (!this.shadowTarget) {
      const most = Math.min(shadow.size, this.renderer.capabilities.maxTextureSize, 4096);
      const side = Math.max(most, LEAST_SHADOW);
      const depth = new THREE.DepthTexture(side, side, THREE.FloatType);
      depth.compareFunction = THREE.LessEqualCompare;
      this.shadowTarget = new THREE.WebGLRenderTarget(side, side, { depthTexture: depth });
      materials.shared.shadowMap.value = depth;
    }
    const c = shadow.clip, d = new THREE.Vector3(...light.direction);
    const camera = light.isDirectional ? new THREE.OrthographicCamera(-c, c, c, -c, near, far)
      : new THREE.PerspectiveCamera(Math.min(2 * light.cutoff * shadow.scale, 160), 1, near, far);
    camera.layers.set(CASTS);
    camera.position.set(...light.position);
    camera.up.set(...(Math.abs(d.z) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    camera.lookAt(d.add(camera.position));
    camera.updateMatrixWorld();
    materials.shared.lightView.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    const { renderer, scene } = this;
    const before = renderer.xr.enabled;
    renderer.xr.enabled = false;
    scene.overrideMaterial = materials.depth;
    renderer.setRenderTarget(this.shadowTarget);
    renderer.clear();
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
    scene.overrideMaterial = null;
    renderer.xr.enabled = before;
  }

  clear() {
    if (!this.drawing) return;
    this.scene.remove(this.drawing.group);
    this.drawing.dispose();
    for (const mesh of [this.sky, this.haze]) {
      if (mesh) { this.scene.remove(mesh); mesh.material.dispose(); }
    }
    this.sky = this.haze = null;
  }

  dispose() {
    this.clear();
    this.shadowTarget?.dispose();
    this.renderer.setAnimationLoop(null);
    this.renderer.dispose();
  }
}
