"""States that move the arm along what was planned."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.library.pick_place.arm import ARM, GRAVITY, Arm
from mujoco_ros.controllers.library.pick_place.checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.motion_monitor import (
    MonitoredMotion,
    MotionMonitor,
    weight,
)
from mujoco_ros.controllers.library.pick_place.task import (
    TASK,
    Task,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    ExecutedPath,
    TrajectoryExecution,
    grip,
    rest,
)

_SLOW = 0.02
"""Speed below which a joint has come to rest [rad/s]."""
FINGER_SPEED = 0.1
"""Of one finger [m/s]."""
_OPEN = 0.002
"""Fingers so close to their limit are open [m]."""
_FELT = 8
"""Ticks over which a weight is felt: force sensors are noisy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MovingConfig(MonitoredMotion):
    """How a motion ends.

    Attributes:
        settled: Distance from the end within which all joints must come to rest [rad].
        patience: How long that may take [s].
    """

    settled: float = 0.002
    patience: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what no motion could end with."""
        MonitoredMotion.__post_init__(self)
        check_positive(self, "settled")
        check_not_negative(self, "patience")


def see_in_hand(context: StateContext, arm: Arm, task: Task) -> None:
    """Note how the object lies in the hand, if that is seen."""
    seen = context.observation
    if task.seen and task.object in seen.objects:
        task.held = arm.tool(seen.q).inverse() @ seen.objects[task.object]


class ArmMotionState(State):
    """Follows a way, watches, and ends when the joints have come to rest at its end."""

    outcomes: ClassVar[tuple[str, ...]] = ("done", "tracking", "collision", "saturated")
    failures: ClassVar[tuple[str, ...]] = ("tracking", "collision", "saturated")
    Config = MovingConfig
    config: MovingConfig

    def start(self, context: StateContext) -> None:
        """Begin to watch."""
        self.arm, self.task = context.store.get(ARM), context.store.get(TASK)
        self.watch = MotionMonitor(context, self.arm, self.task, self.config)
        self._follower: TrajectoryExecution | None = None
        self.ended = 0.0
        self._why: tuple[str, str] | None = None

    def run(self, context: StateContext) -> str | None:
        """Move on."""
        if trouble := self.watch.motion(context) or self.check(context):
            return trouble
        if self._why is None and (trouble := self.doubt(context)):
            self._why = trouble, context.reason
            if self._follower is not None:
                self._follower.brake()
        if self._follower is None:
            rest(context, self.arm)
            if self._why is None:
                way = self.way(context)
                if isinstance(way, str):
                    return way
                if way is None:
                    return None
                self._follower = TrajectoryExecution(self.arm, way)
                self._follower.step(context)
                return None
        elif not self._follower.stopped:
            self._follower.step(context)
            return None
        if self._why is not None:
            outcome, context.reason = self._why
            return outcome
        rest(context, self.arm)
        return self._settle(context)

    def way(self, context: StateContext) -> ExecutedPath | str | None:
        """Return what to follow, a failure, or None as long as it is not there."""
        raise NotImplementedError

    def check(self, context: StateContext) -> str | None:
        """Return a failure that ends the motion at once."""
        return None

    def doubt(self, context: StateContext) -> str | None:
        """Return an outcome that is worth stopping for, without a jerk."""
        return None

    def rested(self, context: StateContext) -> str | None:
        """Return the outcome at the end of the way, or None to look on."""
        return "done"

    def _settle(self, context: StateContext) -> str | None:
        seen, joints = context.observation, self.arm.joints
        self.ended = self.ended or context.elapsed
        error = np.abs(context.references.q[joints] - seen.q[joints])
        at_rest = np.abs(seen.dq[joints]).max() < _SLOW
        if error.max() < self.config.settled and at_rest:
            return self.rested(context)
        if context.elapsed - self.ended > self.config.patience:
            worst = int(np.argmax(error))
            context.reason = (
                f"'{context.robot.joints[joints[worst]]}' does not come to rest at the end: "
                f"{error[worst] * 1e3:.1f} mrad away"
            )
            return "tracking"
        return None


class ExecApproach(ArmMotionState):
    """Goes above the object and opens the gripper; stops if the object is moved."""

    outcomes = (*ArmMotionState.outcomes, "object_moved", "stuck")
    failures = (*ArmMotionState.failures, "object_moved", "stuck")

    def way(self, context: StateContext) -> ExecutedPath | str | None:
        """Return what was planned."""
        return self.task.motion

    def doubt(self, context: StateContext) -> str | None:
        """Open the gripper, and look whether the object is where it was."""
        grip(context, self.arm, context.robot.upper[self.arm.gripper], FINGER_SPEED)
        return self.watch.moved(context)

    def rested(self, context: StateContext) -> str | None:
        """Wait until the gripper is open."""
        opening = float(context.observation.q[self.arm.gripper])
        closed = float(context.robot.upper[self.arm.gripper]) - opening
        if closed < _OPEN:
            return "done"
        if context.elapsed - self.ended > self.config.patience:
            context.reason = f"the fingers stop {closed * 1e3:.1f} mm before they are open"
            return "stuck"
        return None


class ExecTransport(ArmMotionState):
    """Goes above the goal with the object."""

    outcomes = (*ArmMotionState.outcomes, "slip", "contact_oscillation")
    failures = (*ArmMotionState.failures, "slip", "contact_oscillation")

    def way(self, context: StateContext) -> ExecutedPath | str | None:
        """Return what was planned."""
        return self.task.motion

    def check(self, context: StateContext) -> str | None:
        """Look whether the object is still held."""
        return self.watch.hold(context)

    def start(self, context: StateContext) -> None:
        """Begin."""
        ArmMotionState.start(self, context)
        self._weights: list[float] = []

    def rested(self, context: StateContext) -> str | None:
        """Feel whether the object's weight is still there, and look how it is held by now."""
        see_in_hand(context, self.arm, self.task)
        load, payload = weight(context), self.arm.payload
        if load is None or payload is None:
            return "done"
        self._weights.append(load)
        if len(self._weights) < _FELT:
            return None
        if np.mean(self._weights) - self.task.tare < 0.5 * payload.mass * GRAVITY:
            context.reason = "the weight of the object is gone"
            return "slip"
        return "done"
