// Reads frames: see `packing.py`.
import { THREE } from "./three.js";
import { readVertices } from "./shapes.js";

const HEADER = 32;
export const FRAME = 1, PICTURE = 2;
const LOOK_BYTES = 44, MATRICES = 4; // the last section with a list of slots

export function readHeader(buffer) {
  const view = new DataView(buffer);
  return {
    kind: view.getUint8(0), count: view.getUint32(4, true), sequence: view.getUint32(8, true),
    version: view.getUint32(12, true), time: view.getFloat64(16, true),
    simulated: view.getFloat64(24, true),
  };
}

// The geoms of the scene, by slot.
export class Slots {
  constructor() {
    this.count = 0;
    this.looks = []; // what each geom looks like; null before it is known
    this.sizes = []; this.labels = [];
    this.places = new Float32Array(0); // position and quaternion of each (7 n)
    this.matrices = new Map(); // position and matrix by rows of each triangle (12)
    this.lights = []; this.view = null; this.entries = []; this.soft = new Map();
  }

  // Read a frame, and return the slots that look different, and those that moved.
  read(buffer, { count }) {
    const changed = { looks: new Set(), moved: new Set(), removed: [], soft: [] };
    for (let slot = count; slot < this.count; slot++) changed.removed.push(slot);
    if (this.places.length < 7 * count) {
      const places = new Float32Array(14 * count);
      places.set(this.places);
      this.places = places;
    }
    this.count = count;
    this.looks.length = this.sizes.length = this.labels.length = count;
    for (let at = HEADER; at < buffer.byteLength;) {
      const view = new DataView(buffer, at, 8);
      const code = view.getUint8(0), rows = view.getUint16(2, true), bytes = view.getUint32(4, true);
      this.section(code, buffer, at + 8, rows, bytes, changed);
      at += 8 + bytes + (-bytes & 3);
    }
    return changed;
  }

  section(code, buffer, at, rows, bytes, changed) {
    const json = () => JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, bytes)));
    const slots = code <= MATRICES ? new Uint16Array(buffer, at, rows) : null;
    const data = at + 2 * (rows + rows % 2); // behind the slots
    const eachRow = (width, keep) => slots.forEach((slot, i) => {
      keep(slot, new Float32Array(buffer, data + 4 * width * i, width).slice());
      changed.moved.add(slot);
    });
    switch (code) {
      case 1: this.readLooks(buffer, data, slots, changed); break;
      case 2: eachRow(3, (slot, size) => { this.sizes[slot] = size; }); break;
      case 3: this.readPoses(buffer, data, slots, changed); break;
      case MATRICES: eachRow(12, (slot, matrix) => this.matrices.set(slot, matrix)); break;
      case 5: this.lights = this.readLights(new Float32Array(buffer, at, bytes / 4), rows); break;
      case 6: for (const [slot, text] of json()) this.labels[slot] = text; break;
      case 7: this.readSurface(buffer, at, rows, changed); break;
      case 8: this.view = new Float32Array(buffer, at, rows); break;
      case 9: this.entries = json(); break;
    }
  }

  readLooks(buffer, data, slots, changed) {
    const view = new DataView(buffer, data, LOOK_BYTES * slots.length);
    slots.forEach((slot, i) => {
      const at = LOOK_BYTES * i, flags = view.getUint8(at + 1);
      const integer = (k) => view.getInt32(at + 4 + 4 * k, true);
      const small = (k) => THREE.DataUtils.fromHalfFloat(view.getUint16(at + 28 + 2 * k, true));
      const type = view.getUint8(at);
      this.looks[slot] = {
        type, uniform: flags & 1, texcoord: flags & 2, castshadow: flags & 4,
        category: view.getUint8(at + 2), objtype: view.getUint8(at + 3),
        objid: integer(0), dataid: integer(1), matid: integer(2), texid: integer(3),
        segid: integer(4),
        rgba: [0, 1, 2, 3].map((k) => view.getUint8(at + 24 + k) / 255),
        emission: small(0), specular: small(1), shininess: small(2), reflectance: small(3),
        repeat: [view.getFloat32(at + 36, true), view.getFloat32(at + 40, true)],
      };
      changed.looks.add(slot);
    });
  }

  readPoses(buffer, data, slots, changed) {
    const n = slots.length, positions = new Float32Array(buffer, data, 3 * n);
    const quats = new Int16Array(buffer, data + 12 * n, 4 * n);
    for (let i = 0; i < n; i++) {
      const slot = slots[i], place = 7 * slot;
      for (let k = 0; k < 3; k++) this.places[place + k] = positions[3 * i + k];
      for (let k = 0; k < 4; k++) this.places[place + 3 + k] = quats[4 * i + k] / 32767;
      changed.moved.add(slot);
    }
  }

  readLights(values, rows) {
    return Array.from({ length: rows }, (_, i) => {
      const v = values.subarray(23 * i, 23 * i + 23), at = (k) => Array.from(v.slice(k, k + 3));
      return {
        position: at(0), direction: at(3), attenuation: at(6), cutoff: v[9],
        cone: [v[9] >= 180 ? -2 : Math.cos(v[9] * Math.PI / 180), v[10]], // cosine, and exponent
        ambient: at(11), diffuse: at(14), specular: at(17), isDirectional: v[20] > 0,
        isHeadlight: v[21] > 0, castshadow: v[22] > 0,
      };
    });
  }

  // Vertices of a flex or skin, with texture coordinates.
  readSurface(buffer, at, slot, changed) {
    const [count, hasTexture] = new Uint32Array(buffer, at, 2);
    const { position, normal } = readVertices(buffer, at + 8, count), end = at + 32 + 12 * count;
    const uv = hasTexture ? new Float32Array(buffer, end, 2 * count).slice() : null;
    this.soft.set(slot, { position, normal, uv });
    changed.soft.push(slot);
  }
}
