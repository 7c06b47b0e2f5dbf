"""Detection of failures during a motion, from measurements that a real robot has."""

from collections import deque
from dataclasses import dataclass
from math import ceil, isnan, sqrt

import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY, SENSOR, Arm
from mujoco_ros.controllers.library.pick_place.task import Task
from mujoco_ros.model.pose import Pose

_MIN_TICKS = 3
"""Minimum duration of a failure in ticks, because of noise."""
_SATURATED = 0.995
"""Part of the effort limit that counts as saturated."""
_WINDOW_S = 0.1
_DRIFT_INTERVAL = 5
"""Ticks between two checks of the object in the hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoredMotion:
    """Limits of a motion.

    Attributes:
        tracking: Largest tracking error of a joint [rad].
        push: Largest part of a joint's effort limit that the commands do not explain.
        force: Largest force at the wrist beyond hand and payload [N].
        ringing: Largest RMS speed of a finger that holds an object [m/s].
        drift: Largest displacement of the object, in the hand or before the grasp [m].
        saturated: Longest time with saturated effort of a joint [s].
        latency: Largest latency of commands and object poses [s]. With latency a robot lags behind
            its references, and its efforts follow earlier commands.
    """

    tracking: float = 0.05
    push: float = 0.3
    force: float = 40.0
    ringing: float = 0.01
    drift: float = 0.01
    saturated: float = 0.05
    latency: float = 0.03

    def __post_init__(self) -> None:
        check_positive(self, "tracking", "push", "force", "ringing", "drift", "saturated")
        check_not_negative(self, "latency")


class MotionMonitor:
    """Checks one motion at every tick; returns failures as outcomes, with a reason."""

    def __init__(
        self, context: StateContext, arm: Arm, task: Task, limits: MonitoredMotion
    ) -> None:
        self._arm, self._task, self._limits = arm, task, limits
        self._joints = as_slice(arm.joints)
        self._robot = context.robot
        self._effort_limits = context.robot.effort[arm.joints]
        self._durations = dict.fromkeys(("tracking", "collision", "saturated", "ringing"), 0)
        self._saturated = max(_MIN_TICKS, round(limits.saturated / context.period))
        self._squares: deque[float] = deque(maxlen=max(2, round(_WINDOW_S / context.period)))
        efforts = context.references.tau[arm.joints]
        history = 1 + ceil(limits.latency / context.period)
        self._commanded_efforts = np.tile(efforts, (history, 1))  # (ticks, k)
        self._tick = 0
        self._last_time = self._late_until = context.time
        self._grip_checks = 0
        self._position = arm.tool(context.observation.q).position
        self._position_time = context.time

    def check_motion(self, context: StateContext) -> str | None:
        """Return ``tracking``, ``collision`` or ``saturated``; None without a failure."""
        observation, joints = context.observation, self._joints
        q, dq, tau = context.references.values[:, joints]
        error = np.abs(q - observation.q[joints])
        lag = error - self._limits.latency * np.abs(dq)
        effort = observation.effort[joints]
        unexplained = self._unexplained(effort, tau)
        force = self._excess_force(context)
        worst = int(unexplained.argmax())  # NaN if there is any
        if isnan(unexplained[worst]):
            context.reason = f"the effort of '{self._name(worst)}' is no longer measured"
            return "tracking"
        is_late = self._is_late(context)
        if self._lasts("collision", not is_late and unexplained[worst] > self._limits.push):
            context.reason = (
                f"{unexplained[worst]:.0%} of the effort of '{self._name(worst)}' is unexplained: "
                "contact"
            )
            return "collision"
        if force is not None and force > self._limits.force:
            context.reason = f"{force:.0f} N at the wrist beyond hand and payload"
            return "collision"
        worst = int(lag.argmax())  # NaN if there is any
        if self._lasts("tracking", not lag[worst] <= self._limits.tracking):
            context.reason = (
                f"tracking error of '{self._name(worst)}' is {error[worst] * 1e3:.1f} mrad"
            )
            return "tracking"
        part = np.abs(effort) / self._effort_limits
        worst = int(part.argmax())
        if self._lasts("saturated", part[worst] > _SATURATED, self._saturated):
            context.reason = f"the effort of '{self._name(worst)}' is saturated"
            return "saturated"
        return None

    def check_grip(self, context: StateContext) -> str | None:
        """Return ``slip`` or ``contact_oscillation``; None while the object is held."""
        observation, arm, task = context.observation, self._arm, self._task
        opening = float(observation.q[arm.gripper])
        if opening < 0.5 * task.opening:
            context.reason = f"the fingers closed to {opening * 1e3:.2f} mm"
            return "slip"
        self._grip_checks += 1
        if self._grip_checks % _DRIFT_INTERVAL or not task.seen:
            return self.check_fingers(context)
        if task.held is not None and task.object in observation.objects:
            tool = arm.tool(observation.q)
            drift = observation.objects[task.object].distance_to(tool @ task.held)
            if drift > self._limits.drift + self._limits.latency * self._speed(context, tool):
                context.reason = f"'{task.object}' slid {drift * 1e3:.1f} mm in the hand"
                return "slip"
        return self.check_fingers(context)

    def check_fingers(self, context: StateContext) -> str | None:
        """Return ``contact_oscillation`` if the fingers oscillate."""
        speed = self.finger_speed(context)
        is_full = len(self._squares) == self._squares.maxlen
        # The fingers also move fast for a moment when the object slips out.
        if self._lasts("ringing", is_full and speed > self._limits.ringing):
            context.reason = f"the fingers oscillate at {speed * 1e3:.0f} mm/s"
            return "contact_oscillation"
        return None

    def finger_speed(self, context: StateContext) -> float:
        """Return the RMS speed of a finger in the last 0.1 s [m/s]."""
        self._squares.append(float(context.observation.dq[self._arm.gripper]) ** 2)
        return sqrt(sum(self._squares) / len(self._squares))

    def check_object(self, context: StateContext) -> str | None:
        """Return ``object_moved`` if the object has moved since the plan."""
        task, objects = self._task, context.observation.objects
        if not task.seen or task.found is None or task.object not in objects:
            return None
        distance = objects[task.object].distance_to(task.found)
        if distance > self._limits.drift:
            task.moves += 1
            context.reason = f"'{task.object}' was moved by {distance * 1e3:.0f} mm"
            return "object_moved"
        return None

    def _is_late(self, context: StateContext) -> bool:
        """Return whether a delay between two ticks still disturbs the motion.

        After a delay the references jump, and the robot needs about as long to follow.
        """
        delay, self._last_time = context.time - self._last_time, context.time
        if delay > 1.5 * context.period + self._limits.latency:
            self._late_until = context.time + delay
        return context.time < self._late_until

    def _unexplained(self, effort: np.ndarray, commanded: np.ndarray) -> np.ndarray:
        """Return the distance of efforts from the range of recent commands, as parts.  # (k,)"""
        self._commanded_efforts[self._tick] = commanded
        self._tick = (self._tick + 1) % len(self._commanded_efforts)
        explained = np.maximum(effort, np.minimum.reduce(self._commanded_efforts))
        np.minimum(explained, np.maximum.reduce(self._commanded_efforts), out=explained)
        unexplained: np.ndarray = np.abs(effort - explained) / self._effort_limits
        return unexplained

    def _speed(self, context: StateContext, tool: Pose) -> float:
        """Return the mean speed of the tool since the last call [m/s]."""
        distance = float(np.linalg.norm(tool.position - self._position))
        elapsed = max(context.time - self._position_time, context.period)
        self._position, self._position_time = tool.position, context.time
        return distance / elapsed

    def _excess_force(self, context: StateContext) -> float | None:
        force = wrist_force(context)
        if force is None:
            return None
        payload = 0.0 if self._arm.payload is None else self._arm.payload.mass * GRAVITY
        return abs(force - self._task.tare - payload)

    def _lasts(self, failure: str, is_present: bool, ticks: int = _MIN_TICKS) -> bool:
        self._durations[failure] = self._durations[failure] + 1 if is_present else 0
        return self._durations[failure] >= ticks

    def _name(self, joint: int) -> str:
        return self._robot.joints[int(self._arm.joints[joint])]


def wrist_force(context: StateContext) -> float | None:
    """Return the norm of the force at the wrist [N]; at rest and without contact, a weight."""
    wrench = context.observation.wrenches.get(SENSOR)
    return None if wrench is None else sqrt(wrench.force.dot(wrench.force))
