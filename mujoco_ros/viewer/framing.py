"""The page's camera: its initial pose, the body it follows, and its projection to the screen."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.studio import messages, ux

from mujoco_ros.viewer.docks import Rectangle
from mujoco_ros.viewer.scene.fitting import fitted_pose

_MIN_SLOPE = 0.2


def frame_bodies(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera) -> None:
    """Move a free camera to show all bodies but those fixed in the world, after ``mj_kinematics``.

    The look-at point and the distance change; azimuth and elevation do not.
    """
    # Of a square, because the scene is rarely higher than wide.
    pose = fitted_pose(
        model, data, 0, azimuth=camera.azimuth, elevation=camera.elevation, aspect=1.0
    )
    if pose:
        camera.lookat[:], camera.distance = pose["lookat"], pose["distance"]


def fit_camera(
    model: mujoco.MjModel, camera: mujoco.MjvCamera, scene: Rectangle, page_height: float
) -> None:
    """Move a free camera that shows the model on the whole page so that `scene` shows it [px].

    The distance and the height of the look-at point change; azimuth and elevation do not.
    """
    _, top, _, height = scene
    if height <= 0.0:
        return
    camera.distance *= page_height / height
    tangent = math.tan(math.radians(model.vis.global_.fovy) / 2.0)
    metres_per_px = 2.0 * camera.distance * tangent / page_height
    # Elevation foreshortens vertical distances.
    slope = max(math.cos(math.radians(camera.elevation)), _MIN_SLOPE)
    camera.lookat[2] += (top + height / 2.0 - page_height / 2.0) * metres_per_px / slope


TRACKING = int(mujoco.mjtCamera.mjCAMERA_TRACKING)
_FIXED = int(mujoco.mjtCamera.mjCAMERA_FIXED)


class CameraMount(NamedTuple):
    """What determines the view, by name, which is the same in another model; empty for nothing."""

    body: str = ""  # the body that the camera follows
    camera: str = ""  # the camera of the model


@dataclass(frozen=True)
class CameraFollows(messages.Event):
    """The camera shall follow a body, or stay where it is."""

    body: int  # id of the body; 0 is none


def followed(camera: mujoco.MjvCamera) -> int:
    """Return the id of the body that a camera follows; 0 if none."""
    return int(camera.trackbodyid) if camera.type == TRACKING else 0


def follow(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, body: int) -> int:
    """Let a camera follow a body, or stay at its look-at point for 0; return Studio's index."""
    if not 0 < body < model.nbody:
        previous = followed(camera)
        lookat = data.subtree_com[previous].copy() if previous else camera.lookat.copy()
        index = int(ux.set_camera(model, camera, ux.TUMBLE_CAMERA_IDX))
        camera.lookat[:] = lookat
        return index
    camera.type, camera.trackbodyid, camera.fixedcamid = TRACKING, body, -1
    return int(ux.TRACKING_CAMERA_IDX)


def mount(model: mujoco.MjModel, camera: mujoco.MjvCamera) -> CameraMount:
    """Return what determines the view of a camera."""
    if body := followed(camera):
        return CameraMount(body=model.body(body).name)
    if camera.type == _FIXED:
        return CameraMount(camera=model.camera(camera.fixedcamid).name)
    return CameraMount()


def set_mount(
    model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, wanted: CameraMount
) -> int | None:
    """Let a camera follow a body or be one of the model, by name; return Studio's index or None."""
    kinds = mujoco.mjtObj
    body = mujoco.mj_name2id(model, kinds.mjOBJ_BODY, wanted.body) if wanted.body else 0
    if body > 0:
        return follow(model, data, camera, body)
    fixed = mujoco.mj_name2id(model, kinds.mjOBJ_CAMERA, wanted.camera) if wanted.camera else -1
    return int(ux.set_camera(model, camera, fixed)) if fixed >= 0 else None


