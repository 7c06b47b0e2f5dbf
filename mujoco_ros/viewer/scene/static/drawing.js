// Draws the geoms of the scene: those of one shape and texture are instances of one mesh.
import { THREE } from "./three.js";
import { GEOM, geometryOf, imagedCamera, readGeometry } from "./shapes.js";
import { Materials, TEXTURE } from "./material.js";
import { REACH } from "./sky.js";
import { unitShape } from "./unit_shapes.js";

export const CASTS = 1; // layer of what casts shadows
const OPAQUE = 0.995; // least opacity that MuJoCo draws as opaque
const RETRY_MS = 2000; // from an asset that was not loaded to the next attempt
const IMAGE_MS = 150; // from an image of a camera to the next one
const DECOR = 4; // category of geoms that cast no shadow
const INSTANCED = { place: 3, size: 3, turn: 4, tint: 4, shade: 4, pattern: 4 };

// Instances of a shape, in arrays that grow.
class Batch {
  constructor(shape, material, isLine) {
    this.slots = []; this.at = new Map();
    this.shape = shape;
    this.mesh = isLine ? new THREE.LineSegments(undefined, material) : new THREE.Mesh(undefined, material);
    this.mesh.frustumCulled = false;
    this.mesh.matrixAutoUpdate = false;
    this.grow(4);
  }

  // Continue with room for more; three.js keeps bindings of attributes for each geometry.
  grow(capacity) {
    const before = this.geometry, geometry = new THREE.InstancedBufferGeometry();
    for (const [name, attribute] of Object.entries(this.shape.attributes)) {
      geometry.setAttribute(name, attribute);
    }
    geometry.setIndex(this.shape.index);
    for (const [name, size] of Object.entries(INSTANCED)) {
      const array = new Float32Array(capacity * size);
      if (before) array.set(before.getAttribute(name).array);
      const attribute = new THREE.InstancedBufferAttribute(array, size);
      attribute.setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(name, attribute);
    }
    if (before) this.dispose();
    this.geometry = this.mesh.geometry = geometry;
    this.capacity = capacity;
  }

  add(slot) {
    if (this.slots.length === this.capacity) this.grow(2 * this.capacity);
    this.at.set(slot, this.slots.length);
    this.slots.push(slot);
    this.geometry.instanceCount = this.slots.length;
  }

  // Remove a slot; the last one takes its place.
  remove(slot) {
    const at = this.at.get(slot), last = this.slots.pop(), from = this.slots.length;
    this.at.delete(slot);
    this.geometry.instanceCount = from;
    if (last === slot) return;
    this.slots[at] = last;
    this.at.set(last, at);
    for (const [name, size] of Object.entries(INSTANCED)) {
      const attribute = this.geometry.getAttribute(name);
      attribute.array.copyWithin(at * size, from * size, (from + 1) * size);
      attribute.needsUpdate = true;
    }
  }

  set(slot, name, values) {
    const attribute = this.geometry.getAttribute(name);
    attribute.array.set(values, this.at.get(slot) * attribute.itemSize);
    attribute.needsUpdate = true;
  }

  // Free the buffers, but for those of the shape, which other batches have too.
  dispose() {
    if (!this.isSingle) for (const name of Object.keys(this.shape.attributes)) this.geometry.deleteAttribute(name);
    this.geometry.setIndex(null);
    this.geometry.dispose();
  }
}

// The meshes of all geoms, as a group of three.js.
export class Drawing {
  constructor(model, { assetUrl, imageUrl }, onLoad, anisotropy) {
    this.anisotropy = anisotropy;
    this.model = model; this.assetUrl = assetUrl; this.imageUrl = imageUrl; this.onLoad = onLoad;
    this.group = new THREE.Group();
    this.materials = new Materials();
    this.loaded = new Map(); // shapes and textures by name of their asset; null while they load
    this.batches = new Map(); this.batchOf = new Map();
    this.planes = []; // slots of infinite planes
    this.pending = 0;
    this.segmented = false; this.selected = 0;
    this.softShapes = new Map();
  }

  // Apply the changes of a frame.
  apply(slots, changed) {
    this.slots = slots;
    for (const slot of changed.removed) this.remove(slot);
    for (const slot of changed.looks) this.assign(slot);
    for (const slot of changed.soft) this.assign(slot);
    for (const slot of changed.moved) if (!changed.looks.has(slot)) this.place(slot);
  }

  // Assign all slots again, after an asset has arrived or a flag has changed.
  reassign() {
    if (!this.slots) return;
    for (let slot = 0; slot < this.slots.count; slot++) this.assign(slot);
  }

