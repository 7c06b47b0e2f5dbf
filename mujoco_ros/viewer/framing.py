"""The initial pose of the page's camera, and a camera that follows a body."""

import math
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.studio import messages, ux

from mujoco_ros.viewer.docks import Rectangle

_MIN_SLOPE = 0.2
_MARGIN = 1.1
"""Distance of the camera, relative to that at which the bodies just fit."""
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
_VISIBLE_GROUPS = 3
"""Geom groups that are shown by default."""


def frame_bodies(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera) -> None:
    """Move a free camera so that it shows all bodies, without those fixed in the world.

    The look-at point and the distance change; azimuth and elevation do not.

    Args:
        data: Its state, after ``mj_kinematics``.
    """
    shown = (model.geom_bodyid > 0) & (model.geom_group < _VISIBLE_GROUPS)
    shown &= np.isfinite(data.geom_xpos).all(axis=1)
    shown &= model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    if not shown.any():
        return
    centres, sizes = np.split(model.geom_aabb[shown, None], 2, axis=2)
    corners = centres + sizes * _CORNERS  # (n, 8, 3), in the frames of the geoms
    corners = corners @ data.geom_xmat[shown].reshape(-1, 3, 3).transpose(0, 2, 1)
    corners = (corners + data.geom_xpos[shown, None]).reshape(-1, 3)
    camera.lookat[:] = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    right, up, forwards = _axes(camera)
    offsets = corners - camera.lookat
    # Of a square, because the scene is rarely higher than wide.
    extents = np.maximum(np.abs(offsets @ right), np.abs(offsets @ up))
    tangent = math.tan(math.radians(model.vis.global_.fovy) / 2.0)
    camera.distance = _MARGIN * float((extents / tangent - offsets @ forwards).max())


def _axes(camera: mujoco.MjvCamera) -> np.ndarray:
    """Return the directions to the right, upwards and forwards, in the world.  # (3, 3)."""
    azimuth, elevation = math.radians(camera.azimuth), math.radians(camera.elevation)
    horizontal = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    right = np.array([horizontal[1], -horizontal[0], 0.0])
    forwards = math.cos(elevation) * horizontal + np.array([0.0, 0.0, math.sin(elevation)])
    return np.stack([right, np.cross(right, forwards), forwards])


def fit_camera(
    model: mujoco.MjModel, camera: mujoco.MjvCamera, scene: Rectangle, page_height: float
) -> None:
    """Move a free camera that shows the model on the whole page so that `scene` shows it.

    The distance and the height of the look-at point change; azimuth and elevation do not.

    Args:
        scene: Part of the page without panels [px].
        page_height: [px].
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
    """What determines the view, by name, which is the same in another model; empty if nothing does.

    Attributes:
        body: The body that the camera follows.
        camera: The camera of the model.
    """

    body: str = ""
    camera: str = ""


@dataclass(frozen=True)
class CameraFollows(messages.Event):
    """The camera shall follow a body, or stay where it is.

    Attributes:
        body: Id of the body; 0 is none.
    """

    body: int


def followed(camera: mujoco.MjvCamera) -> int:
    """Return the id of the body that a camera follows; 0 if none."""
    return int(camera.trackbodyid) if camera.type == TRACKING else 0


def follow(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, body: int) -> int:
    """Let a camera follow a body, or stay at its present look-at point; keep its distance.

    Args:
        data: Its state, after ``mj_kinematics``.
        body: Id of the body; 0 is none.

    Returns:
        Studio's index of the camera.
    """
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
    """Let a camera follow a body or be one of the model, by name.

    It has the same arguments as `follow`.

    Returns:
        Studio's index of the camera; None if the model has no such body or camera.
    """
    kinds = mujoco.mjtObj
    body = mujoco.mj_name2id(model, kinds.mjOBJ_BODY, wanted.body) if wanted.body else 0
    if body > 0:
        return follow(model, data, camera, body)
    fixed = mujoco.mj_name2id(model, kinds.mjOBJ_CAMERA, wanted.camera) if wanted.camera else -1
    return int(ux.set_camera(model, camera, fixed)) if fixed >= 0 else None
