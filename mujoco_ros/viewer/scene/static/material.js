// The light model of MuJoCo's renderer: OpenGL's fixed functions, in a shader of our own.
import { THREE } from "./three.js";

const MOST_LIGHTS = 8;

// Return the light on a point, written out for each lamp: a loop takes twice as long in software.
function lighting({ count, directional, shadow }, isCheap) {
  const each = (i) => `{
    vec3 ray = -lightDirection[${i}];
    float strength = 1.0;
    ${directional >> i & 1 ? "" : `
      vec3 offset = lightPosition[${i}] - point;
      float range = max(length(offset), 1e-6);
      ray = offset / range;
      float cosine = dot(-ray, lightDirection[${i}]);
      strength = cosine < lightKind[${i}].x ? 0.0 : pow(max(cosine, 1e-6), lightKind[${i}].y);
      strength /= dot(lightAttenuation[${i}], vec3(1.0, range, range * range));`}
    float facing = dot(normal, ray);
    vec3 sum = (lightAmbient[${i}] + max(facing, 0.0) * lightDiffuse[${i}]) * tint.rgb;
    if (facing > 0.0) {
      float shine = max(dot(normal, normalize(ray + back)), 1e-6);
      sum += lightSpecular[${i}] * (shade.y * power(shine, shade.z));
    }
    ${i === shadow ? "if (shade.w > 0.5) shadowed += strength * sum; else" : ""}
    steady += strength * sum;
  }`;
  const size = Math.max(count, 1);
  return `
    uniform vec3 lightPosition[${size}], lightDirection[${size}], lightAttenuation[${size}];
    uniform vec3 lightAmbient[${size}], lightDiffuse[${size}], lightSpecular[${size}];
    uniform vec2 lightKind[${size}];  // cosine of the cutoff, and exponent
    uniform vec3 eye;

    float power(float base, float exponent) {
      // The cheap curve has the same value and slope at 1 (Schlick 1994).
      return ${isCheap ? "base / (exponent - exponent * base + base)" : "pow(base, exponent)"};
    }

    // Shade: emission, specular, shininess, and whether the point receives shadows.
    void illuminate(vec3 point, vec3 normal, vec4 tint, vec4 shade, out vec3 steady, out vec3 shadowed) {
      steady = (shade.x + ${count ? "0.0" : "0.3"}) * tint.rgb;
      shadowed = vec3(0.0);
      vec3 back = normalize(eye - point);
      ${Array.from({ length: count }, (_, i) => each(i)).join("")}
      steady = min(steady, 1.0);
      shadowed = min(shadowed, 1.0);
    }`;
}

const PLACE = `
  attribute vec2 cap;
  attribute vec3 place, size;
  attribute vec4 turn, tint, shade, pattern;

  vec3 turned(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
  vec3 scales() { return vec3(size.xy, mix(size.z, 0.5 * (size.x + size.y), cap.x)); }
  vec3 placed() {
    return place + turned(position * scales() + vec3(0.0, 0.0, cap.y * size.z));
  }
`;

const vertexShader = (light) => `
  ${PLACE}
  varying vec3 vPoint, vNormal, vTexture, vSteady, vShadowed;
  varying vec4 vTint, vShade;
  uniform mat4 mirror;
  #ifdef GOURAUD
    ${light}
  #endif
  void main() {
    vPoint = placed();
    vNormal = turned(normal / scales());
    vTint = tint;
    vShade = shade;
    #if TEXTURE == 3
      vTexture = position * pattern.xyz;
    #elif TEXTURE == 2
      vTexture = vec3(position.xy * pattern.xy + pattern.zw, 0.0);
    #else
      vTexture = vec3(uv * pattern.xy + pattern.zw, 0.0);
    #endif
    #ifdef GOURAUD
      illuminate(vPoint, normalize(vNormal), vTint, vShade, vSteady, vShadowed);
    #endif
    gl_Position = projectionMatrix * viewMatrix * mirror * vec4(vPoint, 1.0);
  }
`;

