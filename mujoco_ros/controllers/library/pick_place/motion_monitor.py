"""What can go wrong while the arm moves, told from nothing but what a real robot measures."""

from collections import deque
from dataclasses import dataclass
from math import ceil, isnan, sqrt

import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY, SENSOR, Arm
from mujoco_ros.controllers.library.pick_place.checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.task import Task

_LASTING = 3
"""Ticks that something must last: a single reading may be noise."""
_SATURATED = 0.995
"""Part of the largest effort that counts as all of it."""
_WINDOW_S = 0.1
_LOOKS = 5
"""Every so many ticks is looked at the object in the hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoredMotion:
    """When a motion counts as failed.

    Attributes:
        tracking: Largest distance of a joint from where it is told to be [rad].
        push: Largest part of a joint's effort that nothing known explains.
        force: Largest force at the wrist that the hand's own weight does not explain [N].
        ringing: Largest mean speed of a finger that holds something [m/s].
        drift: Furthest that what is held, or to be gripped, may go from where it was [m].
        saturated: Longest that a joint may give all it can [s].
        latency: For so long a command may be under way, or the pose of an object be old [s]: a
            robot far away seems to lag behind, the more the faster it moves, and still gives the
            efforts of before.
    """

    tracking: float = 0.05
    push: float = 0.3
    force: float = 40.0
    ringing: float = 0.01
    drift: float = 0.01
    saturated: float = 0.05
    latency: float = 0.03

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could move."""
        check_positive(self, "tracking", "push", "force", "ringing", "drift", "saturated")
        check_not_negative(self, "latency")