_MIN_DEPTH = 1e-3  # points nearer to the camera, or behind it, have no projection [m]
_MIN_SINE_SQUARED = 0.1  # limits the motion along an axis that points at the camera
_MAX_DRAG = 2.0  # largest motion of a drag, in distances to the camera


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenProjection:
    """The projection of the viewer's camera."""

    position: np.ndarray  # of the camera [m] (3,)
    right: np.ndarray  # unit vector (3,)
    up: np.ndarray  # unit vector (3,)
    forward: np.ndarray  # unit vector (3,)
    focal: float  # focal length [px]
    width: float  # of the screen [px]
    height: float  # of the screen [px]
    orthographic: bool = False  # whether the scale is everywhere as at a depth of 1 m

    @classmethod
    def of_camera(
        cls,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        width: float,
        height: float,
    ) -> "ScreenProjection":
        """Return the projection of a camera to a screen of `width` times `height` pixels."""
        position, forward, up, right = (np.zeros(3) for _ in range(4))
        mujoco.mjv_cameraFrame(position, forward, up, right, data, camera)
        vertical, horizontal, clip = (np.zeros(2, dtype=np.float32) for _ in range(3))
        mujoco.mjv_cameraFrustum(vertical, horizontal, clip, model, camera)
        orthographic = bool(camera.orthographic)
        slope = float(vertical[1]) / (1.0 if orthographic else float(clip[0]))
        return cls(
            position=position,
            right=right,
            up=up,
            forward=forward,
            focal=0.5 * height / slope,
            width=width,
            height=height,
            orthographic=orthographic,
        )

    def depth(self, point: np.ndarray) -> float:
        """Return the depth of a point [m]."""
        return float(self.forward @ (point - self.position))

    def metres_per_pixel(self, point: np.ndarray) -> float:
        """Return the size of a pixel at the depth of a point [m]."""
        return (1.0 if self.orthographic else self.depth(point)) / self.focal

    def project(self, point: np.ndarray) -> np.ndarray | None:
        """Return the pixel of a point from the top left, also beyond the edges; None behind."""
        if self.depth(point) < _MIN_DEPTH:
            return None
        scale = self.metres_per_pixel(point)
        offset = point - self.position
        return np.array(
            [
                0.5 * self.width + float(self.right @ offset) / scale,
                0.5 * self.height - float(self.up @ offset) / scale,
            ]
        )

    def drag_along(self, point: np.ndarray, direction: np.ndarray, pixels: np.ndarray) -> float:
        """Return the distance along a unit vector that keeps a point closest to the mouse [m]."""
        offset, ray = self._drag(point, pixels)
        # The point of the line through `point` that is closest to the ray of the mouse.
        cosine = float(direction @ ray)
        sine_squared = max(1.0 - cosine**2, _MIN_SINE_SQUARED)
        distance = float(offset @ direction - cosine * (offset @ ray)) / sine_squared
        limit = _MAX_DRAG * self.depth(point)
        return float(np.clip(distance, -limit, limit))

    def drag_on_plane(
        self, point: np.ndarray, normal: np.ndarray, pixels: np.ndarray
    ) -> np.ndarray:
        """Return the motion of a point with the mouse, in a plane with a unit `normal` [m]."""
        offset, ray = self._drag(point, pixels)
        slope = float(normal @ ray)
        slope = np.copysign(max(abs(slope), np.sqrt(_MIN_SINE_SQUARED)), slope)
        motion = offset - float(normal @ offset) / slope * ray
        motion -= float(normal @ motion) * normal  # a plane that is seen from its edge
        length, limit = float(np.linalg.norm(motion)), _MAX_DRAG * self.depth(point)
        return np.asarray(motion * min(1.0, limit / max(length, limit)))

    def drag_in_plane(self, point: np.ndarray, pixels: np.ndarray) -> np.ndarray:
        """Return the motion of a point with the mouse, parallel to the screen [m].  # (3,)"""
        scale = self.metres_per_pixel(point)
        return np.asarray(scale * (pixels[0] * self.right - pixels[1] * self.up))

    def _drag(self, point: np.ndarray, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the motion parallel to the screen [m], and the ray of the mouse.  # (3,), (3,)"""
        offset = self.drag_in_plane(point, pixels)
        ray = self.forward if self.orthographic else point + offset - self.position
        return offset, ray / np.linalg.norm(ray)
