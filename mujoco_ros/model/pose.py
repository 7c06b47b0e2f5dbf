"""Where a frame is in another."""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from mujoco_ros.model.errors import UserInputError

_LEAST_TURN = 1e-6
"""A quaternion shorter than this says nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pose:
    """Where a frame is in another, in ``world`` unless something else is said.

    Attributes:
        position: [m]  # (3,)
        quat_wxyz: Unit quaternion.  # (4,)
    """

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    @property
    def matrix(self) -> np.ndarray:
        """Return the rotation matrix; its columns are the frame's axes.  # (3, 3)."""
        w, x, y, z = self.quat_wxyz / np.linalg.norm(self.quat_wxyz)
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def away(self, other: "Pose") -> float:
        """Return how far apart the two origins are [m]."""
        way = self.position - other.position
        return sqrt(way.dot(way))

    def check(self, what: str) -> None:
        """Refuse what is nowhere: numbers that are none, or no orientation.

        Args:
            what: Whose pose it is; starts the message.

        Raises:
            UserInputError: It is.
        """
        turn = float(np.linalg.norm(self.quat_wxyz))
        if not np.isfinite(self.position).all() or not _LEAST_TURN < turn < np.inf:
            at, quat_wxyz = self.position.tolist(), self.quat_wxyz.tolist()
            raise UserInputError(f"{what} must be somewhere, got {at} turned by {quat_wxyz}")

    def __matmul__(self, inner: "Pose") -> "Pose":
        """Return where that is which is at `inner` in the frame here."""
        return Pose(
            position=self.position + self.matrix @ inner.position,
            quat_wxyz=_product(self.quat_wxyz, inner.quat_wxyz),
        )

    def inverse(self) -> "Pose":
        """Return where the other frame is in this one."""
        return Pose(
            position=-self.matrix.T @ self.position,
            quat_wxyz=self.quat_wxyz * (1.0, -1.0, -1.0, -1.0),
        )


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quaternion that turns as `b` and then as `a`."""
    w, x, y, z = a
    table = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    product: np.ndarray = table @ b
    return product
