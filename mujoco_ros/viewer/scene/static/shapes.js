// Geometry: the unit shapes of MuJoCo's renderer, and meshes, height fields and skins of a model.
import { THREE } from "./three.js";

// Types of geoms (mjtGeom).
export const GEOM = {
  PLANE: 0, HFIELD: 1, SPHERE: 2, CAPSULE: 3, ELLIPSOID: 4, CYLINDER: 5, BOX: 6, MESH: 7, SDF: 8,
  ARROW: 100, ARROW1: 101, ARROW2: 102, LINE: 103, LINEBOX: 104, FLEX: 105, SKIN: 106, LABEL: 107,
  TRIANGLE: 108, NONE: 1001,
};

// Vertices of a shape. A vertex moves with the size of its geom: x and y with the first two
// components, z with the third, or, at the caps of a capsule, with the radius from `shift` times
// the third.
class Vertices {
  constructor() {
    this.position = []; this.normal = []; this.uv = []; this.cap = []; this.index = [];
  }

  get count() { return this.cap.length / 2; }

  add(position, normal, uv, cap = 0, shift = 0) {
    this.position.push(...position); this.normal.push(...normal); this.uv.push(...uv);
    this.cap.push(cap, shift);
  }

  // Add a grid of vertices at (i/columns, j/rows), counter-clockwise as seen from outside.
  grid(columns, rows, vertex) {
    const first = this.count;
    for (let j = 0; j <= rows; j++) {
      for (let i = 0; i <= columns; i++) this.add(...vertex(i / columns, j / rows));
    }
    for (let j = 0; j < rows; j++) {
      for (let i = 0; i < columns; i++) {
        const a = first + j * (columns + 1) + i, b = a + 1, c = a + columns + 1, d = c + 1;
        this.index.push(a, b, d, a, d, c);
      }
    }
  }

  sphere(slices, stacks, from = -0.5, to = 0.5, cap = 0, shift = 0) {
    this.grid(slices, stacks, (u, t) => {
      const az = 2 * Math.PI * u, el = Math.PI * (from + (to - from) * t);
      const point = [Math.cos(az) * Math.cos(el), Math.sin(az) * Math.cos(el), Math.sin(el)];
      const v = !cap ? 0.5 - el / Math.PI : shift > 0 ? 1 - 2 * el / Math.PI : -2 * el / Math.PI;
      return [point, point, [u, v], cap, shift];
    });
  }

  tube(slices, low = -1, high = 1, radius = 1) {
    this.grid(slices, 1, (u, t) => {
      const x = Math.cos(2 * Math.PI * u), y = Math.sin(2 * Math.PI * u);
      return [[radius * x, radius * y, low + (high - low) * t], [x, y, 0], [u, 1 - t]];
    });
  }

  disk(slices, z, direction, radius = 1) {
    this.grid(slices, 1, (u, t) => {
      const r = direction > 0 ? 1 - t : t, az = 2 * Math.PI * u;
      const x = Math.cos(az) * r, y = Math.sin(az) * r;
      return [[radius * x, radius * y, z], [0, 0, direction], [0.5 + 0.5 * x, 0.5 + 0.5 * y]];
    });
  }

  // A cone with its base at z, and its disk.
  cone(slices, z, height, radius) {
    const up = Math.sign(height);
    this.grid(slices, 8, (u, t) => {
      const r = up > 0 ? 1 - t : t, az = 2 * Math.PI * u, x = Math.cos(az), y = Math.sin(az);
      const normal = [x / radius, y / radius, 1 / height];
      return [[radius * x * r, radius * y * r, z + height * (1 - r)], normal, [u, r]];
    });
    this.disk(slices, z, -up, radius);
  }

  box() {
    for (const [axis, a, b] of [[2, 0, 1], [0, 1, 2], [1, 0, 2]]) {
      for (const side of [1, -1]) {
        const normal = [0, 0, 0];
        normal[axis] = side;
        const flip = (side > 0) !== (axis !== 1);
        this.grid(1, 1, (s, t) => {
          const point = [0, 0, 0];
          point[axis] = side;
          point[a] = flip ? 1 - 2 * s : 2 * s - 1;
          point[b] = 2 * t - 1;
          return [point, normal, [(point[a] + 1) / 2, 1 - (point[b] + 1) / 2]];
        });
      }
    }
  }

  geometry() {
    return geometryOf(
      new Float32Array(this.position), new Float32Array(this.normal), new Float32Array(this.uv),
      this.index, new Float32Array(this.cap));
  }
}

function geometryOf(position, normal, uv, index, cap) {
  const geometry = new THREE.BufferGeometry();
  const add = (name, array, size, norm = false) => {
    if (array) geometry.setAttribute(name, new THREE.BufferAttribute(array, size, norm));
  };
  add("position", position, 3); add("normal", normal, 3); add("uv", uv, 2); add("cap", cap, 2);
  if (index) {
    const wide = position.length / 3 > 0xffff;
    const array = Array.isArray(index) ? new (wide ? Uint32Array : Uint16Array)(index) : index;
    geometry.setIndex(new THREE.BufferAttribute(array, 1));
  }
  return geometry;
}

