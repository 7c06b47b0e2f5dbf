"""Stamps, poses and points of messages as numbers and arrays."""

import math

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.names import WORLD

_NANOSECONDS = 1_000_000_000


def stamp(time: float) -> Time:
    """Return a simulated time as a message."""
    sec, nanosec = split(time)
    return Time(sec=sec, nanosec=nanosec)


def nanoseconds(time: Time) -> int:
    """Return a stamp as one number [ns]."""
    return int(time.sec) * _NANOSECONDS + int(time.nanosec)


def split(time: float) -> tuple[int, int]:
    """Return a simulated time as seconds and nanoseconds, rounded to the nanosecond."""
    return divmod(round(time * _NANOSECONDS), _NANOSECONDS)


_FARTHEST_M = 1e6


def pose_message(position: np.ndarray, quat_wxyz: np.ndarray) -> Pose:
    """Return a pose.  # (3,), (4,)."""
    w, x, y, z = (float(number) for number in quat_wxyz)
    px, py, pz = (float(number) for number in position)
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def pose_in_world(frame: str, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Return position [m] and unit quaternion wxyz of a pose, whose frame must be the world."""
    if frame not in ("", WORLD):
        raise UserInputError(f"the pose is in frame '{frame}'; it must be in '{WORLD}'")
    position, turn = np.array(checked_xyz("position", pose.position)), pose.orientation
    length = math.hypot(turn.w, turn.x, turn.y, turn.z)
    if not 0.5 < length < 2.0:
        raise UserInputError(
            f"the quaternion of the orientation must have length 1, got {length:g}"
        )
    return position, np.array([turn.w, turn.x, turn.y, turn.z]) / length


def xyz(vector: Point | Vector3 | Quaternion) -> tuple[float, float, float]:
    """Return the components of a vector, or of the vector of a quaternion."""
    return vector.x, vector.y, vector.z


def checked_xyz(
    name: str, vector: Point | Vector3, largest: float = _FARTHEST_M, unit: str = " m"
) -> tuple[float, float, float]:
    """Return the components of a vector, if they are finite and at most `largest`."""
    numbers = xyz(vector)
    if not all(abs(number) <= largest for number in numbers):  # true for NaN
        shown = ", ".join(f"{number:g}" for number in numbers)
        what = "coordinate" if unit else "component"
        raise UserInputError(
            f"{name} ({shown}) has a {what} that is not finite, or beyond {largest:g}{unit}"
        )
    return numbers
