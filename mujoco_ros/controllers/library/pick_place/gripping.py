"""States that close and open the gripper, and decide whether the grip can hold the object."""

from collections import deque

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import NotNegative, Positive
from mujoco_ros.controllers.library.pick_place import grasping, motion_monitor, moving
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY, GRIP_MARGIN, largest_mass
from mujoco_ros.controllers.library.pick_place.straight_motion import LineConfig, LineMotionState
from mujoco_ros.controllers.library.pick_place.task import ExecutedPath, TaskState
from mujoco_ros.model.pose import Pose

_STILL = 1e-4
"""Largest difference between mean positions of fingers at rest [m], beyond their noise."""
_NOISE = 3.0  # standard errors of such a difference that are noise


class GrippingConfig(motion_monitor.MonitoredMotion):
    """Settings of a motion of the fingers."""

    finger_speed: Positive = setting("Speed of one finger [m/s]", 0.1)
    settling: NotNegative = setting("Minimum time of the fingers at rest [s]", 0.08)
    patience: Positive = setting("Timeout of the motion until the fingers are at rest [s]", 1.0)


class GrippingState(TaskState, outcomes=("done",)):
    """Moves the fingers, and detects when they are at rest."""

    Config = GrippingConfig
    config: GrippingConfig

    def start(self, context: StateContext) -> None:
        super().start(context)
        self.grip = motion_monitor.GripMonitor(context, self.arm, self.task, self.config)
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
        if self.commanded_at is None:
            return False
        return context.elapsed - self.commanded_at > self.config.patience

    def move(self, context: StateContext, position: float) -> None:
        """Move the references of the fingers towards a position [m], and hold the arm."""
        self.arm.hold(context)
        self._speed = self.grip.finger_speed(context)
        is_there = self.arm.move_gripper(context, position, self.config.finger_speed)
        if is_there and self.commanded_at is None:
            self.commanded_at = context.elapsed


class Close(GrippingState, failures=("no_contact", "contact_oscillation", "no_force_closure")):
    """Closes the fingers, and checks that the grasp is a force closure."""

    class Config(GrippingConfig):
        """Settings of `Close`."""

        grip_force: NotNegative = setting(
            "Force of both fingers together at which they stop to close in the first attempt [N]; "
            "0 is all of their force, as in later attempts",
            0.0,
        )

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._goal = float(context.robot.lower[self.arm.gripper])

    def advance(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        if self.commanded_at is None and not arm.is_holding(context):
            task.tare.add(arm.weight(context))
        limit = self.config.grip_force if not task.variation.full_force else 0.0
        effort = context.observation.effort[arm.gripper]
        if limit and arm.is_holding(context) and -effort >= limit:
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
        if not arm.is_gripping(self.opening, self.force):
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
            task.held = Pose(
                position=position * (1.0, 0.0, 1.0), quat_wxyz=grasping.CENTRED.quat_wxyz
            )
            if task.shape is not None:
                contacts = grasping.grasp_contacts(task.held, task.shape, arm.pad)
                if flaw := grasping.closure_flaw(contacts, task.friction):
                    context.reason = flaw
                    return "no_force_closure"
        return "done"


class Release(GrippingState, failures=("stuck",)):
    """Opens the fingers until they are clear of the object."""

    class Config(GrippingConfig):
        """Settings of `Release`."""

        opened: float = setting(
            "Distance that each finger opens before the hand retracts [m]", 0.01
        )

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        upper = float(context.robot.upper[self.arm.gripper])
        self._goal = min(self.task.opening + self.config.opened, upper)

    def advance(self, context: StateContext) -> str | None:
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


_SLIPPERY = 0.4  # part of the nominal friction below which a slip is not due to the weight
_PEAK_TICKS = 10  # ticks over which the largest force of the grip is averaged
_ROSE = 0.6  # part of the hand's motion by which an object in the hand rises at least


class Weigh(LineMotionState, failures=(*motion_monitor.GRIP_FAILURES, "too_heavy")):
    """Lifts the object a little, and weighs it.

    The acceleration follows from `GRIP_MARGIN`, so that a grip that holds the object here has the
    friction for all later motions. An object that is too heavy is set down again.
    """

    holds_object = True

    class Config(LineConfig):
        """Settings of `Weigh`."""

        speed: Positive = 0.05
        acceleration: Positive = (GRIP_MARGIN - 1.0) * GRAVITY
        height: Positive = setting("Height of the motion [m]", 0.008)
        weighing: Positive = setting("Duration of the measurement [s]", 0.15)
        lightest: NotNegative = setting("Minimum mass of an object [kg]", 0.02)

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._up: ExecutedPath | None = None
        self._down: moving.TrajectoryExecution | None = None
        self._reason = ""
        self._recent: deque[float] = deque(maxlen=_PEAK_TICKS)
        self._peak = 0.0

    def goal(self, context: StateContext) -> Pose:
        return grasping.above(self.arm.tool(context.references.q), self.config.height)

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the line; `Task.descent` remains, because `Retract` reverses it."""
        outcome = self._request.poll(context, self.arm, self.task)
        if outcome != "ready":
            return outcome
        self._up = self.task.motion
        return self._up

    def advance(self, context: StateContext) -> str | None:
        if self._down is None:
            self._recent.append(self.arm.weight(context))
            if len(self._recent) == _PEAK_TICKS:
                self._peak = max(self._peak, float(np.mean(self._recent)))
            outcome = super().advance(context)
            if outcome != "too_heavy" or self._up is None:
                return outcome
            self._reason, context.reason = context.reason, ""
            down = moving.ReversedPath(self._up)
            self._down = moving.TrajectoryExecution(self.arm, down)
        if not self._down.is_stopped:
            self._down.step(context)
            return None
        self.arm.hold(context)
        self.task.returning = True
        context.reason = self._reason
        return "too_heavy"

    def finish(self, context: StateContext) -> str | None:
        measured = self.measure(context, self.config.weighing)
        if not isinstance(measured, moving.RestMeasurement):
            return measured
        if measured.held is not None and self.task.found is not None:
            pose = self.arm.tool(context.references.q) @ measured.held
            rise = pose.position[2] - self.task.found.position[2]
            if rise < _ROSE * self.config.height:
                return self._slip(context)
        outcome = measured.weigh(context, self.config.lightest)
        if outcome is None and measured.held is None:
            outcome = measured.check_mass(context)
        if outcome is None:
            measured.load_arm()
        return outcome or "done"

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