  remove(slot) {
    const batch = this.batchOf.get(slot);
    if (!batch) return;
    batch.remove(slot);
    this.batchOf.delete(slot);
    this.planes = this.planes.filter((each) => each !== slot);
    if (!batch.slots.length) {
      this.group.remove(batch.mesh);
      batch.dispose();
      this.batches.delete(batch.key);
    }
  }

  assign(slot) {
    const look = this.slots.looks[slot];
    const shape = look && this.shapeOf(look, slot);
    if (!shape || !this.slots.sizes[slot]) { this.remove(slot); return; }
    const [texture, mapping] = this.segmented ? [null, 0] : this.textureOf(look);
    const isTransparent = look.rgba[3] < OPAQUE && !this.segmented;
    const isLine = look.type === GEOM.LINE || look.type === GEOM.LINEBOX;
    const options = { transparent: isTransparent, unlit: isLine,
      double: look.type === GEOM.TRIANGLE || imagedCamera(look) >= 0 };
    const casts = look.category !== DECOR && !isLine && look.castshadow;
    // Transparent geoms are sorted by their distance, so each is a mesh of its own.
    const single = isTransparent || look.type === GEOM.TRIANGLE ? slot : "";
    const key = [shape.uuid, texture?.uuid, mapping, casts, single, isLine].join();
    let batch = this.batchOf.get(slot);
    if (batch?.key !== key) {
      this.remove(slot);
      batch = this.batches.get(key);
      if (!batch) {
        const material = this.materials.get(texture, mapping, options);
        batch = new Batch(shape, material, isLine);
        batch.key = key;
        batch.isSingle = look.type === GEOM.TRIANGLE; // its shape is its own
        if (casts) batch.mesh.layers.enable(CASTS);
        this.batches.set(key, batch);
        this.group.add(batch.mesh);
      }
      batch.add(slot);
      this.batchOf.set(slot, batch);
      if (this.isInfinite(look) && !this.planes.includes(slot)) this.planes.push(slot);
    }
    batch.isTransparent = isTransparent;
    batch.mapping = mapping;
    this.paint(slot, batch, look, mapping, isTransparent);
    this.place(slot);
  }

  isInfinite(look) {
    const plane = look.type === GEOM.PLANE && this.model.planes[look.dataid];
    return plane && !(plane.size[0] > 0 || plane.size[1] > 0);
  }

  paint(slot, batch, look, mapping, isTransparent) {
    let [r, g, b, a] = look.rgba;
    if (this.segmented && look.segid >= 0) [r, g, b] = this.segmentColour(look.segid);
    // MuJoCo draws transparent geoms twice, front to back and back to front.
    const opacity = isTransparent && !this.materials.additive ? 1 - (1 - a) ** 2 : a;
    batch.set(slot, "tint", [r, g, b, opacity]);
    const isSelected = this.selected > 0 && look.objtype === 5
      && this.model.geom_bodies[look.objid] === this.selected;
    const emission = look.emission + (isSelected ? this.model.glow : 0);
    batch.set(slot, "shade",
      [emission, look.specular, 128 * look.shininess, isTransparent ? 0 : 1]);
    batch.set(slot, "pattern", this.pattern(slot, look, mapping));
    batch.mesh.renderOrder = isTransparent ? 3 : 0;
  }

  segmentColour(segid) {
    if (this.segmented === "id") {
      return [0, 8, 16].map((shift) => ((segid + 1) >> shift & 255) / 255);
    }
    const halton = (index, base) => {
      let sum = 0, share = 1 / base;
      for (let n = index; n > 0; n = Math.floor(n / base), share /= base) sum += share * (n % base);
      return sum;
    };
    return [2, 3, 5].map((base) => 0.1 + 0.8 * halton(segid + 10, base));
  }

  // Return the factors and offsets of texture coordinates.
  pattern(slot, look, mapping) {
    const size = this.slots.sizes[slot], material = this.model.materials[look.matid];
    const repeat = look.texid >= 0 ? look.repeat : material?.repeat ?? [1, 1];
    const uniform = look.texid >= 0 ? look.uniform : material?.uniform;
    if (mapping === TEXTURE.CUBE) return uniform ? [...size, 0] : [1, 1, 1, 0];
    const isGenerated = mapping === TEXTURE.GENERATED;
    const scale = [0, 1].map((k) => {
      const own = repeat[k] > 0 || isGenerated ? repeat[k] : 1;
      const shared = isGenerated && look.dataid >= 0 && size[k] > 0 ? own / size[k] : own;
      return uniform && size[k] > 0 ? shared * size[k] : shared;
    });
    if (isGenerated) return [0.5 * scale[0], -0.5 * scale[1], -0.5, -0.5];
    if (look.type !== GEOM.PLANE) return [...scale, 0, 0];
    // The texture coordinates of planes are their positions: of infinite ones in metres.
    const half = this.isInfinite(look) ? REACH * this.model.far : 1;
    return [half * scale[0] / 2, -half * scale[1] / 2, scale[0] / 2, scale[1] / 2];
  }

