// The camera of the page: free, following a body, or a camera of the model; as MuJoCo's mjv_camera.
import { THREE } from "./three.js";

const RADIANS = Math.PI / 180;
const STEEPEST = 89; // largest elevation [deg]

export class PageCamera {
  constructor(model) {
    this.three = new THREE.PerspectiveCamera();
    this.three.up.set(0, 0, 1);
    this.followed = 0; // body; 0 is none
    this.fixed = -1; // camera of the model; -1 is none
    this.setModel(model, true);
  }

  setModel(model, isOther) {
    this.model = model;
    if (isOther) {
      this.followed = 0; this.fixed = -1;
      this.setPose(model.camera);
    }
  }

  get pose() {
    return { lookat: this.lookat.toArray(), distance: this.distance, azimuth: this.azimuth,
      elevation: this.elevation };
  }

  setPose({ lookat, distance, azimuth, elevation }) {
    this.lookat = new THREE.Vector3(...(lookat ?? this.lookat.toArray()));
    this.distance = distance ?? this.distance;
    this.azimuth = azimuth ?? this.azimuth;
    this.elevation = elevation ?? this.elevation;
    this.limit();
  }

  get forward() {
    const az = this.azimuth * RADIANS, el = this.elevation * RADIANS;
    return new THREE.Vector3(
      Math.cos(el) * Math.cos(az), Math.cos(el) * Math.sin(az), Math.sin(el));
  }

  limit() {
    const { extent } = this.model;
    if (this.azimuth > 180) this.azimuth -= 360;
    if (this.azimuth < -180) this.azimuth += 360;
    this.elevation = Math.min(Math.max(this.elevation, -STEEPEST), STEEPEST);
    this.distance = Math.min(Math.max(this.distance, 0.01 * extent), 100 * extent);
  }

  // Motions of the mouse are in heights of the picture, to the right and down.
  rotate(dx, dy) {
    this.azimuth -= 180 * dx;
    this.elevation -= 180 * dy;
    this.limit();
  }

  zoom(dy) {
    const { extent } = this.model;
    this.distance -= Math.log(1 + this.distance / extent / 3) * dy * 9 * extent;
    this.limit();
  }

  // Multiply the distance.
  scale(factor) {
    this.distance *= factor;
    this.limit();
  }

  pan(dx, dy, isHorizontal) {
    if (this.followed) return;
    const scale = 2 * Math.tan(this.model.fovy * RADIANS / 2) * this.distance;
    this.lookat.addScaledVector(this.aligned(dx, dy, isHorizontal), -scale);
  }

  // Return a motion of the mouse in the vertical plane across the view, or the horizontal plane.
  aligned(dx, dy, isHorizontal) {
    const forward = new THREE.Vector3();
    this.three.getWorldDirection(forward);
    forward.z = 0;
    if (forward.lengthSq() < 1e-9) forward.set(1, 0, 0);
    forward.normalize();
    const right = new THREE.Vector3(forward.y, -forward.x, 0).multiplyScalar(dx);
    return isHorizontal ? right.addScaledVector(forward, -dy)
      : right.add(new THREE.Vector3(0, 0, -dy));
  }

  // Place the camera; `view` has the poses that the server sends of what the page follows.
  update(view, width, height) {
    const camera = this.three, aspect = width / height, { near, far } = this.model;
    if (this.followed && view && (view[0] || view[1] || view[2])) {
      this.lookat.set(view[0], view[1], view[2]);
    }
    let bottom = -Math.tan(this.model.fovy * RADIANS / 2), top = -bottom, centre = 0;
    let flat = this.model.orthographic;
    if (this.fixed >= 0 && view) {
      camera.position.set(view[10], view[11], view[12]);
      camera.quaternion.set(view[13], view[14], view[15], view[16]);
      [bottom, top, centre] = [view[19], view[20], (view[17] + view[18]) / 2];
      flat = this.model.orthographic_cameras.includes(this.fixed);
    } else {
      camera.position.copy(this.lookat).addScaledVector(this.forward, -this.distance);
      camera.lookAt(this.lookat);
      if (flat) [bottom, top] = [-this.model.fovy / 2, this.model.fovy / 2];
    }
    const half = aspect * (top - bottom) / 2;
    this.frustum = { centre, half, bottom, top, near, far, flat };
    const matrix = camera.projectionMatrix;
    if (flat) {
      matrix.makeOrthographic(centre - half, centre + half, top, bottom, near, far);
    } else {
      const s = near;
      matrix.makePerspective(s * (centre - half), s * (centre + half), s * top, s * bottom, near, far);
    }
    camera.projectionMatrixInverse.copy(matrix).invert();
    camera.updateMatrixWorld();
  }

  // Return the camera for the server; the pixel is from the left and from the bottom, in 0..1.
  message(pixel = [0.5, 0.5]) {
    const axis = (x, y, z) => new THREE.Vector3(x, y, z).applyQuaternion(this.three.quaternion);
    const { centre, half, bottom, top, near, far, flat } = this.frustum, s = flat ? 1 : near;
    return {
      position: this.three.position.toArray(), forward: axis(0, 0, -1).toArray(),
      up: axis(0, 1, 0).toArray(), is_orthographic: flat, pixel,
      frustum: [s * centre, s * half, s * bottom, s * top, near, far],
    };
  }

  // Return the size of a pixel at a point [m].
  pixelSize(point, height) {
    const { bottom, top, flat } = this.frustum;
    const forward = new THREE.Vector3();
    this.three.getWorldDirection(forward);
    const depth = flat ? 1 : Math.max(point.clone().sub(this.three.position).dot(forward), 1e-3);
    return depth * (top - bottom) / height;
  }
}
