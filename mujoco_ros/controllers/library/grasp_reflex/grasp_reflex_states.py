"""States of `grasp_reflex`, which commands only the gripper.

Based on the example grasp.cpp of MuJoCo HAPTIX: touch closes a hand, a flick opens it. Each state
lasts at least two seconds, so that the motion of the fingers does not trigger the sensors.
"""

from typing import Literal

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.observation import named_reading
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.base_states import ExtendedState
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.model.errors import UserInputError


class GraspReflexConfig(CheckedConfig):
    """Settings of all states of `grasp_reflex`."""

    touches: tuple[str, ...] = setting(
        "Names of the touch sensors of the fingers", ("left_pad", "right_pad")
    )
    closed: Literal["lower", "upper"] = setting(
        "Limit of the gripper's joint at which it is closed", "lower"
    )
    pause: Positive = setting("Minimum duration of the state [s]", 2.0)
    duration: Positive = setting("Time from open to closed, or back [s]", 0.5)
    least_force: Positive = setting(
        "Minimum reading of a touch sensor that counts as touch [N]", 0.3
    )

    def check(self) -> None:
        if not self.touches:
            raise UserInputError("touches lists no sensor")


class GripperState(ExtendedState):
    """Base of all states: gripper joint and touch sensors."""

    Config = GraspReflexConfig
    config: GraspReflexConfig

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Find the gripper, whose joint must have limits."""
        if robot.gripper is None:
            raise UserInputError(f"robot '{robot.name}' has no gripper")
        self.joint = robot.gripper
        limits = robot.lower[self.joint], robot.upper[self.joint]
        if not np.isfinite(limits).all():
            raise UserInputError(f"the gripper's joint '{robot.joints[self.joint]}' has no limits")
        self.open, self.closed = limits if self.config.closed == "upper" else limits[::-1]

    def start(self, context: StateContext) -> None:
        """Release all other joints; start at the gripper's last reference."""
        reference = context.references.q[self.joint]
        has_reference = not np.isnan(reference)
        self._start = reference if has_reference else context.observation.q[self.joint]
        context.references.values[:] = np.nan
        if has_reference:
            self.command(context, reference)

    def command(self, context: StateContext, position: float) -> None:
        context.references.values[:, self.joint] = position, 0.0, 0.0

    def position_towards(self, context: StateContext, goal: float) -> float:
        """Return the current position of a motion to `goal` [m]."""
        largest = abs(self.open - self.closed) * context.elapsed / self.config.duration
        return float(self._start + np.clip(goal - self._start, -largest, largest))

    def touched(self, context: StateContext) -> list[bool]:
        readings = context.observation.touches
        return [
            named_reading("touch sensor", name, readings) > self.config.least_force
            for name in self.config.touches
        ]


class FeelGrip(GripperState, outcomes=("holding", "empty")):
    """Checks for an object in the gripper without a command."""

    def start(self, context: StateContext) -> None:
        context.references.values[:] = np.nan

    def run(self, context: StateContext) -> str | None:
        return "holding" if all(self.touched(context)) else "empty"


class OpenUntilTouched(GripperState, outcomes=("touched",)):
    """Opens, and waits for a touch."""

    def run(self, context: StateContext) -> str | None:
        self.command(context, self.position_towards(context, self.open))
        is_touched = any(self.touched(context))
        return "touched" if is_touched and context.has_elapsed(self.config.pause) else None


class CloseOnTouch(GripperState, outcomes=("gripped",), failures=("missed",)):
    """Closes with limited force, then checks for an object between the fingers."""

    class Config(GraspReflexConfig):
        """Settings of `CloseOnTouch`."""

        squeeze: Positive = setting(
            "Maximum distance of the reference ahead of the finger, which limits the force [m]",
            0.002,
        )
        least_opening: Positive = setting(
            "Minimum opening with an object between the fingers [m]", 0.0005
        )

    config: Config

    def run(self, context: StateContext) -> str | None:
        config, position = self.config, context.observation.q[self.joint]
        ahead = self.position_towards(context, self.closed) - position
        self.command(context, position + float(np.clip(ahead, -config.squeeze, config.squeeze)))
        if not context.has_elapsed(config.pause):
            return None
        opening = abs(position - self.closed)
        if all(self.touched(context)) and opening > config.least_opening:
            return "gripped"
        context.reason = f"no object at an opening of {1e3 * opening:.1f} mm"
        return "missed"


class HoldUntilFlicked(GripperState, outcomes=("flicked",), failures=("lost",)):
    """Holds the object until a flick."""

    class Config(GraspReflexConfig):
        """Settings of `HoldUntilFlicked`."""

        imu: str = setting("Name of the IMU", "gripper_imu")
        flick: Positive = setting("Angular velocity that opens the gripper [rad/s]", 1.5)

    config: Config

    def run(self, context: StateContext) -> str | None:
        imu = named_reading("IMU", self.config.imu, context.observation.imus)
        speed = float(np.linalg.norm(imu.angular_velocity))
        if not context.has_elapsed(self.config.pause):
            return None
        if speed > self.config.flick:
            context.reason = f"turned at {speed:.1f} rad/s"
            return "flicked"
        return None if any(self.touched(context)) else "lost"


STATES: tuple[type[State], ...] = (FeelGrip, OpenUntilTouched, CloseOnTouch, HoldUntilFlicked)
