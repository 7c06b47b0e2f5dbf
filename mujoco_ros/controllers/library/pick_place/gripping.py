"""States that close and open the gripper."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.arm import ARM
from mujoco_ros.controllers.library.pick_place.motion_monitor import (
    MonitoredMotion,
    MotionMonitor,
    wrist_force,
)
from mujoco_ros.controllers.library.pick_place.task import CENTRED, TASK
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold, move_gripper
from mujoco_ros.controllers.library.pick_place.waiting import is_holding
from mujoco_ros.model.pose import Pose

_STILL = 1e-4
"""Largest range of positions of fingers at rest [m]; their measured speed is too noisy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrippingConfig(MonitoredMotion):
    """Settings of a motion of the fingers.

    Attributes:
        finger_speed: Speed of one finger [m/s].
        settling: Minimum time of the fingers at rest [s].
        patience: Timeout of the motion until the fingers are at rest [s].
    """

    finger_speed: float = 0.1
    settling: float = 0.05
    patience: float = 1.0

    def __post_init__(self) -> None:
        MonitoredMotion.__post_init__(self)
        check_positive(self, "finger_speed", "patience")
        check_not_negative(self, "settling")


class GrippingState(State):
    """Moves the fingers, and detects when they are at rest."""

    Config = GrippingConfig
    config: GrippingConfig

    def start(self, context: StateContext) -> None:
        """Start the monitor."""
        self.arm, self.task = context.store.get(ARM), context.store.get(TASK)
        self.monitor = MotionMonitor(context, self.arm, self.task, self.config)
        self.commanded_at: float | None = None
        ticks = max(2, round(self.config.settling / context.period))
        self._positions: deque[float] = deque(maxlen=ticks)

    def is_still(self, context: StateContext) -> bool:
        """Return whether the fingers are at rest after the end of their references."""
        if self.commanded_at is None:
            return False
        self._positions.append(float(context.observation.q[self.arm.gripper]))
        is_full = len(self._positions) == self._positions.maxlen
        return is_full and max(self._positions) - min(self._positions) < _STILL

    def is_late(self, context: StateContext) -> bool:
        """Return whether the fingers should be at rest by now."""
        if self.commanded_at is None:
            return False
        return context.elapsed - self.commanded_at > self.config.patience

    def move(self, context: StateContext, position: float) -> None:
        """Move the references of the fingers towards a position [m], and hold the arm."""
        hold(context, self.arm)
        is_there = move_gripper(context, self.arm, position, self.config.finger_speed)
        if is_there and self.commanded_at is None:
            self.commanded_at = context.elapsed


class Close(GrippingState):
    """Closes the fingers until they push against an object, and measures the weight of the hand."""

    outcomes = ("done", "no_contact", "contact_oscillation")
    failures = ("no_contact", "contact_oscillation")

    def start(self, context: StateContext) -> None:
        """Start the monitor."""
        GrippingState.start(self, context)
        self._forces: list[float] = []

    def run(self, context: StateContext) -> str | None:
        """Close, and check the contact."""
        arm, task, observation = self.arm, self.task, context.observation
        force = wrist_force(context)
        if force is not None and self.commanded_at is None and not is_holding(context, arm):
            self._forces.append(force)
        speed = self.monitor.finger_speed(context)
        self.move(context, float(context.robot.lower[arm.gripper]))
        if not self.is_still(context):
            if not self.is_late(context):
                return None
            context.reason = f"the fingers do not come to rest: they move at {speed:.3f} m/s"
            return "contact_oscillation" if speed > self.config.ringing else "no_contact"
        if not is_holding(context, arm):
            context.reason = (
                f"no object between the fingers: opening {observation.q[arm.gripper] * 1e3:.2f} mm,"
                f" force {abs(observation.effort[arm.gripper]):.1f} N"
            )
            return "no_contact"
        task.opening = float(observation.q[arm.gripper])
        if self._forces:
            task.tare = float(np.mean(self._forces))
        if task.found is not None:
            # The fingers have centred the object, and aligned it with their pads.
            position = (arm.tool(observation.q).inverse() @ task.found).position
            task.held = Pose(position=position * (1.0, 0.0, 1.0), quat_wxyz=CENTRED.quat_wxyz)
        return "done"


class Release(GrippingState):
    """Opens the fingers until they are clear of the object."""

    outcomes = ("done", "stuck")
    failures = ("stuck",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(GrippingConfig):
        """Settings of `Release`.

        Attributes:
            opened: Distance that each finger opens before the hand retracts [m].
        """

        opened: float = 0.01

    config: Config

    def start(self, context: StateContext) -> None:
        """Compute the goal."""
        GrippingState.start(self, context)
        upper = float(context.robot.upper[self.arm.gripper])
        self._goal = min(self.task.opening + self.config.opened, upper)

    def run(self, context: StateContext) -> str | None:
        """Open, and check the opening."""
        self.move(context, self._goal)
        error = abs(self._goal - float(context.observation.q[self.arm.gripper]))
        if self.is_still(context) and error < 0.5 * self.config.opened:
            self.task.held = None
            self.arm.set_payload(None)
            return "done"
        if self.is_late(context):
            context.reason = f"the fingers stop {error * 1e3:.1f} mm before they are open"
            return "stuck"
        return None