const fragmentShader = (light) => `
  precision highp sampler2DShadow;
  varying vec3 vPoint, vNormal, vTexture, vSteady, vShadowed;
  varying vec4 vTint, vShade;
  uniform sampler2D map;
  uniform samplerCube cube;
  uniform vec4 clip;  // plane of a mirror: points below it are left out
  uniform vec3 fogColour;
  uniform vec2 fogRange;  // start and end [m]
  uniform float far, dim;
  #if SHADOW_LIGHT >= 0
    uniform mat4 lightView;  // from the world to the shadow map
    uniform sampler2DShadow shadowMap;
  #endif
  ${light}
  void main() {
    #ifdef MIRROR
      if (dot(clip, vec4(vPoint, 1.0)) < 0.0) discard;
    #endif
    vec4 tint = vTint;
    #ifdef UNLIT
      vec3 steady = tint.rgb, shadowed = vec3(0.0);
    #elif defined(GOURAUD)
      vec3 steady = vSteady, shadowed = vShadowed;
    #else
      vec3 steady, shadowed;
      illuminate(vPoint, normalize(vNormal), tint, vShade, steady, shadowed);
    #endif
    #if TEXTURE == 3
      vec4 texel = texture(cube, vTexture);
    #elif TEXTURE > 0
      vec4 texel = texture2D(map, vTexture.xy);
    #else
      vec4 texel = vec4(1.0);
    #endif
    vec3 colour = steady * texel.rgb;
    #if SHADOW_LIGHT >= 0
      vec4 seen = lightView * vec4(vPoint, 1.0);
      vec3 at = seen.xyz / seen.w * 0.5 + 0.5;
      bool inside = all(greaterThan(at, vec3(0.0))) && all(lessThan(at, vec3(1.0)));
      float open = inside ? texture(shadowMap, at) : 1.0;
      colour += open * shadowed * texel.rgb;
    #endif
    colour = min(colour, 1.0);
    #if defined(FOG) || MODE == 2
      float depth = -(viewMatrix * vec4(vPoint, 1.0)).z;
    #endif
    #ifdef FOG
      colour = mix(fogColour, colour, clamp((fogRange.y - depth) / (fogRange.y - fogRange.x), 0.0, 1.0));
    #endif
    gl_FragColor = vec4(dim * colour, tint.a * texel.a);
    #if MODE == 1
      gl_FragColor = vec4(tint.rgb, 1.0);
    #elif MODE == 2
      gl_FragColor = vec4(vec3(depth / far), 1.0);
    #endif
  }
`;

const NO_TEXTURE = 0, EXPLICIT = 1, GENERATED = 2, CUBE = 3;
export const TEXTURE = { NO_TEXTURE, EXPLICIT, GENERATED, CUBE };

// Materials that share their lights, fog and shadow.
export class Materials {
  constructor() {
    const vectors = () => Array.from({ length: MOST_LIGHTS }, () => new THREE.Vector3());
    const value = (v) => ({ value: v });
    this.shared = {
      lightPosition: value(vectors()), lightDirection: value(vectors()),
      lightAttenuation: value(vectors()), lightAmbient: value(vectors()),
      lightDiffuse: value(vectors()), lightSpecular: value(vectors()),
      lightKind: value(Array.from({ length: MOST_LIGHTS }, () => new THREE.Vector2())),
      eye: value(new THREE.Vector3()), lightView: value(new THREE.Matrix4()),
      shadowMap: value(null), mirror: value(new THREE.Matrix4()),
      clip: value(new THREE.Vector4(0, 0, 0, 1)), fogColour: value(new THREE.Vector3()),
      fogRange: value(new THREE.Vector2()), far: value(1), dim: value(1),
    };
    this.lamps = { count: 0, directional: 0, shadow: -1 };
    this.mode = 0; // 0: light, 1: plain colour, 2: depth
    this.isGouraud = false; this.hasFog = false; // light per vertex
    this.wireframe = false; this.cullFace = true; this.additive = false;
    this.known = new Map();
    this.depth = new THREE.ShaderMaterial({
      vertexShader: `${PLACE} void main() {
        gl_Position = projectionMatrix * viewMatrix * vec4(placed(), 1.0); }`,
      fragmentShader: "void main() { gl_FragColor = vec4(1.0); }",
      side: THREE.DoubleSide, colorWrite: false, polygonOffset: true, polygonOffsetFactor: 1.5,
      polygonOffsetUnits: 4,
    });
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
    const light = lighting(this.lamps, this.isGouraud), { shadow } = this.lamps;
    material.defines = { TEXTURE: mapping, MODE: this.mode, SHADOW_LIGHT: shadow };
    if (unlit) material.defines.UNLIT = "";
    if (this.hasFog) material.defines.FOG = "";
    if (this.isGouraud && !double) material.defines.GOURAUD = "";
    material.vertexShader = vertexShader(light);
    material.fragmentShader = fragmentShader(light);
    material.side = this.cullFace && !double ? THREE.FrontSide : THREE.DoubleSide;
    material.wireframe = this.wireframe && !unlit;
    material.blending = this.additive ? THREE.AdditiveBlending : THREE.NormalBlending;
    material.needsUpdate = true;
  }

  // Compile again after a change of the number of lights, the shadow, or of flags.
  refresh() { for (const material of this.known.values()) this.prepare(material); }

  // Set the lights; return the one that casts a shadow, or null.
  setLights(lights, eye, forward, hasShadow) {
    const used = lights.slice(0, MOST_LIGHTS), shared = this.shared;
    const shadow = hasShadow ? used.findIndex((light) => light.castshadow) : -1;
    used.forEach((light, i) => {
      const set = (name, v) => shared[name].value[i].set(...v);
      const direction = light.isHeadlight ? forward : light.direction;
      set("lightPosition", light.isHeadlight ? eye : light.position);
      set("lightDirection", direction);
      set("lightAttenuation", light.attenuation);
      set("lightAmbient", light.ambient); set("lightDiffuse", light.diffuse);
      set("lightSpecular", light.specular);
      const cosine = light.cutoff >= 180 ? -2 : Math.cos(light.cutoff * Math.PI / 180);
      set("lightKind", [cosine, light.exponent]);
    });
    shared.eye.value.set(...eye);
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
