"""Commands and settings of the Cartesian controller, and what command arbitration needs of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal, Protocol

import numpy as np

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joint_owners import JointOwner
from mujoco_ros.control.settings import setting


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedFrame:
    """A frame that is fixed to a body of the model."""

    name: str  # name in TF
    body: int  # the body; 0 is the world
    position: np.ndarray  # origin in the frame of the body [m] (3,)
    quat_wxyz: np.ndarray  # orientation in the frame of the body (4,)


CommandKind = Literal["pose", "twist", "wrench"]
_LIMITS: dict[CommandKind, tuple[tuple[str, float], ...]] = {
    "pose": (("position", 1e6),),
    "twist": (("linear velocity", 1e3), ("angular velocity", 1e3)),
    "wrench": (("force", 1e6), ("torque", 1e6)),
}
"""Names and largest numbers of the two vectors of a command; quaternions are normalized."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CartesianCommand:
    """A checked target for the controlled frame.

    A pose, a velocity relative to the base, or a wrench that the frame exerts in addition to its
    spring; all refer to the origin of the controlled frame.
    """

    kind: CommandKind
    # The frame in which a pose is given, and along whose axes twists and wrenches are
    frame: FixedFrame
    linear: np.ndarray  # position [m], velocity [m/s] or force [N] (3,)
    angular: np.ndarray  # unit quaternion wxyz (4,), angular velocity [rad/s] or torque [Nm] (3,)


def cartesian_command(
    kind: CommandKind, frame: FixedFrame, linear: Sequence[float], angular: Sequence[float]
) -> CartesianCommand:
    """Return a checked command; a CommandError names what is wrong."""
    vectors = [np.array(linear, dtype=float), np.array(angular, dtype=float)]
    if kind == "pose":
        length = hypot(*angular)
        if not 0.5 < length < 2.0:  # false for NaN
            raise CommandError(
                f"the quaternion of the orientation must have length 1, got {length:g}"
            )
        vectors[1] /= length
    for (name, largest), numbers in zip(_LIMITS[kind], vectors, strict=False):
        if not np.all(np.abs(numbers) <= largest):  # true for NaN
            shown = ", ".join(f"{number:g}" for number in numbers)
            raise CommandError(
                f"{name} ({shown}) has a component that is not finite, or beyond {largest:g}"
            )
    return CartesianCommand(kind=kind, frame=frame, linear=vectors[0], angular=vectors[1])


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
    """A command source that moves a frame of a robot by its joints."""

    settings: CartesianSettings
    busy: bool  # whether `update` is needed

    @property
    def joints(self) -> np.ndarray:
        """Indices of the joints that it commands; none without a frame.  # (k,)"""

    def check(self, settings: CartesianSettings) -> object:
        """Check that the frame and the joints exist and take commands of the mode."""

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