// Return the shapes of primitives by type of geom.
export function primitives({ slices, stacks }) {
  const make = (build) => { const v = new Vertices(); build(v); return v.geometry(); };
  const sphere = make((v) => v.sphere(slices, stacks));
  const shapes = new Map([
    [GEOM.PLANE, make((v) => v.grid(1, 1, (s, t) =>
      [[2 * s - 1, 2 * t - 1, 0], [0, 0, 1], [2 * s - 1, 2 * t - 1]]))],
    [GEOM.SPHERE, sphere], [GEOM.ELLIPSOID, sphere],
    [GEOM.CAPSULE, make((v) => {
      v.tube(slices);
      v.sphere(slices, stacks / 2, 0, 0.5, 1, 1);
      v.sphere(slices, stacks / 2, -0.5, 0, 1, -1);
    })],
    [GEOM.CYLINDER, make((v) => { v.disk(slices, -1, -1); v.tube(slices); v.disk(slices, 1, 1); })],
    [GEOM.BOX, make((v) => v.box())],
    [GEOM.ARROW, make((v) => arrow(v, slices, 1.75))],
    [GEOM.ARROW1, make((v) => arrow(v, slices, 1))],
    [GEOM.ARROW2, make((v) => {
      v.tube(slices, -1 / 3, 1 / 3);
      v.cone(slices, -1 / 3, -1 / 6, 1.75);
      v.cone(slices, 1 / 3, 1 / 6, 1.75);
    })],
    [GEOM.LINE, geometryOf(new Float32Array([0, 0, 0, 0, 0, 1]), new Float32Array(6),
      new Float32Array(4), [0, 1])],
    [GEOM.LINEBOX, lineBox()],
  ]);
  return shapes;
}

function arrow(vertices, slices, radius) {
  vertices.disk(slices, 0, -1);
  vertices.tube(slices, 0, 1 / 3);
  vertices.disk(slices, 1 / 3, 1);
  vertices.cone(slices, 1 / 3, 1 / 6, radius);
}

function lineBox() {
  const corners = [], edges = [];
  for (let k = 0; k < 8; k++) {
    corners.push(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    for (const bit of [1, 2, 4]) if (!(k & bit)) edges.push(k, k | bit);
  }
  return geometryOf(new Float32Array(corners), new Float32Array(24), new Float32Array(16), edges);
}

// Return the geometry of a mesh (see `assets.py`).
export function meshGeometry(buffer) {
  const [count, corners, hasTexture, wide] = new Uint32Array(buffer, 0, 4);
  const box = new Float32Array(buffer, 16, 6);
  let at = 40;
  const packed = new Uint16Array(buffer, at, count * 6), bytes = new Int8Array(buffer, at, count * 12);
  const position = new Float32Array(count * 3), normal = new Int8Array(count * 4);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) {
      position[3 * i + k] = box[k] + box[3 + k] * packed[6 * i + k] / 65535;
      normal[4 * i + k] = bytes[12 * i + 6 + k];
    }
  }
  at += 12 * count;
  const uv = hasTexture ? new Float32Array(buffer.slice(at, at + 8 * count)) : null;
  at += hasTexture ? 8 * count : 0;
  const index = wide ? new Uint32Array(buffer, at, corners) : new Uint16Array(buffer, at, corners);
  const geometry = geometryOf(position, null, uv, index);
  const normals = new THREE.InterleavedBuffer(normal, 4);
  geometry.setAttribute("normal", new THREE.InterleavedBufferAttribute(normals, 3, 0, true));
  return geometry;
}

// Return the geometry of a height field: its surface with flat facets, sides and bottom.
export function hfieldGeometry(buffer) {
  const [columns, rows] = new Uint32Array(buffer, 0, 2);
  const [x, y, top, base] = new Float32Array(buffer, 8, 4);
  const heights = new Float32Array(buffer, 24, rows * columns);
  const position = [], normal = [];
  const at = (c, r) => [
    x * (2 * c / (columns - 1) - 1), y * (2 * r / (rows - 1) - 1), top * heights[r * columns + c]];
  const low = ([px, py]) => [px, py, -base];
  const facet = (a, b, c) => {
    const [u, v] = [b, c].map((p) => p.map((value, k) => value - a[k]));
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const length = Math.hypot(...n) || 1;
    for (const p of [a, b, c]) {
      position.push(...p);
      normal.push(n[0] / length, n[1] / length, n[2] / length);
    }
  };
  const quad = (a, b, c, d) => { facet(a, b, c); facet(a, c, d); };
  for (let r = 0; r + 1 < rows; r++) {
    for (let c = 0; c + 1 < columns; c++) {
      facet(at(c, r + 1), at(c, r), at(c + 1, r + 1));
      facet(at(c, r), at(c + 1, r), at(c + 1, r + 1));
    }
    const [a, b] = [at(0, r), at(0, r + 1)], [c, d] = [at(columns - 1, r), at(columns - 1, r + 1)];
    quad(low(b), low(a), a, b);
    quad(low(c), low(d), d, c);
  }
  for (let c = 0; c + 1 < columns; c++) {
    const [a, b] = [at(c, 0), at(c + 1, 0)], [p, q] = [at(c, rows - 1), at(c + 1, rows - 1)];
    quad(low(a), low(b), b, a);
    quad(low(q), low(p), p, q);
  }
  quad([-x, -y, -base], [-x, y, -base], [x, y, -base], [x, -y, -base]);
  return geometryOf(new Float32Array(position), new Float32Array(normal), null, null);
}

// Return the faces and texture coordinates of a skin, whose vertices come with each frame.
export function skinGeometry(buffer) {
  const [faces, coordinates] = new Uint32Array(buffer, 0, 2);
  const geometry = new THREE.BufferGeometry();
  geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(buffer, 8, 3 * faces), 1));
  if (coordinates) {
    const uv = new Float32Array(buffer, 8 + 12 * faces, 2 * coordinates);
    geometry.setAttribute("uv", new THREE.BufferAttribute(uv, 2));
  }
  return geometry;
}
