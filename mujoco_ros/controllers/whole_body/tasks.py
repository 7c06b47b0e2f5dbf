"""Tasks of whole-body control: frames, the centre of mass, joints."""

from abc import ABC, abstractmethod

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole
from mujoco_ros.model.errors import UserInputError


class WholeBodyTask(ABC):
    """A velocity that depends linearly on the joints' velocities, and its wanted value.

    Attributes:
        jacobian: Set by `compute`.  # (rows, nv)
        velocity: Set by `compute`.  # (rows,)
    """

    def __init__(self, rows: int, weight: float | np.ndarray, gain: float) -> None:
        """Set weights; UserInputError if one is negative, or the gain is not from 0 to 1."""
        self.rows = rows  # number of components
        # Weight of each component; 0 is off (rows,)
        self.weight = np.broadcast_to(np.asarray(weight, dtype=float), rows).copy()
        self.gain = gain  # part of the error that is corrected in a tick, from 0 to 1
        # Decay of the error of the velocity, of inverse dynamics [1/s].  # () or (rows,)
        self.rate: float | np.ndarray = 20.0
        self.acceleration = np.zeros(rows)  # of the target, for inverse dynamics (rows,)
        if not (self.weight >= 0.0).all():
            raise UserInputError(f"weights of a task must not be negative, got {weight}")
        if not 0.0 <= gain <= 1.0:
            raise UserInputError(f"the gain of a task must be from 0 to 1, got {gain:g}")
        self.jacobian, self.velocity = np.zeros((rows, 0)), np.zeros(rows)

    def bind(self, jacobian: np.ndarray, velocity: np.ndarray) -> None:
        """Write results into these arrays from now on."""
        self.jacobian, self.velocity = jacobian, velocity

    @abstractmethod
    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        """Compute Jacobian and velocity of the next `period` [s]."""

    def drift(self, body: FloatingBaseKinematics, out: np.ndarray) -> None:
        """Compute J' v (rows,), the acceleration of the task while no degree of freedom
        accelerates.

        It is neglected unless a task computes it. Only inverse dynamics need it, after `compute`.
        """
        out[:] = 0.0


class FrameTask(WholeBodyTask):
    """Pose of a frame of a body: position in the first three rows, orientation in the others.

    Attributes:
        position: Target in ``world`` [m].  # (3,)
        rotation: Target; its columns are the axes in ``world``.  # (3, 3)
        linear: Velocity of the target along the axes of ``world`` [m/s].  # (3,)
        angular: Angular velocity of the target along the axes of ``world`` [rad/s].  # (3,)
    """

    def __init__(
        self,
        body: int,
        *,
        offset: np.ndarray | None = None,
        axes: np.ndarray | None = None,
        weight: float | np.ndarray = 1.0,
        gain: float = 1.0,
    ) -> None:
        """Set the frame.

        Args:
            offset: Origin of the frame in the frame of the body [m]; None is 0.  # (3,)
            axes: Axes of the frame in the frame of the body; None are the body's.  # (3, 3)
            weight: Weights of the components.  # () or (6,)
            gain: Part of the error that is corrected in a tick.
        """
        super().__init__(6, weight, gain)
        self.position, self.rotation = np.zeros(3), np.eye(3)
        self.linear, self.angular = np.zeros(3), np.zeros(3)
        self._body = body
        self._offset = np.zeros(3) if offset is None else offset
        self._axes = np.eye(3) if axes is None else axes
        self._error, self._quat, self._origin = np.zeros(9), np.zeros(4), np.zeros(3)

    @classmethod
    def of_sole(
        cls, sole: Sole, *, weight: float | np.ndarray = 1.0, gain: float = 1.0
    ) -> "FrameTask":
        """Return a task for the frame of a sole."""
        return cls(sole.body, offset=sole.position, axes=sole.rotation, weight=weight, gain=gain)

    def frame(self, body: FloatingBaseKinematics) -> tuple[np.ndarray, np.ndarray]:
        """Return origin (3,) and axes (3, 3) in ``world``."""
        axes = body.data.xmat[self._body].reshape(3, 3)
        return body.data.xpos[self._body] + axes @ self._offset, axes @ self._axes

    def hold(self, body: FloatingBaseKinematics) -> None:
        """Set the present pose as a target at rest."""
        self.position[:], self.rotation[:] = self.frame(body)
        self.linear[:] = self.angular[:] = 0.0

    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        """Move to the target's pose of the end of the period."""
        origin, axes = self.frame(body)
        self._origin[:] = origin
        body.jacobian(origin, self._body, self.jacobian)
        np.matmul(self.rotation, axes.T, out=self._error.reshape(3, 3))
        mujoco.mju_mat2Quat(self._quat, self._error)
        rate = self.gain / period
        velocity = self.velocity
        mujoco.mju_quat2Vel(velocity[3:], self._quat, 1.0 / rate if rate > 0.0 else np.inf)
        velocity[3:] += self.angular
        np.subtract(self.position, origin, out=velocity[:3])
        velocity[:3] *= rate
        velocity[:3] += self.linear

    def drift(self, body: FloatingBaseKinematics, out: np.ndarray) -> None:
        """Compute J' v of the frame, after `compute`."""
        body.drift(self._origin, self._body, out)


class ComTask(WholeBodyTask):
    """Position of the centre of mass.

    Attributes:
        position: Target in ``world`` [m].  # (3,)
        linear: Velocity of the target [m/s].  # (3,)
    """

    def __init__(self, *, weight: float | np.ndarray = 1.0, gain: float = 1.0) -> None:
        super().__init__(3, weight, gain)
        self.position, self.linear = np.zeros(3), np.zeros(3)

    def hold(self, body: FloatingBaseKinematics) -> None:
        """Set the present position as a target at rest."""
        self.position[:] = body.com
        self.linear[:] = 0.0

    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        """Move to the target."""
        body.com_jacobian(self.jacobian)
        velocity = self.velocity
        np.subtract(self.position, body.com, out=velocity)
        velocity *= self.gain / period
        velocity += self.linear

    def drift(self, body: FloatingBaseKinematics, out: np.ndarray) -> None:
        """Compute J' v of the centre of mass."""
        out[:] = body.com_drift()


class JointTask(WholeBodyTask):
    """Positions of all joints."""

    def __init__(self, q: np.ndarray, *, weight: float | np.ndarray, gain: float = 0.1) -> None:
        super().__init__(len(q), weight, gain)
        self.q = q.copy()  # target [rad or m] (n,)

    def bind(self, jacobian: np.ndarray, velocity: np.ndarray) -> None:
        """Write the constant Jacobian."""
        super().bind(jacobian, velocity)
        jacobian[:] = 0.0
        jacobian[:, 6:] = np.eye(self.rows)

    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        """Move to the target."""
        np.subtract(self.q, body.q, out=self.velocity)
        self.velocity *= self.gain / period
