"""States that move the arm along a planned path."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.arm import ARM, GRAVITY, Arm
from mujoco_ros.controllers.library.pick_place.motion_monitor import (
    MonitoredMotion,
    MotionMonitor,
    wrist_force,
)
from mujoco_ros.controllers.library.pick_place.task import TASK, Task
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    ExecutedPath,
    TrajectoryExecution,
    hold,
    move_gripper,
)

_SLOW = 0.02
"""Largest speed of a joint at rest [rad/s]."""
FINGER_SPEED = 0.1
"""Speed of one finger [m/s]."""
_OPEN = 0.002
"""Largest distance of open fingers from their limit [m]."""
_WEIGHT_TICKS = 8
"""Ticks of a weight measurement, because force sensors are noisy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MovingConfig(MonitoredMotion):
    """Settings of the end of a motion.

    Attributes:
        settled: Largest position error of a joint at the end [rad].
        patience: Timeout of settling [s].
    """

    settled: float = 0.002
    patience: float = 0.5

    def __post_init__(self) -> None:
        MonitoredMotion.__post_init__(self)
        check_positive(self, "settled")
        check_not_negative(self, "patience")


def update_held_pose(context: StateContext, arm: Arm, task: Task) -> None:
    """Set the pose of the object in the hand from the observation, if it has one."""
    observation = context.observation
    if task.seen and task.object in observation.objects:
        task.held = arm.tool(observation.q).inverse() @ observation.objects[task.object]


class ArmMotionState(State):
    """Follows a path under a monitor, and finishes when the joints are at rest at its end.

    Attributes:
        holds_object: Whether the fingers hold the object, so that the grip is checked.
    """

    outcomes: ClassVar[tuple[str, ...]] = ("done", "tracking", "collision", "saturated")
    failures: ClassVar[tuple[str, ...]] = ("tracking", "collision", "saturated")
    Config = MovingConfig
    config: MovingConfig
    holds_object: ClassVar[bool] = False

    def start(self, context: StateContext) -> None:
        """Start the monitor."""
        self.arm, self.task = context.store.get(ARM), context.store.get(TASK)
        self.monitor = MotionMonitor(context, self.arm, self.task, self.config)
        self._execution: TrajectoryExecution | None = None
        self.ended = 0.0
        self._stop: tuple[str, str] | None = None

    def run(self, context: StateContext) -> str | None:
        """Follow the path and check the motion."""
        failure = self.monitor.check_motion(context)
        if failure is None and self.holds_object:
            failure = self.monitor.check_grip(context)
        if failure is not None:
            return failure
        if self._stop is None and (outcome := self.check_and_brake(context)):
            self._stop = outcome, context.reason
            if self._execution is not None:
                self._execution.brake()
        if self._execution is None:
            hold(context, self.arm)
            if self._stop is None:
                path = self.path(context)
                if isinstance(path, str):
                    return path
                if path is None:
                    return None
                self._execution = TrajectoryExecution(self.arm, path)
                self._execution.step(context)
                return None
        elif not self._execution.is_stopped:
            self._execution.step(context)
            return None
        if self._stop is not None:
            outcome, context.reason = self._stop
            return outcome
        hold(context, self.arm)
        return self._settle(context)

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the path, a failure, or None while it is not ready; default is the planned one."""
        return self.task.motion

    def check_and_brake(self, context: StateContext) -> str | None:
        """Return an outcome that ends the motion after smooth braking."""
        return None

    def finish(self, context: StateContext) -> str | None:
        """Return the outcome at rest at the end of the path, or None to continue."""
        return "done"

    def _settle(self, context: StateContext) -> str | None:
        observation, joints = context.observation, self.arm.joints
        self.ended = self.ended or context.elapsed
        error = np.abs(context.references.q[joints] - observation.q[joints])
        is_at_rest = np.abs(observation.dq[joints]).max() < _SLOW
        if error.max() < self.config.settled and is_at_rest:
            return self.finish(context)
        if context.elapsed - self.ended > self.config.patience:
            worst = int(np.argmax(error))
            context.reason = (
                f"'{context.robot.joints[joints[worst]]}' does not come to rest at the end: "
                f"error {error[worst] * 1e3:.1f} mrad"
            )
            return "tracking"
        return None


class ExecApproach(ArmMotionState):
    """Moves above the object and opens the gripper; stops if the object is moved."""

    outcomes = (*ArmMotionState.outcomes, "object_moved", "stuck")
    failures = (*ArmMotionState.failures, "object_moved", "stuck")

    def check_and_brake(self, context: StateContext) -> str | None:
        """Open the gripper, and check the pose of the object."""
        move_gripper(context, self.arm, context.robot.upper[self.arm.gripper], FINGER_SPEED)
        return self.monitor.check_object(context)

    def finish(self, context: StateContext) -> str | None:
        """Wait until the gripper is open."""
        opening = float(context.observation.q[self.arm.gripper])
        distance = float(context.robot.upper[self.arm.gripper]) - opening
        if distance < _OPEN:
            return "done"
        if context.elapsed - self.ended > self.config.patience:
            context.reason = f"the fingers stop {distance * 1e3:.1f} mm before they are open"
            return "stuck"
        return None


class ExecTransport(ArmMotionState):
    """Moves above the goal with the object."""

    outcomes = (*ArmMotionState.outcomes, "slip", "contact_oscillation")
    failures = (*ArmMotionState.failures, "slip", "contact_oscillation")
    holds_object = True

    def start(self, context: StateContext) -> None:
        """Start the monitor."""
        ArmMotionState.start(self, context)
        self._forces: list[float] = []

    def finish(self, context: StateContext) -> str | None:
        """Check the weight of the object, and update its pose in the hand."""
        update_held_pose(context, self.arm, self.task)
        force, payload = wrist_force(context), self.arm.payload
        if force is None or payload is None:
            return "done"
        self._forces.append(force)
        if len(self._forces) < _WEIGHT_TICKS:
            return None
        if np.mean(self._forces) - self.task.tare < 0.5 * payload.mass * GRAVITY:
            context.reason = "the weight of the object is missing"
            return "slip"
        return "done"
