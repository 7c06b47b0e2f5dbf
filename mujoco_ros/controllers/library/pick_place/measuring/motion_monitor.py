"""Detection of failures during a motion, from measurements that a real robot has."""

from collections import deque
from math import ceil, isnan, sqrt

import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.grip_limit import GRAVITY
from mujoco_ros.controllers.library.pick_place.measuring.grip_monitor import (
    GripMonitor,
    MonitoredMotion,
    stale_pose,
)
from mujoco_ros.controllers.library.pick_place.task import Task
from mujoco_ros.model.naming import topic_token

_MIN_TICKS = 3
"""Minimum duration of a failure in ticks, because of noise."""
_SATURATED = 0.995
"""Part of the effort limit that counts as saturated."""
_OBJECT_TICKS = 5
"""Ticks over which the distance of an object from its planned pose is averaged."""


class MotionMonitor:
    """Checks one motion at every tick; returns failures as outcomes, with a reason."""

    def __init__(
        self, context: StateContext, arm: Arm, task: Task, limits: MonitoredMotion
    ) -> None:
        self._arm, self._task, self._limits = arm, task, limits
        self._joints = as_slice(arm.joints)
        self._robot = context.robot
        self._effort_limits = context.robot.effort[arm.joints]
        self._durations = dict.fromkeys(("tracking", "collision", "saturated"), 0)
        self._saturated = max(_MIN_TICKS, round(limits.saturated / context.period))
        efforts = context.references.tau[arm.joints]
        history = 1 + ceil(limits.latency / context.period)
        self._commanded_efforts = np.tile(efforts, (history, 1))  # (ticks, k)
        self._tick = 0
        self._last_time = self._late_until = context.time
        self._offsets: deque[np.ndarray] = deque(maxlen=_OBJECT_TICKS)
        self.grip = GripMonitor(context, arm, task, limits)

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
        """Return ``slip``, ``pose_stale`` or ``contact_oscillation``; None while all is well."""
        return self.grip.check(context)

    def finger_speed(self, context: StateContext) -> float:
        """Return the RMS speed of a finger in the last 0.2 s [m/s]."""
        return self.grip.finger_speed(context)

    def check_object(self, context: StateContext) -> str | None:
        """Return ``object_moved`` if the object has moved since the plan, or ``pose_stale``."""
        task, objects = self._task, context.observation.objects
        if not task.seen or task.found is None:
            return None
        if task.object not in objects:
            context.reason = f"'{task.object}' is no longer in the scene"
            return "object_moved"
        if reason := stale_pose(context, task.object, self._limits.stale):
            context.reason = reason
            return "pose_stale"
        self._offsets.append(objects[task.object].position - task.found.position)
        if len(self._offsets) < _OBJECT_TICKS:
            return None
        distance = float(np.linalg.norm(np.mean(self._offsets, axis=0)))
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

    def _excess_force(self, context: StateContext) -> float | None:
        force = wrist_force(context, self._arm.sensor)
        if force is None:
            return None
        payload = 0.0 if self._arm.payload is None else self._arm.payload.mass * GRAVITY
        return abs(force - self._task.empty_weight - payload)

    def _lasts(self, failure: str, is_present: bool, ticks: int = _MIN_TICKS) -> bool:
        self._durations[failure] = self._durations[failure] + 1 if is_present else 0
        return self._durations[failure] >= ticks

    def _name(self, joint: int) -> str:
        return self._robot.joints[int(self._arm.joints[joint])]


def wrist_force(context: StateContext, sensor: str) -> float | None:
    """Return the norm of the force at the wrist [N]; at rest and without contact, a weight."""
    wrench = context.observation.wrenches.get(topic_token(sensor))
    return None if wrench is None else sqrt(wrench.force.dot(wrench.force))
