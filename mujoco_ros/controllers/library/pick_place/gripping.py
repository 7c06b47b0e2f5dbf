"""States that close and open the gripper."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.library.pick_place.arm import ARM
from mujoco_ros.controllers.library.pick_place.checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.motion_monitor import (
    MonitoredMotion,
    MotionMonitor,
    weight,
)
from mujoco_ros.controllers.library.pick_place.task import IN_THE_MIDDLE, TASK
from mujoco_ros.controllers.library.pick_place.trajectory_execution import grip, rest
from mujoco_ros.controllers.library.pick_place.waiting import holds

_STILL = 1e-4
"""Within this the fingers stand still [m]: their speed alone would be too noisy to tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrippingConfig(MonitoredMotion):
    """How to move the fingers.

    Attributes:
        finger_speed: Of one finger [m/s].
        settling: Time for which the fingers must stand still [s].
        patience: Time after which they have to [s].
    """

    finger_speed: float = 0.1
    settling: float = 0.05
    patience: float = 1.0

    def __post_init__(self) -> None:
        """Refuse fingers that would not move."""
        MonitoredMotion.__post_init__(self)
        check_positive(self, "finger_speed", "patience")
        check_not_negative(self, "settling")


class GrippingState(State):
    """Moves the fingers, and watches them."""

    Config = GrippingConfig
    config: GrippingConfig

    def start(self, context: StateContext) -> None:
        """Begin."""
        self.arm, self.task = context.store.get(ARM), context.store.get(TASK)
        self.watch = MotionMonitor(context, self.arm, self.task, self.config)
        self.told: float | None = None
        ticks = max(2, round(self.config.settling / context.period))
        self._places: deque[float] = deque(maxlen=ticks)

    def still(self, context: StateContext) -> bool:
        """Return whether the fingers have stayed where they are for long enough."""
        if self.told is None:
            return False
        self._places.append(float(context.observation.q[self.arm.gripper]))
        full = len(self._places) == self._places.maxlen
        return full and max(self._places) - min(self._places) < _STILL

    def late(self, context: StateContext) -> bool:
        """Return whether the fingers should have come to rest by now."""
        return self.told is not None and context.elapsed - self.told > self.config.patience

    def move(self, context: StateContext, position: float) -> None:
        """Move the fingers on, with the arm at rest."""
        rest(context, self.arm)
        if grip(context, self.arm, position, self.config.finger_speed) and self.told is None:
            self.told = context.elapsed


class Close(GrippingState):
    """Closes the fingers until they push against something, and notes what the hand weighs."""

    outcomes = ("done", "no_contact", "contact_oscillation")
    failures = ("no_contact", "contact_oscillation")

    def start(self, context: StateContext) -> None:
        """Begin."""
        GrippingState.start(self, context)
        self._weights: list[float] = []

    def run(self, context: StateContext) -> str | None:
        """Close on."""
        arm, task, seen = self.arm, self.task, context.observation
        load = weight(context)
        if load is not None and self.told is None and not holds(context, arm):
            self._weights.append(load)
        speed = self.watch.swing(context)
        self.move(context, float(context.robot.lower[arm.gripper]))
        if not self.still(context):
            if not self.late(context):
                return None
            context.reason = f"the fingers do not come to rest: they move with {speed:.3f} m/s"
            return "contact_oscillation" if speed > self.config.ringing else "no_contact"
        if not holds(context, arm):
            context.reason = (
                f"the fingers closed to {seen.q[arm.gripper] * 1e3:.2f} mm and push with "
                f"{abs(seen.effort[arm.gripper]):.1f} N: there is nothing in between"
            )
            return "no_contact"
        task.opening = float(seen.q[arm.gripper])
        if self._weights:
            task.tare = float(np.mean(self._weights))
        if task.found is not None:
            # The fingers have centred it, and turned it so that it lies flush.
            at = (arm.tool(seen.q).inverse() @ task.found).position
            task.held = Pose(position=at * (1.0, 0.0, 1.0), quat_wxyz=IN_THE_MIDDLE.quat_wxyz)
        return "done"


class Release(GrippingState):
    """Opens the fingers until they are clear of the object."""

    outcomes = ("done", "stuck")
    failures = ("stuck",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(GrippingConfig):
        """How far to open.

        Attributes:
            opened: By how much each finger goes outwards before the hand does [m].
        """

        opened: float = 0.01

    config: Config

    def start(self, context: StateContext) -> None:
        """Begin."""
        GrippingState.start(self, context)
        top = float(context.robot.upper[self.arm.gripper])
        self._goal = min(self.task.opening + self.config.opened, top)

    def run(self, context: StateContext) -> str | None:
        """Open on."""
        self.move(context, self._goal)
        away = abs(self._goal - float(context.observation.q[self.arm.gripper]))
        if self.still(context) and away < 0.5 * self.config.opened:
            self.task.held = None
            self.arm.carry(None)
            return "done"
        if self.late(context):
            context.reason = f"the fingers stop {away * 1e3:.1f} mm before they are open"
            return "stuck"
        return None
