// Materials of geoms, whose shaders are in geom.glsl.
import { THREE } from "./three.js";

const MOST_LIGHTS = 8;
const SHADERS = await (await fetch(new URL("geom.glsl", import.meta.url))).text();

const NO_TEXTURE = 0, EXPLICIT = 1, GENERATED = 2, CUBE = 3;
export const TEXTURE = { NO_TEXTURE, EXPLICIT, GENERATED, CUBE };

// Set the shaders of a material for a number of lights.
function setShaders(material, lights, defines) {
  const source = SHADERS.replaceAll("LIGHT_COUNT", lights);
  material.defines = { ...defines, LIGHT_SPACE: Math.max(lights, 1) };
  material.vertexShader = `#define VERTEX\n${source}`;
  material.fragmentShader = source;
}

// Materials that share their lights, fog and shadow.
export class Materials {
  constructor() {
    const value = (v) => ({ value: v });
    this.shared = {
      lights: value([]), eye: value([0, 0, 0]), lightView: value(new THREE.Matrix4()),
      shadowMap: value(null), fogColour: value([0, 0, 0]), fogRange: value([0, 1]), far: value(1),
    };
    this.lamps = { count: 0, directional: 0, shadow: -1 };
    this.mode = 0; // 0: light, 1: plain colour, 2: depth
    this.isGouraud = false; this.hasFog = false; // light per vertex
    this.wireframe = false; this.cullFace = true; this.additive = false;
    this.known = new Map();
    this.depth = new THREE.ShaderMaterial({
      side: THREE.DoubleSide, colorWrite: false, polygonOffset: true, polygonOffsetFactor: 1.5,
      polygonOffsetUnits: 4,
    });
    setShaders(this.depth, 0, { UNLIT: "", TEXTURE: NO_TEXTURE, MODE: 1, SHADOW_LIGHT: -1 });
  }

  // Return the material with a texture, or null, and a way to map it.
  get(texture, mapping, { transparent = false, unlit = false, double = false } = {}) {
    const key = [texture?.uuid ?? "", mapping, transparent, unlit, double].join();
    let material = this.known.get(key);
    if (!material) {
      const own = { map: { value: mapping < CUBE ? texture : null },
        cube: { value: mapping === CUBE ? texture : null } };
      material = new THREE.ShaderMaterial({
        transparent, depthWrite: !transparent,
        uniforms: { ...this.shared, ...own },
      });
      material.forceSinglePass = true;
      material.userData = { mapping, unlit, double };
      this.known.set(key, material);
      this.prepare(material);
    }
    return material;
  }

  prepare(material) {
    const { mapping, unlit, double } = material.userData;
    const { count, directional, shadow } = this.lamps;
    const defines = { TEXTURE: mapping, MODE: this.mode, DIRECTIONAL: directional, SHADOW_LIGHT: shadow };
    if (unlit) defines.UNLIT = "";
    if (this.hasFog) defines.FOG = "";
    if (this.isGouraud) defines.CHEAP = "";
    if (this.isGouraud && !double) defines.GOURAUD = "";
    setShaders(material, count, defines);
    material.side = this.cullFace && !double ? THREE.FrontSide : THREE.DoubleSide;
    material.wireframe = this.wireframe && !unlit;
    material.blending = this.additive ? THREE.AdditiveBlending : THREE.NormalBlending;
    material.needsUpdate = true;
  }

  // Compile again after a change of the number of lights, the shadow, or of flags.
  refresh() { for (const material of this.known.values()) this.prepare(material); }

  // Set the lights; return the one that casts a shadow, or null.
  setLights(lights, eye, forward, hasShadow) {
    const used = lights.slice(0, MOST_LIGHTS);
    const shadow = hasShadow ? used.findIndex((light) => light.castshadow) : -1;
    this.shared.lights.value = used.map((light) =>
      (light.isHeadlight ? { ...light, position: eye, direction: forward } : light));
    this.shared.eye.value = eye;
    const directional = used.reduce((bits, light, i) => bits | light.isDirectional << i, 0);
    const lamps = { count: used.length, directional, shadow };
    if (Object.entries(lamps).some(([name, each]) => this.lamps[name] !== each)) {
      this.lamps = lamps;
      this.refresh();
    }
    return shadow < 0 ? null : used[shadow];
  }

  dispose() {
    for (const material of this.known.values()) material.dispose();
    this.known.clear();
  }
}
