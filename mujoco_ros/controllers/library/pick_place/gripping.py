"""States that close and open the gripper."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.grip_limit import largest_mass
from mujoco_ros.controllers.library.pick_place.measuring.grasp_check import (
    closure_flaw,
    grasp_contacts,
)
from mujoco_ros.controllers.library.pick_place.measuring.grip_monitor import MonitoredMotion
from mujoco_ros.controllers.library.pick_place.measuring.motion_monitor import MotionMonitor
from mujoco_ros.controllers.library.pick_place.task import CENTRED, TASK, TaskState, get_arm
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold, move_gripper
from mujoco_ros.controllers.library.pick_place.waiting import is_gripping, is_holding
from mujoco_ros.model.pose import Pose

_STILL = 1e-4
"""Largest difference between mean positions of fingers at rest [m], beyond their noise."""
_NOISE = 3.0
"""Standard errors of such a difference that are noise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrippingConfig(MonitoredMotion):
    """Settings of a motion of the fingers.

    Attributes:
        finger_speed: Speed of one finger [m/s].
        settling: Minimum time of the fingers at rest [s].
        patience: Timeout of the motion until the fingers are at rest [s].
    """

    finger_speed: float = 0.1
    settling: float = 0.08
    patience: float = 1.0

    def __post_init__(self) -> None:
        MonitoredMotion.__post_init__(self)
        check_positive(self, "finger_speed", "patience")
        check_not_negative(self, "settling")


class GrippingState(TaskState):
    """Moves the fingers, and detects when they are at rest."""

    Config = GrippingConfig
    config: GrippingConfig

    def start(self, context: StateContext) -> None:
        """Start the monitor."""
        self.arm, self.task = get_arm(context), context.store.get(TASK)
        self.monitor = MotionMonitor(context, self.arm, self.task, self.config)
        self.commanded_at: float | None = None
        self._speed = 0.0
        ticks = max(4, round(self.config.settling / context.period))
        self._positions: deque[float] = deque(maxlen=ticks)
        self._efforts: deque[float] = deque(maxlen=ticks)

    def is_still(self, context: StateContext) -> bool:
        """Return whether the fingers are at rest after the end of their references."""
        if self.commanded_at is None:
            return False
        self._positions.append(float(context.observation.q[self.arm.gripper]))
        self._efforts.append(float(context.observation.effort[self.arm.gripper]))
        if len(self._positions) < (self._positions.maxlen or 0):
            return False
        positions = np.array(self._positions)
        half = len(positions) // 2
        first, second = positions[:half], positions[half:]
        noise = np.sqrt(2.0 * (first.var() + second.var()) / len(positions))
        motion = abs(first.mean() - second.mean())
        return bool(motion < _STILL + _NOISE * noise and self._speed < self.config.ringing)

    @property
    def opening(self) -> float:
        """Mean position of the gripper's joint at rest [m]."""
        return float(np.mean(self._positions))

    @property
    def force(self) -> float:
        """Mean force of the fingers at rest [N]."""
        return abs(float(np.mean(self._efforts)))

    def is_late(self, context: StateContext) -> bool:
        """Return whether the fingers should be at rest by now."""
        if self.commanded_at is None:
            return False
        return context.elapsed - self.commanded_at > self.config.patience

    def move(self, context: StateContext, position: float) -> None:
        """Move the references of the fingers towards a position [m], and hold the arm."""
        hold(context, self.arm)
        self._speed = self.monitor.finger_speed(context)
        is_there = move_gripper(context, self.arm, position, self.config.finger_speed)
        if is_there and self.commanded_at is None:
            self.commanded_at = context.elapsed


class Close(GrippingState):
    """Closes the fingers, and checks that the grasp is a force closure."""

    outcomes = ("done", "no_contact", "contact_oscillation", "no_force_closure")
    failures = ("no_contact", "contact_oscillation", "no_force_closure")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(GrippingConfig):
        """Settings of `Close`.

        Attributes:
            grip_force: Force of both fingers together at which they stop to close in the first
                attempt [N]; 0 is all of their force, as in later attempts.
        """

        grip_force: float = 0.0

        def __post_init__(self) -> None:
            GrippingConfig.__post_init__(self)
            check_not_negative(self, "grip_force")

    config: Config

    def start(self, context: StateContext) -> None:
        """Start the monitor."""
        GrippingState.start(self, context)
        self._goal = float(context.robot.lower[self.arm.gripper])

    def advance(self, context: StateContext) -> str | None:
        """Close, and check the contact."""
        arm, task = self.arm, self.task
        if self.commanded_at is None and not is_holding(context, arm):
            task.tare.add(arm.weight(context))
        if self._has_grip_force(context):
            self._goal = float(context.references.q[arm.gripper])
        self.move(context, self._goal)
        if not self.is_still(context):
            if not self.is_late(context):
                return None
            context.reason = (
                f"the fingers do not come to rest: they move at {self._speed * 1e3:.0f} mm/s"
            )
            is_oscillating = self._speed > self.config.ringing
            return "contact_oscillation" if is_oscillating else "no_contact"
        if not is_gripping(context, arm, self.opening, self.force):
            context.reason = (
                f"no object between the fingers: opening {self.opening * 1e3:.2f} mm,"
                f" force {self.force:.1f} N"
            )
            return "no_contact"
        task.opening, task.grip_force = self.opening, self.force
        task.metrics["limit"] = largest_mass(task.grip_force, task.friction)
        if task.found is not None:
            # The fingers have centred the object, and aligned it with their pads.
            position = (arm.tool(context.references.q).inverse() @ task.found).position
            task.held = Pose(position=position * (1.0, 0.0, 1.0), quat_wxyz=CENTRED.quat_wxyz)
            if task.shape is not None:
                contacts = grasp_contacts(task.held, task.shape, arm.pad)
                if flaw := closure_flaw(contacts, task.friction):
                    context.reason = flaw
                    return "no_force_closure"
        return "done"

    def _has_grip_force(self, context: StateContext) -> bool:
        limit = self.config.grip_force
        if not limit or self.task.variation.full_force or not is_holding(context, self.arm):
            return False
        return bool(-context.observation.effort[self.arm.gripper] >= limit)


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

    def advance(self, context: StateContext) -> str | None:
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
