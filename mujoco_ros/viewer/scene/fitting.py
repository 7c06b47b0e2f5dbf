"""The pose of a free camera that shows all bodies, or one of them."""

import math
from itertools import product
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carried
from mujoco_ros.viewer.entity_displays import VISIBLE_GROUPS

_MARGIN = 1.1  # distance of the camera, relative to that at which the bodies just fit
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


def fitted_pose(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    body: int,
    *,
    azimuth: float,
    elevation: float,
    aspect: float,
    above: float = 0.0,
) -> dict[str, Any]:
    """Return a pose that shows the subtree of a body, or for 0 all but what is fixed in the world.

    Angles are in degrees; `aspect` is the width of the picture in heights, and `above` the share of
    the height that stays free at the upper edge.
    """
    shown = (model.geom_bodyid > 0) & (model.geom_group < VISIBLE_GROUPS)
    if 0 < body < model.nbody:
        shown &= carried(model, body)[model.geom_bodyid]
    shown &= np.isfinite(data.geom_xpos).all(axis=1)
    shown &= model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    if not shown.any():
        return {}
    centres, sizes = np.split(model.geom_aabb[shown, None], 2, axis=2)
    corners = centres + sizes * _CORNERS  # (n, 8, 3), in the frames of the geoms
    corners = corners @ data.geom_xmat[shown].reshape(-1, 3, 3).transpose(0, 2, 1)
    corners = (corners + data.geom_xpos[shown, None]).reshape(-1, 3)
    lookat = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    right, up, forwards = _axes(math.radians(azimuth), math.radians(elevation))
    offsets = corners - lookat
    extents = np.maximum(np.abs(offsets @ right) / aspect, np.abs(offsets @ up) / (1.0 - above))
    tangent = math.tan(math.radians(model.vis.global_.fovy) / 2.0)
    distance = _MARGIN * float((extents / tangent - offsets @ forwards).max())
    lookat += above * distance * tangent * up
    return {
        "lookat": [float(value) for value in lookat],
        "distance": distance,
        "azimuth": azimuth,
        "elevation": elevation,
    }


def _axes(azimuth: float, elevation: float) -> np.ndarray:
    """Return the directions to the right, upwards and forwards, in the world.  # (3, 3)"""
    horizontal = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    right = np.array([horizontal[1], -horizontal[0], 0.0])
    forwards = math.cos(elevation) * horizontal + np.array([0.0, 0.0, math.sin(elevation)])
    return np.stack([right, np.cross(right, forwards), forwards])
