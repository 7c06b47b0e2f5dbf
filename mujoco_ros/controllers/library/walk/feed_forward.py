"""Joint torques that the motion of a walking robot needs."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole


class FeedForward:
    """Inverse dynamics of a body that accelerates as a whole, carried by its feet.

    The joint torques are those of gravity and of the horizontal acceleration of the base, less
    those of the forces on the soles. Joint accelerations are neglected.
    """

    def __init__(self, body: FloatingBaseKinematics, soles: Sequence[Sole]) -> None:
        """Use the reference configuration `body`, without a copy."""
        self._body, self._soles = body, tuple(soles)
        self._forces = np.zeros(body.model.nv)
        self._jacobian = np.zeros((6, body.size))

    def torques(
        self, acceleration: np.ndarray, loads: np.ndarray, pressure: np.ndarray
    ) -> np.ndarray:
        """Return joint torques [Nm].  # (n,)

        Args:
            acceleration: Of the centre of mass in ``world`` [m/s²].  # (2,)
            loads: Vertical forces on the feet [N]; their sum is above 0.  # (2,)
            pressure: Centres of pressure in the frames of the soles [m].  # (2, 2)
        """
        body, model, data = self._body, self._body.model, self._body.data
        data.qvel[:] = data.qacc[:] = 0.0
        data.qacc[body.dofs[:2]] = acceleration
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, self._forces)
        torques: np.ndarray = self._forces[body.dofs]
        for sole, load, (ahead, left) in zip(self._soles, loads, pressure, strict=True):
            if load <= 0.0:
                continue
            origin, axes = sole.frame(data)
            point = origin + axes[:, 0] * ahead + axes[:, 1] * left
            body.jacobian(point, sole.body, self._jacobian)
            force = np.array([*(body.mass * acceleration * (load / loads.sum())), load])
            torques -= self._jacobian[:3].T @ force
        return torques[6:]
