"""The flat sole of a foot, found in the collision geometry."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.chain import tool_ids
from mujoco_ros.model.errors import UserInputError

_FLAT_M = 5e-3  # points this far above the lowest one belong to the sole
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Sole:
    """A rectangle at the bottom of a foot; of a ball, its lowest point.

    Its frame is at the centre of the rectangle, aligned with the upright base in the initial
    configuration: x forwards, z upwards.
    """

    name: str  # name of the foot's body, without the prefix
    body: int  # id of the foot's body
    position: np.ndarray  # origin of the sole in the frame of the body [m] (3,)
    rotation: np.ndarray  # axes of the sole in the frame of the body (3, 3)
    half_size: np.ndarray  # half the length and half the width [m] (2,)

    def frame(self, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
        """Return origin (3,) and axes (3, 3) in ``world``, after ``mj_kinematics``."""
        axes = data.xmat[self.body].reshape(3, 3)
        return data.xpos[self.body] + axes @ self.position, axes @ self.rotation


def find_soles(
    model: mujoco.MjModel, data: mujoco.MjData, prefix: str, feet: Sequence[str]
) -> tuple[Sole, ...]:
    """Return the soles of feet, by the names of their bodies without the prefix.

    `data` has the frames of the initial configuration with an upright base, facing along x of
    ``world``. UserInputError if a foot does not exist or cannot collide.
    """
    return tuple(_sole(model, data, prefix, foot) for foot in feet)


def _sole(model: mujoco.MjModel, data: mujoco.MjData, prefix: str, foot: str) -> Sole:
    _, body = tool_ids(model, prefix + foot)
    geoms = np.flatnonzero(
        (model.geom_bodyid == body) & ((model.geom_contype | model.geom_conaffinity) != 0)
    )
    if not len(geoms):
        raise UserInputError(f"foot '{foot}' has no collision geometry")
    points = np.concatenate([_corners(model, data, int(geom)) for geom in geoms])
    lowest = float(points[:, 2].min())
    flat = points[points[:, 2] < lowest + _FLAT_M, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    centre = np.array([*(0.5 * (low + high)), lowest])
    axes = data.xmat[body].reshape(3, 3)
    return Sole(
        name=foot,
        body=body,
        position=axes.T @ (centre - data.xpos[body]),
        rotation=axes.T.copy(),
        half_size=0.5 * (high - low),
    )


def _corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> np.ndarray:
    """Return vertices of a mesh, lowest point of a sphere, or corners of a box around.  # (m, 3)"""
    if model.geom_type[geom] == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return np.array([data.geom_xpos[geom] - (0.0, 0.0, model.geom_size[geom, 0])])
    if model.geom_type[geom] == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        points = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
    else:
        points = model.geom_aabb[geom, :3] + _CORNERS * model.geom_aabb[geom, 3:]
    axes = data.geom_xmat[geom].reshape(3, 3)
    corners: np.ndarray = data.geom_xpos[geom] + points @ axes.T
    return corners
