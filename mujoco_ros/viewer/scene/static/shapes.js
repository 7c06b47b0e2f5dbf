// Geometry from the server: unit shapes, meshes and height fields (see `assets.py`).
import { THREE } from "./three.js";

// Types of geoms (mjtGeom).
export const GEOM = {
  PLANE: 0, HFIELD: 1, MESH: 7, SDF: 8, CYLINDER: 5, LINE: 103, LINEBOX: 104, FLEX: 105, SKIN: 106,
  TRIANGLE: 108, DISK: 2000, // the last is of infinite planes
};

export function readGeometry(buffer) {
  const [count, corners, hasTexture, wide] = new Uint32Array(buffer, 0, 4);
  const box = new Float32Array(buffer, 16, 6);
  const packed = new Uint16Array(buffer, 40, count * 6), small = new Int8Array(buffer, 40, count * 12);
  const position = new Float32Array(count * 3), normal = new Float32Array(count * 3);
  const cap = new Float32Array(count * 2);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) {
      position[3 * i + k] = box[k] + box[3 + k] * packed[6 * i + k] / 65535;
      normal[3 * i + k] = small[12 * i + 6 + k] / 127;
    }
    cap.set(small.subarray(12 * i + 9, 12 * i + 11), 2 * i);
  }
  let at = 40 + 12 * count;
  const uv = new Float32Array(hasTexture ? buffer.slice(at, at + 8 * count) : 8 * count / 4);
  if (hasTexture) at += 8 * count;
  const index = wide ? new Uint32Array(buffer, at, corners) : new Uint16Array(buffer, at, corners);
  return geometryOf({ position, normal, uv, cap }, index);
}

export function geometryOf(attributes, index) {
  const geometry = new THREE.BufferGeometry(), sizes = { position: 3, normal: 3, uv: 2, cap: 2 };
  for (const [name, array] of Object.entries(attributes)) {
    geometry.setAttribute(name, new THREE.BufferAttribute(array, sizes[name]));
  }
  if (index) geometry.setIndex(new THREE.BufferAttribute(index, 1));
  return geometry;
}
