"""Poses and points in the world, as messages have them."""

import math

import numpy as np
from geometry_msgs.msg import Point, Pose

from mujoco_ros.bridge.publishing.topics import WORLD
from mujoco_ros.model.errors import UserInputError

_FARTHEST_M = 1e6


def pose_in_world(frame: str, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Return the position [m] and the unit quaternion wxyz of a pose.

    Args:
        frame: What the header says it is in; nothing is the world.
        pose: The pose.

    Raises:
        ModelError: It is in another frame than the world, or no pose.
    """
    if frame not in ("", WORLD):
        raise UserInputError(f"the pose is in frame '{frame}'; it must be in '{WORLD}'")
    position, turn = point("position", pose.position), pose.orientation
    length = math.hypot(turn.w, turn.x, turn.y, turn.z)
    if not 0.5 < length < 2.0:
        raise UserInputError(
            f"the quaternion of the orientation must have length 1, got {length:g}"
        )
    return position, np.array([turn.w, turn.x, turn.y, turn.z]) / length


def point(name: str, told: Point) -> np.ndarray:
    """Return the coordinates of a point [m].  # (3,)

    Raises:
        ModelError: `name` has a number that is none, or is too far away.
    """
    numbers = np.array([told.x, told.y, told.z])
    if not np.all(np.abs(numbers) <= _FARTHEST_M):  # so is NaN
        shown = ", ".join(f"{number:g}" for number in numbers)
        raise UserInputError(f"{name} ({shown}) has a number that is none, or is too far away")
    return numbers
