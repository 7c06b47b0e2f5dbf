"""Bounding boxes of the objects of a scene."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.controllers.library.pick_place.grip_limit import collision_geoms
from mujoco_ros.controllers.planning.collisions.planning_scene import free_address, free_body
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

_MAX_TILT = 0.2
"""Largest tilt of an object that stands on one of its sides [rad]."""
_OVERLAP = 0.002
"""Smallest depth of a collision at the goal [m]; less is the inaccuracy of measurements."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ObjectShape:
    """Bounding box of an object's collision geoms in the frame of its body.

    Attributes:
        centre: Its centre [m].  # (3,)
        half: Half of its edges [m].  # (3,)
        geoms: Its geoms in the model.
    """

    centre: np.ndarray
    half: np.ndarray
    geoms: tuple[int, ...]

    @classmethod
    def of(cls, model: Any, name: str) -> "ObjectShape | None":
        """Return the shape of an object; None if the model has no such free object."""
        try:
            body = free_body(model, name)
        except UserInputError:
            return None
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        bodies = [it for it in range(model.nbody) if model.body_rootid[it] == body]
        geoms = collision_geoms(model, bodies)
        if not geoms:
            return None
        origin, axes = data.xpos[body], data.xmat[body].reshape(3, 3)
        corners = np.array([it for geom in geoms for it in _corners(model, data, geom)])
        inside = (corners - origin) @ axes
        low, high = inside.min(0), inside.max(0)
        return cls(centre=0.5 * (low + high), half=0.5 * (high - low), geoms=tuple(geoms))

    def bottom(self, orientation: np.ndarray) -> float:
        """Return the height of the body's origin above its lowest point [m].

        Args:
            orientation: Axes of the body in ``world``; those of a standing object are
                rounded to the vertical.  # (3, 3)
        """
        vertical = _upright(orientation[2])
        return float(np.abs(vertical) @ self.half - vertical @ self.centre)

    def top(self, orientation: np.ndarray) -> float:
        """Return the height of its highest point above the body's origin [m]."""
        vertical = _upright(orientation[2])
        return float(np.abs(vertical) @ self.half + vertical @ self.centre)


def overlap_at(model: Any, name: str, shape: ObjectShape, pose: Pose) -> tuple[str, float] | None:
    """Return the static body that an object at a pose would penetrate, and the depth [m]."""
    data = mujoco.MjData(model)
    address = free_address(model, free_body(model, name))
    data.qpos[address : address + 7] = *pose.position, *pose.quat_wxyz
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    deepest: tuple[str, float] | None = None
    for contact in data.contact[: data.ncon]:
        pair = [int(it) for it in contact.geom]
        others = [it for it in pair if it not in shape.geoms]
        depth = -float(contact.dist)
        if len(others) != 1 or depth < max(_OVERLAP, deepest[1] if deepest else 0.0):
            continue
        body = int(model.geom_bodyid[others[0]])
        if not model.body_weldid[body]:
            deepest = model.body(body).name or "world", depth
    return deepest


def _corners(model: Any, data: Any, geom: int) -> list[np.ndarray]:
    """Return the corners of a geom's bounding box in ``world`` [m]."""
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    axes = data.geom_xmat[geom].reshape(3, 3)
    signs = product((-1.0, 1.0), repeat=3)
    return [data.geom_xpos[geom] + axes @ (centre + half * np.array(it)) for it in signs]


def _upright(vertical: np.ndarray) -> np.ndarray:
    """Return a vertical axis in the frame of a body, rounded to one of its own axes if near."""
    axis = int(np.argmax(np.abs(vertical)))
    if abs(vertical[axis]) < np.cos(_MAX_TILT):
        return vertical
    rounded = np.zeros(3)
    rounded[axis] = np.sign(vertical[axis])
    return rounded
