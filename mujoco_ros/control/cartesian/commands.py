"""Checked commands of the Cartesian controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np

from mujoco_ros.control.events import CommandError

_FARTHEST_M = 1e6
_FASTEST = 1e3
_STRONGEST = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedFrame:
    """A frame that is fixed to a body of the model.

    Attributes:
        name: Name in TF.
        body: The body; 0 is the world.
        position: Origin in the frame of the body [m].  # (3,)
        quat_wxyz: Orientation in the frame of the body.  # (4,)
    """

    name: str
    body: int
    position: np.ndarray
    quat_wxyz: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class PoseTarget:
    """A pose for the controlled frame.

    Attributes:
        frame: The frame in which it is given.
        position: [m]  # (3,)
        quat_wxyz: Unit quaternion.  # (4,)
    """

    frame: FixedFrame
    position: np.ndarray
    quat_wxyz: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class TwistTarget:
    """A velocity of the controlled frame, relative to the base.

    Attributes:
        frame: The frame along whose axes it is given.
        linear: Velocity of the origin of the controlled frame [m/s].  # (3,)
        angular: [rad/s]  # (3,)
    """

    frame: FixedFrame
    linear: np.ndarray
    angular: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class WrenchTarget:
    """A wrench that the controlled frame exerts in addition to its spring.

    Attributes:
        frame: The frame along whose axes it is given.
        force: Force at the origin of the controlled frame [N].  # (3,)
        torque: [Nm]  # (3,)
    """

    frame: FixedFrame
    force: np.ndarray
    torque: np.ndarray


CartesianCommand = PoseTarget | TwistTarget | WrenchTarget


def pose_target(
    frame: FixedFrame, position: Sequence[float], quat_wxyz: Sequence[float]
) -> PoseTarget:
    """Return a checked pose.

    Raises:
        CommandError: A number is not finite or too large, or the quaternion is no rotation.
    """
    length = hypot(*quat_wxyz)
    if not 0.5 < length < 2.0:  # false for NaN
        raise CommandError(f"the quaternion of the orientation must have length 1, got {length:g}")
    return PoseTarget(
        frame=frame,
        position=_numbers("position", position, _FARTHEST_M),
        quat_wxyz=np.array(quat_wxyz, dtype=float) / length,
    )


def twist_target(
    frame: FixedFrame, linear: Sequence[float], angular: Sequence[float]
) -> TwistTarget:
    """Return a checked twist.

    Raises:
        CommandError: A number is not finite or too large.
    """
    return TwistTarget(
        frame=frame,
        linear=_numbers("linear velocity", linear, _FASTEST),
        angular=_numbers("angular velocity", angular, _FASTEST),
    )


def wrench_target(
    frame: FixedFrame, force: Sequence[float], torque: Sequence[float]
) -> WrenchTarget:
    """Return a checked wrench.

    Raises:
        CommandError: A number is not finite or too large.
    """
    return WrenchTarget(
        frame=frame,
        force=_numbers("force", force, _STRONGEST),
        torque=_numbers("torque", torque, _STRONGEST),
    )


def _numbers(name: str, values: Sequence[float], largest: float) -> np.ndarray:
    numbers = np.array(values, dtype=float)
    if not np.all(np.abs(numbers) <= largest):  # true for NaN
        shown = ", ".join(f"{number:g}" for number in numbers)
        raise CommandError(
            f"{name} ({shown}) has a component that is not finite, or beyond {largest:g}"
        )
    return numbers
