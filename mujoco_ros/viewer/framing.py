"""The initial camera pose: all bodies fit the part of the page without panels."""

import math

import mujoco
import numpy as np

from mujoco_ros.viewer.docks import Rectangle

_MIN_SLOPE = 0.2
_FILLED = 0.75
"""Distance of the camera, as part of that at which a sphere around all bodies fills the page."""
_VISIBLE_GROUPS = 3
"""Geom groups that are shown by default."""


def frame_bodies(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera) -> None:
    """Move a free camera so that it shows all bodies, without those fixed in the world.

    The look-at point and the distance change; azimuth and elevation do not.

    Args:
        model: The model.
        data: Its state, after ``mj_kinematics``.
        camera: The camera.
    """
    shown = (model.geom_bodyid > 0) & (model.geom_group < _VISIBLE_GROUPS)
    shown &= np.isfinite(data.geom_xpos).all(axis=1)
    if not shown.any():
        return
    middles, reach = data.geom_xpos[shown], model.geom_rbound[shown, None]
    lower, upper = (middles - reach).min(axis=0), (middles + reach).max(axis=0)
    camera.lookat[:] = 0.5 * (lower + upper)
    radius = 0.5 * float(np.linalg.norm(upper - lower))
    camera.distance = _FILLED * radius / math.sin(math.radians(model.vis.global_.fovy) / 2.0)


def fit_camera(
    model: mujoco.MjModel, camera: mujoco.MjvCamera, scene: Rectangle, page_height: float
) -> None:
    """Move a free camera that shows the model on the whole page so that `scene` shows it.

    The distance and the height of the look-at point change; azimuth and elevation do not.

    Args:
        model: The model.
        camera: The camera.
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
