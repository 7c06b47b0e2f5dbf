"""Commands and settings of the Cartesian controller, and what command arbitration needs of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal, Protocol

import numpy as np

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joint_owners import JointOwner
from mujoco_ros.control.settings import setting

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


CartesianMode = Literal["pose", "impedance"]
Axes = Literal["base", "tool"]
Vector = tuple[float, float, float]
_LONGEST_S = 3600.0
_STIFFEST = 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class CartesianSettings:
    """Settings of the Cartesian controller of a robot."""

    frame: str = setting(
        "Frame that the controller moves: a body, site or fixed camera of the robot; empty for the "
        "end of its arm, if it has one",
        "",
    )
    joints: tuple[str, ...] = setting(
        "Joints that move the frame; [''] for all that take commands", ("",)
    )
    enabled: bool = setting(
        "Whether its commands act; when it is disabled, its joints hold their position", True
    )
    mode: CartesianMode = setting(
        "Whether targets are reached by joint positions, or by the efforts of a spring and a "
        "damper at the frame",
        "pose",
    )
    max_linear_velocity: float = setting(
        "Largest speed of the reference [m/s]", 1.0, low=1e-4, high=100.0
    )
    max_angular_velocity: float = setting(
        "Largest angular speed of the reference [rad/s]", 3.0, low=1e-4, high=100.0
    )
    max_linear_acceleration: float = setting(
        "Largest acceleration of the reference [m/s²]", 10.0, low=1e-3, high=1e4
    )
    max_angular_acceleration: float = setting(
        "Largest angular acceleration of the reference [rad/s²]", 25.0, low=1e-3, high=1e4
    )
    max_joint_velocity: float = setting(
        "Largest speed of a joint [rad/s or m/s], if the model has no smaller one",
        3.0,
        low=1e-3,
        high=100.0,
    )
    max_joint_acceleration: float = setting(
        "Largest acceleration of a joint [rad/s² or m/s²]", 50.0, low=1e-2, high=1e5
    )
    twist_timeout: float = setting(
        "Simulated time for which a twist or wrench acts without another one [s]; 0 is unbounded",
        0.25,
        high=_LONGEST_S,
    )
    rotation_weight: float = setting(
        "Position error that counts as much as an orientation error of 1 rad, where both cannot "
        "vanish [m]; 0 leaves the orientation free",
        0.2,
        high=100.0,
    )
    feedforward: bool = setting(
        "Whether joint efforts of the motion are added: gravity, Coriolis and inertia", True
    )
    nullspace_rate: float = setting(
        "Rate at which spare joints return to where they were when the controller took them [1/s]",
        1.0,
        high=100.0,
        parameter="nullspace.rate",
    )
    nullspace_stiffness: float = setting(
        "Stiffness by which spare joints return to where they were when the controller took them "
        "[Nm/rad or N/m]; impedance mode",
        10.0,
        high=_STIFFEST,
        parameter="nullspace.stiffness",
    )
    stiffness_translation: Vector = setting(
        "Stiffness along x, y and z [N/m]; impedance mode",
        (1000.0, 1000.0, 1000.0),
        high=_STIFFEST,
        parameter="stiffness.translation",
    )
    stiffness_rotation: Vector = setting(
        "Stiffness about x, y and z [Nm/rad]; impedance mode",
        (50.0, 50.0, 50.0),
        high=_STIFFEST,
        parameter="stiffness.rotation",
    )
    damping_translation: Vector = setting(
        "Damping along x, y and z [Ns/m]; 0 is derived from the damping ratio; impedance mode",
        (0.0, 0.0, 0.0),
        high=_STIFFEST,
        parameter="damping.translation",
    )
    damping_rotation: Vector = setting(
        "Damping about x, y and z [Nms/rad]; 0 is derived from the damping ratio; impedance mode",
        (0.0, 0.0, 0.0),
        high=_STIFFEST,
        parameter="damping.rotation",
    )
    damping_ratio: float = setting(
        "Damping ratio of the spring with the mass that the frame presents; impedance mode",
        1.0,
        high=10.0,
    )
    axes: Axes = setting("Axes of stiffness and damping; impedance mode", "base")
    max_translation_error: float = setting(
        "Largest position error that the spring acts on [m]; impedance mode",
        0.1,
        low=1e-4,
        high=100.0,
        parameter="max_error.translation",
    )
    max_rotation_error: float = setting(
        "Largest orientation error that the spring acts on [rad]; impedance mode",
        0.5,
        low=1e-4,
        high=3.14,
        parameter="max_error.rotation",
    )


class CartesianSource(JointOwner, Protocol):
    """A command source that moves a frame of a robot by its joints.

    Attributes:
        settings: Its settings.
        busy: Whether `update` is needed.
    """

    settings: CartesianSettings
    busy: bool

    @property
    def joints(self) -> np.ndarray:
        """Indices of the joints that it commands; none without a frame.  # (k,)"""

    def check(self, settings: CartesianSettings) -> object:
        """Check settings.

        Raises:
            UserInputError: A frame or a joint does not exist, or takes no commands of the mode.
        """

    def refusal(self, command: CartesianCommand) -> str:
        """Return why a command is refused; empty if it is not."""

    def accept(self, command: CartesianCommand, time: float) -> None:
        """Follow a command from the step at `time` on [s]."""

    def update(self, time: float) -> None:
        """Write the references of the step that begins at `time` [s]."""

    def configure(self, settings: CartesianSettings) -> None:
        """Replace the settings."""

    def settle(self) -> None:
        """End the motion; the joints hold their position."""

    def reset(self) -> None:
        """Drop all commands."""