  place(slot) {
    const batch = this.batchOf.get(slot), look = this.slots.looks[slot];
    if (!batch) return;
    const p = this.slots.places.subarray(7 * slot, 7 * slot + 7), size = this.slots.sizes[slot];
    let scale = size, position = p.subarray(0, 3), turn = p.subarray(3, 7);
    if (look.type === GEOM.PLANE) {
      const far = REACH * this.model.far;
      scale = [size[0] > 0 ? size[0] : far, size[1] > 0 ? size[1] : far, 1];
    } else if ([GEOM.MESH, GEOM.SDF, GEOM.HFIELD].includes(look.type)) {
      scale = [1, 1, 1];
    } else if (look.type === GEOM.FLEX || look.type === GEOM.SKIN) {
      [scale, position, turn] = [[1, 1, 1], [0, 0, 0], [0, 0, 0, 1]];
    } else if (look.type === GEOM.TRIANGLE) {
      this.placeTriangle(slot, batch);
      [scale, position, turn] = [[1, 1, 1], [0, 0, 0], [0, 0, 0, 1]];
    }
    batch.set(slot, "place", position);
    batch.set(slot, "size", scale);
    batch.set(slot, "turn", turn);
    if (batch.isTransparent) batch.mesh.matrixWorld.setPosition(p[0], p[1], p[2]);
  }

  placeTriangle(slot, batch) {
    const m = this.slots.matrices.get(slot), size = this.slots.sizes[slot];
    if (!m) return;
    const corner = (k, s) => [0, 1, 2].map((row) => m[row] + s * m[3 + 3 * row + k]);
    const position = batch.geometry.getAttribute("position");
    const normal = batch.geometry.getAttribute("normal");
    [corner(0, 0), corner(0, size[0]), corner(1, size[1])].forEach((point, i) => {
      position.array.set(point, 3 * i);
      normal.array.set([m[5], m[8], m[11]], 3 * i);
    });
    position.needsUpdate = normal.needsUpdate = true;
  }

  // Move infinite planes below the camera; their textures stay where they are.
  centrePlanes(eye) {
    const axis = new THREE.Vector3(), turn = new THREE.Quaternion();
    for (const slot of this.planes) {
      const look = this.slots.looks[slot], batch = this.batchOf.get(slot);
      const p = this.slots.places.subarray(7 * slot, 7 * slot + 7);
      const place = new THREE.Vector3(p[0], p[1], p[2]), offset = eye.clone().sub(place);
      turn.set(p[3], p[4], p[5], p[6]);
      const pattern = this.pattern(slot, look, batch.mapping), far = REACH * this.model.far;
      for (let k = 0; k < 2; k++) {
        axis.set(k ? 0 : 1, k ? 1 : 0, 0).applyQuaternion(turn);
        const along = offset.dot(axis);
        place.addScaledVector(axis, along);
        pattern[2 + k] = (along * pattern[k] / far - 0.5) % 1;
      }
      batch.set(slot, "place", place.toArray());
      batch.set(slot, "pattern", pattern);
    }
  }

  // Return the shape of a geom; null before it is loaded, or if it has none.
  shapeOf(look, slot) {
    const { meshes, hfields, skins } = this.model.assets;
    switch (look.type) {
      case GEOM.MESH: case GEOM.SDF:
        return this.loadShape(meshes[look.dataid >> 1]?.[look.dataid & 1]);
      case GEOM.HFIELD: return this.loadShape(hfields[look.dataid]);
      case GEOM.SKIN: {
        const faces = this.loadShape(skins[look.objid]);
        return faces && this.softShape(slot, faces);
      }
      case GEOM.FLEX: return this.softShape(slot, null);
      case GEOM.TRIANGLE: return geometryOf({ position: new Float32Array(9), normal: new Float32Array(9) });
      default: return this.unitShape(this.isInfinite(look) ? GEOM.DISK : look.type);
    }
  }

  unitShape(type) {
    if (!this.loaded.has(type)) this.loaded.set(type, unitShape(type, this.model));
    return this.loaded.get(type);
  }

  loadShape(name) {
    return name ? this.load(name, (response) => response.arrayBuffer().then(readGeometry)) : null;
  }

