"""Task of a hand that presses against the side of a box."""

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.whole_body.whole_body_task import WholeBodyTask

_POSITION_WEIGHT, _NORMAL_WEIGHT = 1e2, 1e1
_GAIN, _NORMAL_GAIN = 0.2, 0.03
"""Part of the error that is corrected in a tick."""
_FASTEST, _FASTEST_TURN = 0.4, 1.5
"""Largest velocities of a correction [m/s, rad/s]."""


class HandTask(WholeBodyTask):
    """Position of a point of a hand, and direction of an axis of it, both relative to the base.

    A free hand may turn about the axis, and a locked one may not. Joints between the base and the
    ground are not involved, so that the task does not disturb the balance.

    Attributes:
        position: Target in the frame of the base [m].  # (3,)
        normal: Target of the axis, in the frame of the base.  # (3,)
    """

    def __init__(self, hand: int, offset: np.ndarray, axis: np.ndarray) -> None:
        """Set the hand.

        Args:
            hand: Id of the body.
            offset: The point in the frame of the body [m].  # (3,)
            axis: The axis in the frame of the body.  # (3,)
        """
        super().__init__(6, 0.0, _GAIN)
        self._hand, self._offset, self._axis = hand, offset, axis
        self.position, self.normal = np.zeros(3), axis.copy()
        self._jacobians, self._moved = np.zeros((2, 6, 0)), np.zeros((6, 0))
        self._across = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
        self._across /= np.linalg.norm(self._across)
        self._locked: np.ndarray | None = None

    @property
    def is_active(self) -> bool:
        """Whether the task counts."""
        return bool(self.weight[0] > 0.0)

    @is_active.setter
    def is_active(self, active: bool) -> None:
        self.weight[:] = np.repeat((_POSITION_WEIGHT, _NORMAL_WEIGHT), 3) if active else 0.0

    def bind(self, jacobian: np.ndarray, velocity: np.ndarray) -> None:
        """Write results into these arrays from now on."""
        super().bind(jacobian, velocity)
        self._jacobians = np.zeros((2, *jacobian.shape))
        self._moved = np.zeros(jacobian.shape)

    def point(self, body: FloatingBaseKinematics) -> np.ndarray:
        """Return the point in the frame of the base [m].  # (3,)"""
        data, base = body.data, body.base
        axes = data.xmat[self._hand].reshape(3, 3)
        point = data.xpos[self._hand] + axes @ self._offset - data.xpos[base]
        relative: np.ndarray = data.xmat[base].reshape(3, 3).T @ point
        return relative

    def lock(self, body: FloatingBaseKinematics) -> None:
        """Keep the present angle about the axis, until `free`."""
        data = body.data
        axes = data.xmat[body.base].reshape(3, 3).T @ data.xmat[self._hand].reshape(3, 3)
        self._locked = axes @ self._across

    def free(self) -> None:
        """Let the hand turn about the axis."""
        self._locked = None

    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        """Move to the targets."""
        if not self.is_active:
            return
        data, base = body.data, body.base
        base_axes = data.xmat[base].reshape(3, 3)
        axes = data.xmat[self._hand].reshape(3, 3)
        point = data.xpos[self._hand] + axes @ self._offset
        of_hand, of_base = self._jacobians
        body.jacobian(point, self._hand, of_hand)
        body.jacobian(point, base, of_base)
        np.subtract(of_hand, of_base, out=self._moved)
        np.matmul(base_axes.T, self._moved[:3], out=self.jacobian[:3])
        normal = base_axes.T @ (axes @ self._axis)
        np.matmul(base_axes.T, self._moved[3:], out=self.jacobian[3:])
        velocity, rate = self.velocity, 1.0 / period
        relative = base_axes.T @ (point - data.xpos[base])
        np.subtract(self.position, relative, out=velocity[:3])
        _limit(velocity[:3], self.gain * rate, _FASTEST)
        mujoco.mju_cross(velocity[3:], normal, self.normal)
        if self._locked is None:
            self.jacobian[3:] -= np.outer(normal, normal @ self.jacobian[3:])
        else:
            twisted = np.cross(base_axes.T @ (axes @ self._across), self._locked)
            velocity[3:] += normal * float(normal @ twisted)
        _limit(velocity[3:], _NORMAL_GAIN * rate, _FASTEST_TURN)


def _limit(error: np.ndarray, rate: float, fastest: float) -> None:
    """Turn an error into a velocity, in place."""
    error *= rate
    size = float(np.sqrt(error @ error))
    if size > fastest:
        error *= fastest / size
