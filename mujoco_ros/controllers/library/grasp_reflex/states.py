"""The states of `grasp_reflex`: they command the gripper and leave the arm to whoever has it.

The idea is that of the example grasp.cpp of MuJoCo HAPTIX: touch closes a hand, a flick opens it,
and no state is left within two seconds, so that what closing does to the sensors opens nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeVar

import numpy as np

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.model.errors import UserInputError, unknown

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class GraspReflexState:
    """What all states of `grasp_reflex` have to know.

    Attributes:
        touches: Names of the touch sensors of the fingers.
        closed: At which of its limits the gripper's joint is closed.
        pause: No state is left sooner [s].
        duration: From open to closed, or back [s].
        least_force: What a sensor must read to count as touched [N].
    """

    touches: tuple[str, ...] = ("left_pad", "right_pad")
    closed: Literal["lower", "upper"] = "lower"
    pause: float = 2.0
    duration: float = 0.5
    least_force: float = 0.3

    def __post_init__(self) -> None:
        """Refuse a number that is not positive, here and in what adds to this."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and value <= 0.0:
                raise UserInputError(f"{field.name} {value} is not positive")
        if not self.touches:
            raise UserInputError("touches names no sensor")


@dataclass(frozen=True, kw_only=True, slots=True)
class Squeezing(GraspReflexState):
    """How to close.

    Attributes:
        squeeze: The gripper's reference is never so far ahead of it, which limits the force [m].
        least_opening: Fingers that come closer to each other have missed the thing [m].
    """

    squeeze: float = 0.002
    least_opening: float = 0.0005


@dataclass(frozen=True, kw_only=True, slots=True)
class Flicking(GraspReflexState):
    """When to open.

    Attributes:
        imu: Name of the IMU.
        flick: The angular velocity that opens the gripper [rad/s].
    """

    imu: str = "gripper_imu"
    flick: float = 1.5


class Gripper(State):
    """What all states have in common: they know the gripper and its senses."""

    Config = GraspReflexState
    config: GraspReflexState

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Find the gripper.

        Raises:
            ModelError: There is none, or its joint has no limits.
        """
        if robot.gripper is None:
            raise UserInputError(f"robot '{robot.name}' has no gripper")
        self.joint = robot.gripper
        limits = robot.lower[self.joint], robot.upper[self.joint]
        if not np.isfinite(limits).all():
            raise UserInputError(f"the gripper's joint '{robot.joints[self.joint]}' has no limits")
        self.open, self.closed = limits if self.config.closed == "upper" else limits[::-1]

    def start(self, context: StateContext) -> None:
        """Leave all other joints alone, and begin from where the gripper was told to be."""
        told = context.references.q[self.joint]
        self._from = context.observation.q[self.joint] if np.isnan(told) else told
        context.references.values[:] = np.nan
        if not np.isnan(told):
            self.tell(context, told)

    def tell(self, context: StateContext, position: float) -> None:
        """Have the gripper go somewhere [m]."""
        context.references.values[:, self.joint] = position, 0.0, 0.0

    def towards(self, context: StateContext, goal: float) -> float:
        """Return where the gripper should be on its way to `goal` [m]."""
        most = abs(self.open - self.closed) * context.elapsed / self.config.duration
        return float(self._from + np.clip(goal - self._from, -most, most))

    def felt(self, context: StateContext) -> list[bool]:
        """Return which of the touch sensors are touched."""
        readings = context.observation.touches
        return [
            _reading("touch sensor", name, readings) > self.config.least_force
            for name in self.config.touches
        ]


class FeelGrip(Gripper):
    """Leaves the gripper as it is, and feels whether there is something in it."""

    outcomes = ("holding", "empty")

    def start(self, context: StateContext) -> None:
        """Leave all joints alone."""
        context.references.values[:] = np.nan

    def run(self, context: StateContext) -> str | None:
        """Feel."""
        return "holding" if all(self.felt(context)) else "empty"


class OpenUntilTouched(Gripper):
    """Opens, and waits for something to touch a finger."""

    outcomes = ("touched",)

    def run(self, context: StateContext) -> str | None:
        """Open, and feel."""
        self.tell(context, self.towards(context, self.open))
        touched = any(self.felt(context))
        return "touched" if touched and context.over(self.config.pause) else None


class CloseOnTouch(Gripper):
    """Closes, with a limited force, and looks whether there is something between the fingers."""

    outcomes = ("gripped", "missed")
    failures: ClassVar[tuple[str, ...]] = ("missed",)
    Config = Squeezing
    config: Squeezing

    def run(self, context: StateContext) -> str | None:
        """Close, and feel."""
        config, position = self.config, context.observation.q[self.joint]
        ahead = self.towards(context, self.closed) - position
        self.tell(context, position + float(np.clip(ahead, -config.squeeze, config.squeeze)))
        if not context.over(config.pause):
            return None
        opening = abs(position - self.closed)
        if all(self.felt(context)) and opening > config.least_opening:
            return "gripped"
        context.reason = f"nothing held at an opening of {1e3 * opening:.1f} mm"
        return "missed"


class HoldUntilFlicked(Gripper):
    """Holds on, and waits for a flick."""

    outcomes = ("flicked", "lost")
    failures: ClassVar[tuple[str, ...]] = ("lost",)
    Config = Flicking
    config: Flicking

    def run(self, context: StateContext) -> str | None:
        """Feel whether it is turned, and whether it still holds something."""
        imu = _reading("IMU", self.config.imu, context.observation.imus)
        speed = float(np.linalg.norm(imu.angular_velocity))
        if not context.over(self.config.pause):
            return None
        if speed > self.config.flick:
            context.reason = f"turned at {speed:.1f} rad/s"
            return "flicked"
        return None if any(self.felt(context)) else "lost"


def _reading(kind: str, name: str, readings: Mapping[str, T]) -> T:
    if name not in readings:
        raise unknown(kind, name, readings)
    return readings[name]


STATES: tuple[type[State], ...] = (FeelGrip, OpenUntilTouched, CloseOnTouch, HoldUntilFlicked)
