// Geometry from the server: meshes and height fields (see `assets.py`).
import { THREE } from "./three.js";

// Types of geoms (mjtGeom).
export const GEOM = {
  PLANE: 0, HFIELD: 1, SPHERE: 2, CAPSULE: 3, ELLIPSOID: 4, CYLINDER: 5, BOX: 6, MESH: 7, SDF: 8,
  ARROW: 100, ARROW1: 101, ARROW2: 102, LINE: 103, LINEBOX: 104, FLEX: 105, SKIN: 106, TRIANGLE: 108,
  DISK: 2000, // of infinite planes
};
const CAMERA = 7; // mjOBJ_CAMERA

// Return the camera whose images a geom shows; -1 for none.
export const imagedCamera = (look) =>
  (look.type === GEOM.PLANE && look.objtype === CAMERA ? look.objid : -1);

// Read vertices: 16-bit positions in a box, and 8-bit normals.
export function readVertices(buffer, at, count) {
  const box = new Float32Array(buffer, at, 6), packed = new Uint16Array(buffer, at + 24, 6 * count);
  const small = new Int8Array(buffer, at + 24, 12 * count);
  const position = new Float32Array(3 * count), normal = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) {
      position[3 * i + k] = box[k] + box[3 + k] * packed[6 * i + k] / 65535;
      normal[3 * i + k] = small[12 * i + 6 + k] / 127;
    }
  }
  return { position, normal };
}

export function readGeometry(buffer) {
  const [count, corners, hasTexture, wide] = new Uint32Array(buffer, 0, 4);
  const vertices = readVertices(buffer, 16, count);
  let at = 40 + 12 * count;
  const uv = new Float32Array(hasTexture ? buffer.slice(at, at + 8 * count) : 8 * count / 4);
  if (hasTexture) at += 8 * count;
  const index = wide ? new Uint32Array(buffer, at, corners) : new Uint16Array(buffer, at, corners);
  return geometryOf({ ...vertices, uv }, index);
}

export function geometryOf(attributes, index) {
  const geometry = new THREE.BufferGeometry(), sizes = { position: 3, normal: 3, uv: 2, cap: 2 };
  for (const [name, array] of Object.entries(attributes)) {
    geometry.setAttribute(name, new THREE.BufferAttribute(array, sizes[name]));
  }
  if (index) geometry.setIndex(new THREE.BufferAttribute(index, 1));
  return geometry;
}
