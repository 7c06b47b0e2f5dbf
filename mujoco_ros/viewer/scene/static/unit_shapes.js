// The unit shapes of MuJoCo's renderer, with z up. x and y of a shape are scaled with the first two
// components of the size of its geom, and z with the third. Vertices of a cap are scaled with the
// radius instead, and shifted by the third: `cap` has whether they are, and to which side.
import { THREE } from "./three.js";
import { GEOM, geometryOf } from "./shapes.js";

const QUARTER = Math.PI / 2;

// Return parts as one geometry.
function joined(...parts) {
  const whole = { position: [], normal: [], uv: [], cap: [] }, index = [];
  for (const [part, cap = [0, 0]] of parts) {
    const first = whole.cap.length / 2, { position, normal, uv } = part.attributes;
    for (const k of part.index.array) index.push(first + k);
    for (const [name, { array }] of Object.entries({ position, normal, uv })) whole[name].push(...array);
    for (let k = 0; k < position.count; k++) whole.cap.push(...cap);
  }
  const arrays = Object.entries(whole).map(([name, values]) => [name, new Float32Array(values)]);
  return geometryOf(Object.fromEntries(arrays), new Uint16Array(index));
}

// Set the texture coordinates of a part by the positions and normals of its vertices.
function mapped(part, place) {
  const { position, normal, uv } = part.attributes, at = new THREE.Vector3(), out = new THREE.Vector3();
  for (let k = 0; k < uv.count; k++) {
    uv.setXY(k, ...place(at.fromBufferAttribute(position, k), out.fromBufferAttribute(normal, k)));
  }
  return part;
}

// Rotate a part with y up, and mirror its texture, which begins with the upper row.
function upright(part, turn) {
  const { uv } = part.attributes;
  for (let k = 0; k < uv.count; k++) uv.setY(k, 1 - uv.getY(k));
  return part.rotateX(QUARTER).rotateZ(turn);
}

const ball = (slices, stacks, first, span) =>
  upright(new THREE.SphereGeometry(1, slices, stacks, 0, 4 * QUARTER, first, span), 2 * QUARTER);
const tube = (slices, low, high, upper = 1, lower = 1, rows = 1) =>
  upright(new THREE.CylinderGeometry(upper, lower, high - low, slices, rows, true), QUARTER)
    .translate(0, 0, (low + high) / 2);
const disk = (slices, z, side, radius = 1) =>
  mapped(new THREE.CircleGeometry(radius, slices).rotateX(side > 0 ? 0 : 2 * QUARTER).translate(0, 0, z),
    ({ x, y }) => [0.5 + 0.5 * x / radius, 0.5 + 0.5 * y / radius]);
// The tip of an arrow.
const cone = (slices, z, height, radius) => [
  [height > 0 ? tube(slices, z, z + height, 0, radius, 4) : tube(slices, z + height, z, radius, 0, 4)],
  [disk(slices, z, -Math.sign(height), radius)]];
const arrow = (slices, radius) => joined([disk(slices, 0, -1)], [tube(slices, 0, 1 / 3)],
  [disk(slices, 1 / 3, 1)], ...cone(slices, 1 / 3, 1 / 6, radius));

const SHAPES = {
  [GEOM.PLANE]: () => joined([mapped(new THREE.PlaneGeometry(2, 2), ({ x, y }) => [x, y])]),
  [GEOM.DISK]: (slices) => joined([mapped(disk(4 * slices, 0, 1), ({ x, y }) => [x, y])]),
  [GEOM.SPHERE]: (slices, stacks) => joined([ball(slices, stacks, 0, 2 * QUARTER)]),
  [GEOM.CAPSULE]: (slices, stacks) => joined([tube(slices, -1, 1)],
    [ball(slices, stacks >> 1, 0, QUARTER), [1, 1]],
    [ball(slices, stacks >> 1, QUARTER, QUARTER), [1, -1]]),
  [GEOM.CYLINDER]: (slices) => joined([disk(slices, -1, -1)], [tube(slices, -1, 1)], [disk(slices, 1, 1)]),
  [GEOM.BOX]: () => joined([mapped(new THREE.BoxGeometry(2, 2, 2), (p, n) => [
    0.5 + 0.5 * (Math.abs(n.x) > 0.5 ? p.y : p.x), 0.5 - 0.5 * (Math.abs(n.z) > 0.5 ? p.y : p.z)])]),
  [GEOM.ARROW]: (slices) => arrow(slices, 1.75),
  [GEOM.ARROW1]: (slices) => arrow(slices, 1),
  [GEOM.ARROW2]: (slices) => joined([tube(slices, -1 / 3, 1 / 3)],
    ...cone(slices, 1 / 3, 1 / 6, 1.75), ...cone(slices, -1 / 3, -1 / 6, 1.75)),
  [GEOM.LINE]: () => geometryOf({ position: new Float32Array([0, 0, 0, 0, 0, 1]) }),
  [GEOM.LINEBOX]: () => new THREE.EdgesGeometry(new THREE.BoxGeometry(2, 2, 2)),
};
SHAPES[GEOM.ELLIPSOID] = SHAPES[GEOM.SPHERE];

// Return the shape of a type of geoms, as finely divided as the model's visual quality says.
export const unitShape = (type, { slices, stacks }) => SHAPES[type]?.(slices, stacks) ?? null;