class MotionMonitor:
    """Looks at every tick of one motion, and names what is wrong, with the numbers."""

    def __init__(
        self, context: StateContext, arm: Arm, task: Task, limits: MonitoredMotion
    ) -> None:
        """Begin to watch."""
        self._arm, self._task, self._limits = arm, task, limits
        self._joints = as_slice(arm.joints)
        self._robot = context.robot
        self._most = context.robot.effort[arm.joints]
        self._lasted = dict.fromkeys(("tracking", "collision", "saturated", "ringing"), 0)
        self._saturated = max(_LASTING, round(limits.saturated / context.period))
        self._squares: deque[float] = deque(maxlen=max(2, round(_WINDOW_S / context.period)))
        told = context.references.tau[arm.joints]
        self._told = np.tile(told, (1 + ceil(limits.latency / context.period), 1))  # (ticks, k)
        self._tick = 0
        self._seen_at = self._free_until = context.time
        self._look = 0
        self._place = arm.tool(context.observation.q).position
        self._placed = context.time

    def motion(self, context: StateContext) -> str | None:
        """Return ``tracking``, ``collision`` or ``saturated``; None while all is well."""
        seen, joints = context.observation, self._joints
        q, dq, tau = context.references.values[:, joints]
        error = np.abs(q - seen.q[joints])
        behind = error - self._limits.latency * np.abs(dq)
        effort = seen.effort[joints]
        unexplained = self._unexplained(effort, tau)
        force = self._force(context)
        worst = int(unexplained.argmax())  # one that is no number, if there is any
        if isnan(unexplained[worst]):
            context.reason = f"the effort of '{self._name(worst)}' is not told any more"
            return "tracking"
        free = self._is_free(context)
        if self._lasts("collision", not free and unexplained[worst] > self._limits.push):
            context.reason = (
                f"{unexplained[worst]:.0%} of the effort of '{self._name(worst)}' pushes against "
                "something"
            )
            return "collision"
        if force is not None and force > self._limits.force:
            context.reason = f"the wrist feels {force:.0f} N more than it carries"
            return "collision"
        worst = int(behind.argmax())  # one that is no number, if there is any
        if self._lasts("tracking", not behind[worst] <= self._limits.tracking):
            context.reason = (
                f"'{self._name(worst)}' is {error[worst] * 1e3:.1f} mrad from where it should be"
            )
            return "tracking"
        part = np.abs(effort) / self._most
        worst = int(part.argmax())
        if self._lasts("saturated", part[worst] > _SATURATED, self._saturated):
            context.reason = f"'{self._name(worst)}' gives all it can"
            return "saturated"
        return None

    def hold(self, context: StateContext) -> str | None:
        """Return ``slip`` or ``contact_oscillation``; None while the object is held well."""
        seen, arm, task = context.observation, self._arm, self._task
        opening = float(seen.q[arm.gripper])
        if opening < 0.5 * task.opening:
            context.reason = f"the fingers closed to {opening * 1e3:.2f} mm"
            return "slip"
        self._look += 1
        if self._look % _LOOKS or not task.seen:
            return self.ringing(context)
        if task.held is not None and task.object in seen.objects:
            tool = arm.tool(seen.q)
            drift = seen.objects[task.object].away(tool @ task.held)
            if drift > self._limits.drift + self._limits.latency * self._speed(context, tool):
                context.reason = f"'{task.object}' slid {drift * 1e3:.1f} mm in the hand"
                return "slip"
        return self.ringing(context)

    def ringing(self, context: StateContext) -> str | None:
        """Return ``contact_oscillation`` if the fingers do not stay at rest."""
        speed = self.swing(context)
        full = len(self._squares) == self._squares.maxlen
        # Fingers that snap shut as an object goes are fast for a moment, too.
        if self._lasts("ringing", full and speed > self._limits.ringing):
            context.reason = f"the fingers swing with {speed * 1e3:.0f} mm/s"
            return "contact_oscillation"
        return None

    def swing(self, context: StateContext) -> float:
        """Return the mean speed of a finger since a moment ago [m/s]."""
        self._squares.append(float(context.observation.dq[self._arm.gripper]) ** 2)
        return sqrt(sum(self._squares) / len(self._squares))

    def moved(self, context: StateContext) -> str | None:
        """Return ``object_moved`` if the object is not where it was when this was planned."""
        task, objects = self._task, context.observation.objects
        if not task.seen or task.found is None or task.object not in objects:
            return None
        way = objects[task.object].away(task.found)
        if way > self._limits.drift:
            task.moves += 1
            context.reason = f"'{task.object}' was moved by {way * 1e3:.0f} mm"
            return "object_moved"
        return None

    def _is_free(self, context: StateContext) -> bool:
        """Return whether the robot does as it likes, as it was told nothing for too long.

        A machine that stands still for a moment has ticks too late; the robot jerks then, and takes
        about as long to come back to what it is told.
        """
        since, self._seen_at = context.time - self._seen_at, context.time
        if since > 1.5 * context.period + self._limits.latency:
            self._free_until = context.time + since
        return context.time < self._free_until

    def _unexplained(self, effort: np.ndarray, told: np.ndarray) -> np.ndarray:
        """Return by how much efforts are outside of all that was told lately, as parts.  # (k,)."""
        self._told[self._tick] = told
        self._tick = (self._tick + 1) % len(self._told)
        explained = np.maximum(effort, np.minimum.reduce(self._told))
        np.minimum(explained, np.maximum.reduce(self._told), out=explained)
        unexplained: np.ndarray = np.abs(effort - explained) / self._most
        return unexplained

    def _speed(self, context: StateContext, tool: Pose) -> float:
        """Return the mean speed of the tool since the last look [m/s]."""
        way = float(np.linalg.norm(tool.position - self._place))
        passed = max(context.time - self._placed, context.period)
        self._place, self._placed = tool.position, context.time
        return way / passed

    def _force(self, context: StateContext) -> float | None:
        load = weight(context)
        if load is None:
            return None
        carried = 0.0 if self._arm.payload is None else self._arm.payload.mass * GRAVITY
        return abs(load - self._task.tare - carried)

    def _lasts(self, what: str, so: bool, ticks: int = _LASTING) -> bool:
        self._lasted[what] = self._lasted[what] + 1 if so else 0
        return self._lasted[what] >= ticks

    def _name(self, joint: int) -> str:
        return self._robot.joints[int(self._arm.joints[joint])]


def weight(context: StateContext) -> float | None:
    """Return the size of the force at the wrist [N]: a weight, where nothing moves or touches."""
    wrench = context.observation.wrenches.get(SENSOR)
    return None if wrench is None else sqrt(wrench.force.dot(wrench.force))
