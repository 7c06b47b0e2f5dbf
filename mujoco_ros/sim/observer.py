"""Quantities of the current state, computed in parallel to the physics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.sim.state.state_vector import set_state, state_vector

_BODY = int(mujoco.mjtObj.mjOBJ_XBODY)
AT_BODY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""The identity: no offset."""
_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)


class BoundingBox(NamedTuple):
    """An axis-aligned box in some frame: its lowest and its highest corner [m]."""

    low: np.ndarray  # (3,)
    high: np.ndarray  # (3,)


@dataclass(frozen=True, slots=True)
class Motion:
    """Pose and motion of a frame, relative to the world.

    Attributes:
        position: [m]  # (3,)
        quat_wxyz: # (4,)
        linear: Velocity of the origin of the frame [m/s].  # (3,)
        angular: [rad/s]  # (3,)
        linear_acceleration: Classical, gravity not subtracted [m/s²].  # (3,)
        angular_acceleration: [rad/s²]  # (3,)
    """

    position: np.ndarray
    quat_wxyz: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    linear_acceleration: np.ndarray
    angular_acceleration: np.ndarray


class Observer:
    """Computes quantities of a state on its own `MjData`.

    `read` belongs to the physics thread and costs a copy of the state; everything else belongs to
    another thread. The state is the current one between two steps, also after a reset or a jump;
    the derived quantities in the data of the simulation are older.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self._data = mujoco.MjData(model)

    @property
    def time(self) -> float:
        """Simulated time of the state that was set last [s]."""
        return float(self._data.time)

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """Return a copy of the current state of `data`.  # (size,)"""
        return state_vector(self.model, data)

    def set(self, state: np.ndarray) -> None:
        """Set a state from `read`, and compute the quantities that follow."""
        set_state(self.model, self._data, state)
        mujoco.mj_forward(self.model, self._data)
        mujoco.mj_rnePostConstraint(self.model, self._data)  # for mj_objectAcceleration

    def motion(self, body: int, offset: np.ndarray = AT_BODY) -> Motion:
        """Return the motion of a frame that is fixed to a body.

        Args:
            body: The body; 0 is the world.
            offset: Pose of the frame in that of the body, position and quaternion wxyz.  # (7,)
        """
        model, data = self.model, self._data
        velocity, acceleration = np.zeros(6), np.zeros(6)
        if model.body_weldid[body]:  # else it is fixed to the world, or moved like a mocap body
            mujoco.mj_objectVelocity(model, data, _BODY, body, velocity, 0)
            mujoco.mj_objectAcceleration(model, data, _BODY, body, acceleration, 0)
            if not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
                acceleration[3:] += model.opt.gravity  # the engine subtracts it
        position, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            position, quat, data.xpos[body], data.xquat[body], offset[:3], offset[3:]
        )
        (turning, moving), (turned, moved) = velocity.reshape(2, 3), acceleration.reshape(2, 3)
        arm = position - data.xpos[body]
        centripetal = np.cross(turning, np.cross(turning, arm))
        return Motion(
            position=position,
            quat_wxyz=quat,
            linear=moving + np.cross(turning, arm),
            angular=turning,
            linear_acceleration=moved + np.cross(turned, arm) + centripetal,
            angular_acceleration=turned,
        )

    def box(
        self, geoms: Sequence[int], body: int = 0, offset: np.ndarray = AT_BODY
    ) -> BoundingBox | None:
        """Return the bounding box of geoms along the axes of a frame, given as for `motion`.

        None if there are no geoms, or one is infinite, as a plane.
        """
        ids = np.array(geoms, dtype=np.intp)
        if not ids.size or (self.model.geom_type[ids] == _PLANE).any():
            return None
        data, frame = self._data, self.motion(body, offset)
        aabb = self.model.geom_aabb[ids]
        turns = data.geom_xmat[ids].reshape(-1, 3, 3)
        centres = data.geom_xpos[ids] + np.einsum("gij,gj->gi", turns, aabb[:, :3])
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, frame.quat_wxyz)
        to_frame = axes.reshape(3, 3).T
        centres = (centres - frame.position) @ to_frame.T
        halves = np.einsum("gij,gj->gi", np.abs(to_frame @ turns), aabb[:, 3:])
        return BoundingBox((centres - halves).min(axis=0), (centres + halves).max(axis=0))

    def site(self, site: int) -> tuple[np.ndarray, np.ndarray]:
        """Return position and orientation (wxyz) of a site in the world.  # (3,), (4,)."""
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, self._data.site_xmat[site])
        return self._data.site_xpos[site].copy(), quat
