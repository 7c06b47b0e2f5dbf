// The sky, and the haze where it meets an infinite plane.
import { THREE } from "./three.js";
import { geometryOf } from "./shapes.js";

export const REACH = 0.7; // distance of the horizon, as a share of the far plane of the camera

// The texture of the sky, behind everything.
export function skyMesh(texture) {
  const material = new THREE.ShaderMaterial({
    uniforms: { cube: { value: texture } }, depthWrite: false,
    vertexShader: `varying vec3 vAlong;
      void main() {
        mat3 turn = transpose(mat3(viewMatrix));
        vec4 ray = inverse(projectionMatrix) * vec4(position.xy, 1.0, 1.0);
        vAlong = turn * (projectionMatrix[3][3] > 0.5 ? vec3(0.0, 0.0, -1.0) : ray.xyz / ray.w);
        gl_Position = vec4(position.xy, 1.0, 1.0);
      }`,
    fragmentShader: `varying vec3 vAlong; uniform samplerCube cube;
      void main() { gl_FragColor = texture(cube, vec3(vAlong.x, vAlong.z, -vAlong.y)); }`,
  });
  const geometry = geometryOf({ position: new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]) });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = 1;
  return mesh;
}

// A truncated cone around the camera: opaque where it touches the horizon.
export function hazeMesh({ share, colour }, slices) {
  const angle = Math.atan2(1, share), other = 0.75 * Math.PI - angle;
  const middle = Math.SQRT1_2 * share * Math.sin(angle) / Math.sin(other);
  const heights = [0, middle, 1], opacity = new Array(slices + 1).fill([0, 1, 0]).flat();
  const profile = heights.map((h) => new THREE.Vector2(1 - share * (1 - h), h));
  const geometry = new THREE.LatheGeometry(profile, slices).rotateX(Math.PI / 2);
  geometry.setAttribute("opacity", new THREE.Float32BufferAttribute(opacity, 1));
  const material = new THREE.ShaderMaterial({
    uniforms: { colour: { value: new THREE.Vector3(...colour) } }, side: THREE.DoubleSide,
    transparent: true, depthWrite: false,
    vertexShader: `attribute float opacity; varying float vOpacity;
      void main() {
        vOpacity = opacity;
        gl_Position = projectionMatrix * viewMatrix * modelMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `uniform vec3 colour; varying float vOpacity;
      void main() { gl_FragColor = vec4(colour, vOpacity); }`,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.matrixAutoUpdate = false;
  mesh.renderOrder = 2;
  return mesh;
}

// Place the haze between a camera and a plane; return whether it is above the plane.
export function placeHaze(mesh, eye, place, quat, far) {
  const distance = REACH * far, turn = new THREE.Quaternion(...quat);
  const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(turn);
  const elevation = eye.clone().sub(new THREE.Vector3(...place)).dot(normal) / distance;
  if (elevation < 0) return false;
  const foot = eye.clone().addScaledVector(normal, -elevation * distance);
  mesh.matrixWorld.compose(foot, turn, new THREE.Vector3(distance, distance, distance * elevation));
  return true;
}
