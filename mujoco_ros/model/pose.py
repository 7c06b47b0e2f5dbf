"""Pose of a frame in another frame, also in configuration files."""

import math
from dataclasses import dataclass, field

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError

_SMALLEST_NORM = 1e-6  # a quaternion with a smaller norm has no defined orientation
_SINGULAR = 1e-9  # cosine of a pitch that is a quarter turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Pose:
    """Pose of a frame, in ``world`` unless documented otherwise."""

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))  # [m] (3,)
    # Unit quaternion (4,)
    quat_wxyz: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    @property
    def matrix(self) -> np.ndarray:
        """Rotation matrix; its columns are the frame's axes.  # (3, 3)."""
        w, x, y, z = self.quat_wxyz / np.linalg.norm(self.quat_wxyz)
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def distance_to(self, other: "Pose") -> float:
        """Return the distance between the two origins [m]."""
        offset = self.position - other.position
        return math.sqrt(offset.dot(offset))

    def equals(self, other: "Pose") -> bool:
        """Return whether all numbers are equal."""
        return np.array_equal(self.position, other.position) and np.array_equal(
            self.quat_wxyz, other.quat_wxyz
        )

    def check(self, name: str) -> None:
        """Reject non-finite numbers and a quaternion without orientation."""
        norm = float(np.linalg.norm(self.quat_wxyz))
        if not np.isfinite(self.position).all() or not _SMALLEST_NORM < norm < np.inf:
            position, quat_wxyz = self.position.tolist(), self.quat_wxyz.tolist()
            raise UserInputError(
                f"{name} needs a valid pose, got position {position} and quaternion {quat_wxyz}"
            )

    def __matmul__(self, inner: "Pose") -> "Pose":
        """Compose with a pose `inner` that is given in this frame."""
        return Pose(
            position=self.position + self.matrix @ inner.position,
            quat_wxyz=_product(self.quat_wxyz, inner.quat_wxyz),
        )

    def inverse(self) -> "Pose":
        """Return the pose of the other frame in this one."""
        return Pose(
            position=-self.matrix.T @ self.position,
            quat_wxyz=self.quat_wxyz * (1.0, -1.0, -1.0, -1.0),
        )


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quaternion product: rotation by `b`, then by `a`."""
    w, x, y, z = a
    table = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    product: np.ndarray = table @ b
    return product


def rpy_of(quat_wxyz: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a quaternion: rotations about fixed x, y and z [rad].

    Half of their sum and of their difference have no singularity but at a pitch of a quarter turn,
    where yaw is 0 (Bernardes and Viollet 2022, doi:10.1371/journal.pone.0276302).
    """
    w, x, y, z = map(float, quat_wxyz)
    up, down = math.hypot(w + y, x - z), math.hypot(w - y, x + z)
    half_sum, half_difference = math.atan2(x + z, w - y), math.atan2(x - z, w + y)
    if down < _SINGULAR * up:
        half_sum = half_difference
    elif up < _SINGULAR * down:
        half_difference = half_sum
    pitch = 2.0 * math.atan2(up, down) - 0.5 * math.pi
    return _wrapped(half_sum + half_difference), pitch, _wrapped(half_sum - half_difference)


def _wrapped(angle: float) -> float:
    """Return an angle in -pi..pi."""
    return math.remainder(angle, math.tau)


@dataclass(frozen=True, kw_only=True, slots=True)
class PoseConfig:
    """Pose: position [m], and roll-pitch-yaw [rad] (REP-103) or a quaternion xyzw.

    With `on_floor`, z is the height of the lowest point above the floor below it, at the start.
    """

    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] | None = None
    quaternion_xyzw: tuple[float, float, float, float] | None = None
    on_floor: bool = False

    def __post_init__(self) -> None:
        if self.rpy is not None and self.quaternion_xyzw is not None:
            raise UserInputError("give either 'rpy' or 'quaternion_xyzw', not both")
        if self.quaternion_xyzw is not None:
            length = math.hypot(*self.quaternion_xyzw)
            if not 0.5 < length < 2.0:
                raise UserInputError(f"'quaternion_xyzw' must have length 1, got {length:g}")


ORIGIN = PoseConfig()


def quaternion_wxyz(pose: PoseConfig) -> np.ndarray:
    """Return the rotation as a unit quaternion wxyz.  # (4,)."""
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    if pose.quaternion_xyzw is not None:
        quat[:] = np.roll(pose.quaternion_xyzw, 1)
        mujoco.mju_normalize4(quat)
    elif pose.rpy is not None:
        mujoco.mju_euler2Quat(quat, np.array(pose.rpy), "XYZ")
    return quat