  // Return the surface of a flex or skin, with the vertices of the newest frame.
  softShape(slot, faces) {
    const soft = this.slots.soft.get(slot), before = this.softShapes.get(slot);
    if (!soft) return null;
    if (before?.getAttribute("position").array.length === soft.position.length) {
      for (const name of ["position", "normal"]) {
        const attribute = before.getAttribute(name);
        attribute.array.set(soft[name]);
        attribute.needsUpdate = true;
      }
      return before;
    }
    const uv = faces?.getAttribute("uv").array ?? soft.uv ?? new Float32Array(0);
    const shape = geometryOf({ position: soft.position, normal: soft.normal, uv }, faces?.index.array);
    if (!uv.length) shape.deleteAttribute("uv");
    this.softShapes.set(slot, shape);
    return shape;
  }

  // Return the texture of a geom and how it is mapped.
  textureOf(look) {
    if (imagedCamera(look) >= 0) return [this.imageOf(imagedCamera(look)), TEXTURE.EXPLICIT];
    const id = look.texid >= 0 ? look.texid : this.model.materials[look.matid]?.texture ?? -1;
    const asset = look.matid >= 0 ? this.model.assets.textures[id] : undefined;
    if (!asset?.is_image) return [null, TEXTURE.NO_TEXTURE];
    const texture = this.loadTexture(asset);
    if (!texture) return [null, TEXTURE.NO_TEXTURE];
    if (asset.is_cube) return [texture, TEXTURE.CUBE];
    const hasUv = ![GEOM.MESH, GEOM.SDF, GEOM.HFIELD, GEOM.SKIN, GEOM.FLEX].includes(look.type);
    return [texture, look.texcoord || hasUv ? TEXTURE.EXPLICIT : TEXTURE.GENERATED];
  }

  // Return the texture with the newest image of a camera, which is loaded again and again.
  imageOf(camera) {
    const name = `image of camera ${camera}`;
    if (this.loaded.has(name)) return this.loaded.get(name);
    const texture = new THREE.Texture();
    this.loaded.set(name, texture);
    const isShown = () => this.loaded.get(name) && this.slots.looks.some((look) => look && imagedCamera(look) === camera);
    const next = async () => {
      const response = document.hidden ? null : await fetch(this.imageUrl(camera)).catch(() => null);
      if (response?.status === 200) {
        const image = await createImageBitmap(await response.blob());
        texture.image?.close(); // or it stays in memory until the next garbage collection
        texture.image = image;
        texture.flipY = false;
        texture.needsUpdate = true;
        this.onLoad();
      }
      if (isShown()) setTimeout(next, IMAGE_MS);
      else { this.loaded.delete(name); texture.dispose(); }
    };
    next();
    return texture;
  }

  loadTexture(asset) {
    const settings = { ...asset, anisotropy: this.anisotropy };
    return this.load(asset.name, (response) => decodeTexture(response, settings));
  }

  // Return what was loaded; null until then. What fails is tried again, while it is needed.
  load(name, decode) {
    if (this.loaded.has(name)) return this.loaded.get(name);
    this.loaded.set(name, null);
    this.pending++;
    fetch(this.assetUrl(name)).then((response) => {
      if (!response.ok) throw new Error(`asset ${name}: ${response.status}`);
      return decode(response);
    }).then((found) => this.loaded.set(name, found), (error) => {
      console.warn(error);
      setTimeout(() => { this.loaded.delete(name); this.reassign(); this.onLoad(); }, RETRY_MS);
    })
      .finally(() => {
        this.pending--;
        this.reassign();
        this.onLoad();
      });
    return null;
  }

  dispose() {
    this.slots = null;
    for (const batch of this.batches.values()) batch.dispose();
    for (const found of this.loaded.values()) found?.dispose();
    this.loaded.clear();
    this.materials.dispose();
  }
}

async function decodeTexture(response, asset) {
  const blob = await response.blob();
  const options = { colorSpaceConversion: "none", premultiplyAlpha: "none" };
  const whole = await createImageBitmap(blob, options);
  let texture;
  if (asset.is_cube) {
    const side = whole.width, at = (k) => (asset.faces > 1 ? k * side : 0);
    const faces = await Promise.all([0, 1, 2, 3, 4, 5].map((k) =>
      createImageBitmap(whole, 0, at(k), side, side, options)));
    texture = new THREE.CubeTexture(faces);
  } else {
    texture = new THREE.Texture(whole);
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.anisotropy = asset.anisotropy;
  }
  texture.flipY = false;
  texture.colorSpace = asset.is_srgb ? THREE.SRGBColorSpace : THREE.NoColorSpace;
  texture.minFilter = asset.anisotropy > 1 ? THREE.LinearMipmapLinearFilter : THREE.LinearMipmapNearestFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}
