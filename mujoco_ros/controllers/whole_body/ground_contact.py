"""Contact of a foot with the ground, for inverse dynamics."""

from itertools import product
from math import inf, sqrt

import numpy as np

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import Sole
from mujoco_ros.controllers.whole_body.tasks import FrameTask
from mujoco_ros.model.errors import UserInputError

_WEIGHT = 1e4  # of the acceleration of a foot on the ground [s⁴/m²]
_CORNERS = np.array([(x, y, 0.0) for x, y in product((1.0, -1.0), repeat=2)])


class GroundContact:
    """A foot that does not accelerate, and the points in which the ground pushes it.

    Forces act on the foot, along the contact's axes. The force of each point is in the pyramid
    inside the friction cone, so that a flat sole neither slips, nor tips, nor turns.

    Attributes:
        rotation: Axes of the contact in ``world``; the third one is the normal.  # (3, 3)
        least: Least normal force of each point while active [N].
        most: Greatest normal force of each point [N].
    """

    def __init__(
        self,
        body: int,
        points: np.ndarray,
        *,
        centre: np.ndarray | None = None,
        axes: np.ndarray | None = None,
        friction: float = 0.5,
        least: float = 0.0,
        most: float = inf,
    ) -> None:
        """Set the points; the contact is active.

        Args:
            body: Id of the foot's body.
            points: In the frame of the body [m].  # (k, 3)
            centre: Point that does not accelerate, in the frame of the body [m]; None is the mean
                of the points.  # (3,)
            axes: Axes of the sole in the frame of the body; None are its own.  # (3, 3)
        """
        if not friction > 0.0:
            raise UserInputError(f"friction must be positive, got {friction:g}")
        if not 0.0 <= least <= most:
            raise UserInputError(
                f"the normal force of a contact must be from 0 or more to at least that, got "
                f"{least:g} to {most:g}"
            )
        self.points = len(points)  # number of points
        turning = 0.0 if self.points == 1 else _WEIGHT
        self._weight = np.repeat((_WEIGHT, turning), 3)
        offset = points.mean(axis=0) if centre is None else centre
        # Keeps the foot where it is, with a decay of its velocity
        self.task = FrameTask(body, offset=offset, axes=axes, weight=self._weight, gain=0.0)
        self.rotation, self.least, self.most = np.eye(3), least, most
        self.friction = friction / sqrt(2.0)  # of a pyramid inside the cone
        # Of the points, along the contact's axes, after `compute` (3 k, 6 + n)
        self.jacobian = np.zeros((0, 0))
        # On the points, after a step of the control [N] (k, 3)
        self.forces = np.zeros((self.points, 3))
        self._body, self._points, self._is_active = body, points, True
        self._full = np.zeros((6, 0))
        self._is_at_centre = self.points == 1 and bool((offset == points[0]).all())

    @classmethod
    def of_sole(
        cls, sole: Sole, *, friction: float = 0.5, least: float = 0.0, most: float = inf
    ) -> "GroundContact":
        """Return the contact of a sole: its corners, or the point of a ball."""
        half = np.array([*sole.half_size, 0.0])
        corners = _CORNERS if half.any() else _CORNERS[:1]
        points = sole.position + (corners * half) @ sole.rotation.T
        return cls(
            *(sole.body, points),
            centre=sole.position,
            axes=sole.rotation,
            friction=friction,
            least=least,
            most=most,
        )

    @property
    def is_active(self) -> bool:
        """Whether the foot is on the ground; otherwise there is no force, and it may move."""
        return self._is_active

    @is_active.setter
    def is_active(self, is_active: bool) -> None:
        self._is_active = is_active
        self.task.weight[:] = self._weight if is_active else 0.0

    def bind(self, size: int) -> None:
        """Prepare for a robot with `size` degrees of freedom."""
        self.jacobian, self._full = np.zeros((3 * self.points, size)), np.zeros((6, size))

    def compute(self, body: FloatingBaseKinematics) -> None:
        """Compute the Jacobian, after the task; it is zero while the foot is in the air."""
        if not self._is_active:
            self.jacobian[:] = 0.0
            return
        if self._is_at_centre:
            np.matmul(self.rotation.T, self.task.jacobian[:3], out=self.jacobian)
            return
        axes = body.data.xmat[self._body].reshape(3, 3)
        origin = body.data.xpos[self._body]
        for number, point in enumerate(self._points):
            body.jacobian(origin + axes @ point, self._body, self._full)
            rows = self.jacobian[3 * number : 3 * number + 3]
            np.matmul(self.rotation.T, self._full[:3], out=rows)
