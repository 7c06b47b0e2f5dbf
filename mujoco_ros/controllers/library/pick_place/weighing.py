"""State that lifts an object a little, and decides whether the grip can hold it."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.grip_limit import GRAVITY, GRIP_MARGIN
from mujoco_ros.controllers.library.pick_place.measuring.rest import RestMeasurement
from mujoco_ros.controllers.library.pick_place.straight_motion import LineConfig, LineMotionState
from mujoco_ros.controllers.library.pick_place.task import above
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    ExecutedPath,
    ReversedPath,
    TrajectoryExecution,
    hold,
)
from mujoco_ros.model.pose import Pose

_FAILURES = ("slip", "pose_stale", "contact_oscillation", "too_heavy")
_SLIPPERY = 0.4
"""Part of the nominal friction below which a slip is not due to the weight."""
_PEAK_TICKS = 10
"""Ticks over which the largest force of the grip is averaged."""
_ROSE = 0.6
"""Part of the hand's motion by which an object in the hand rises at least."""


class Weigh(LineMotionState):
    """Lifts the object a little, and weighs it.

    The acceleration is that of `GRIP_MARGIN`, so that a grip that holds the object here has the
    friction for all later motions. An object that is too heavy is set down again.
    """

    outcomes = (*LineMotionState.outcomes, *_FAILURES)
    failures = (*LineMotionState.failures, *_FAILURES)
    holds_object = True

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(LineConfig):
        """Settings of `Weigh`.

        Attributes:
            height: Height of the motion [m].
            weighing: Duration of the measurement [s].
            lightest: Minimum mass of an object [kg].
        """

        speed: float = 0.05
        acceleration: float = (GRIP_MARGIN - 1.0) * GRAVITY
        height: float = 0.008
        weighing: float = 0.15
        lightest: float = 0.02

        def __post_init__(self) -> None:
            LineConfig.__post_init__(self)
            check_positive(self, "height", "weighing")
            check_not_negative(self, "lightest")

    config: Config

    def start(self, context: StateContext) -> None:
        """Request the line."""
        LineMotionState.start(self, context)
        self._up: ExecutedPath | None = None
        self._down: TrajectoryExecution | None = None
        self._reason = ""
        self._recent: deque[float] = deque(maxlen=_PEAK_TICKS)
        self._peak = 0.0

    def goal(self, context: StateContext) -> Pose:
        """Return a pose straight above."""
        return above(self.arm.tool(context.references.q), self.config.height)

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the line; `Task.descent` remains, because `Retract` reverses it."""
        outcome = self._request.poll(context, self.arm, self.task)
        if outcome != "ready":
            return outcome
        self._up = self.task.motion
        return self._up

    def advance(self, context: StateContext) -> str | None:
        """Follow the line up, and down again with an object that is too heavy."""
        if self._down is None:
            self._recent.append(self.arm.weight(context))
            if len(self._recent) == _PEAK_TICKS:
                self._peak = max(self._peak, float(np.mean(self._recent)))
            outcome = LineMotionState.advance(self, context)
            if outcome != "too_heavy" or self._up is None:
                return outcome
            self._reason, context.reason = context.reason, ""
            self._down = TrajectoryExecution(self.arm, ReversedPath(self._up))
        if not self._down.is_stopped:
            self._down.step(context)
            return None
        hold(context, self.arm)
        self.task.returning = True
        context.reason = self._reason
        return "too_heavy"

    def finish(self, context: StateContext) -> str | None:
        """Measure mass and pose, and compare them with the limits of the grip."""
        measured = self.measure(context, self.config.weighing)
        if not isinstance(measured, RestMeasurement):
            return measured
        if self._has_slipped(context, measured.held):
            return self._slip(context)
        if outcome := measured.weigh(context, self.config.lightest):
            return outcome
        if not np.isfinite(measured.mass):  # nothing measures forces
            return "done"
        has_proof = measured.held is not None
        if not has_proof and (reason := self.task.excess_mass(measured.mass)):
            context.reason = reason
            return "too_heavy"
        measured.load_arm()
        return "done"

    def _has_slipped(self, context: StateContext, held: Pose | None) -> bool:
        """Return whether the object, by its pose in the hand, has not risen with it."""
        task = self.task
        if held is None or task.found is None:
            return False
        pose = self.arm.tool(context.references.q) @ held
        return bool(pose.position[2] - task.found.position[2] < _ROSE * self.config.height)

    def _slip(self, context: StateContext) -> str:
        """Return ``too_heavy`` if the grip held about as much as it should; else ``slip``."""
        task = self.task
        nominal = task.friction * task.grip_force
        held = self._peak - task.empty_weight
        context.reason = f"'{task.object}' slips between the fingers"
        if not np.isfinite(held) or held < _SLIPPERY * nominal:
            return "slip"
        context.reason = (
            f"'{task.object}' is too heavy: it slips at {held:.1f} N, friction "
            f"{held / task.grip_force:.2f} with {task.grip_force:.1f} N"
        )
        return "too_heavy"
