"""Joint torques that the motion of a walking robot needs."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole

_SMOOTHING = 0.02
"""Time constant of the accelerations, which are differences of velocities [s]."""
_LARGEST_ACCELERATION = 50.0
"""[m/s² or rad/s²]"""
_LARGEST_OFFSET = 0.09
"""[m]"""


class FeedForward:
    """Inverse dynamics of the reference motion, with the body carried by its feet.

    The inverted pendulum neglects that the legs swing. The moment that this needs shifts the
    zero-moment point (ZMP).

    Attributes:
        zmp_offset: ZMP of the reference motion less that of the pendulum, at the last tick [m].
            # (2,)
    """

    def __init__(self, body: FloatingBaseKinematics, soles: Sequence[Sole]) -> None:
        """Use the reference configuration `body`, without a copy."""
        self._body, self._soles = body, tuple(soles)
        self._forces = np.zeros(body.model.nv)
        self._jacobian = np.zeros((6, body.size))
        self._last, self._acceleration = np.zeros(body.size), np.zeros(body.size)
        self._moment = np.zeros(3)
        self.zmp_offset = np.zeros(2)

    def reset(self) -> None:
        """Begin again, at rest."""
        self._last[:] = self._acceleration[:] = 0.0
        self.zmp_offset[:] = 0.0

    def torques(
        self, velocity: np.ndarray, loads: np.ndarray, pressure: np.ndarray, period: float
    ) -> np.ndarray:
        """Return joint torques [Nm].  # (n,)

        Args:
            velocity: Of all degrees of freedom, with which the body has moved.  # (6 + n,)
            loads: Vertical forces on the feet, of which only the ratio is used; their sum is above
                0.  # (2,)
            pressure: Centres of pressure in the frames of the soles [m].  # (2, 2)
            period: Time since the last call [s].
        """
        body, model, data = self._body, self._body.model, self._body.data
        share = period / (period + _SMOOTHING)
        difference = (velocity - self._last) / period
        np.minimum(difference, _LARGEST_ACCELERATION, out=difference)
        np.maximum(difference, -_LARGEST_ACCELERATION, out=difference)
        self._last[:] = velocity
        self._acceleration += share * (difference - self._acceleration)
        data.qacc[:] = 0.0
        data.qacc[body.dofs] = self._acceleration
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, self._forces)
        forces = self._forces[body.dofs]
        self._shift_zmp(forces)
        torques: np.ndarray = forces
        total = loads.sum()
        for sole, load, (ahead, left) in zip(self._soles, loads, pressure, strict=True):
            if load <= 0.0:
                continue
            origin, axes = sole.frame(data)
            point = origin + axes[:, 0] * ahead + axes[:, 1] * left
            body.jacobian(point, sole.body, self._jacobian)
            force = forces[:3] * (load / total)
            torques = torques - self._jacobian[:3].T @ force
        return torques[6:]

    def _shift_zmp(self, forces: np.ndarray) -> None:
        """Compute the offset of the ZMP from the force and the moment on the base.  # (6 + n,)"""
        body, data = self._body, self._body.data
        force = forces[:3]
        if not force[2] > 0.0:
            return
        # About the centre of mass, along the axes of the world.
        mujoco.mju_cross(self._moment, body.position - body.com, force)
        self._moment += data.xmat[body.base].reshape(3, 3) @ forces[3:6]
        x, y, _ = (self._moment / force[2]).tolist()
        for axis, offset in enumerate((-y, x)):
            self.zmp_offset[axis] = min(max(offset, -_LARGEST_OFFSET), _LARGEST_OFFSET)
