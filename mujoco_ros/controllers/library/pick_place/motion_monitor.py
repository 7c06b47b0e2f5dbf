"""Detection of failures during a motion, from measurements that a real robot has."""

from collections import deque
from math import ceil, isnan, sqrt

import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, Positive
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY, Arm
from mujoco_ros.controllers.library.pick_place.task import Task
from mujoco_ros.model.naming import topic_token


class MonitoredMotion(CheckedConfig):
    """Limits of a motion."""

    tracking: Positive = setting("Largest tracking error of a joint [rad]", 0.05)
    push: Positive = setting(
        "Largest part of a joint's effort limit that the commands do not explain", 0.3
    )
    force: Positive = setting("Largest force at the wrist beyond hand and payload [N]", 40.0)
    ringing: Positive = setting("Largest RMS speed of a finger that holds an object [m/s]", 0.02)
    oscillation: NotNegative = setting(
        "Time for which a finger must move faster to be called oscillating [s]", 0.2
    )
    drift: Positive = setting(
        "Largest displacement of the object, in the hand or before the grasp [m]", 0.01
    )
    saturated: Positive = setting("Longest time with saturated effort of a joint [s]", 0.05)
    latency: NotNegative = setting(
        "Largest latency of commands [s]. With latency a robot lags behind its references, and "
        "its efforts follow earlier commands",
        0.03,
    )
    pose_latency: NotNegative = setting("Largest latency of object poses [s]", 0.12)
    stale: Positive = setting(
        "Largest age of the object's pose [s], and time for which it may remain exactly the same "
        "in a hand that moves",
        0.3,
    )


FAILURES = ("tracking", "collision", "saturated")
GRIP_FAILURES = ("slip", "pose_stale", "contact_oscillation")
_INTERVAL = 2  # ticks between two checks of the object's pose
_SAMPLES = 8  # checks over which the drift of the object is averaged
_OPENING_TICKS = 5  # ticks over which the opening of the fingers is averaged
_WINDOW_S = 0.2  # duration over which the speed of the fingers is averaged [s]
_TRAVEL = 0.06
"""Travel of the hand after which an object that does not follow would be out of the fingers [m]."""
_FOLLOWS = 0.25  # smallest part of the hand's travel by which an object in the hand moves, too
_SAME_TRAVEL = 0.004  # travel of the hand in which the pose of an object in it must change [m]


class GripMonitor:
    """Checks the grip at every tick.

    The object must follow the hand. Its pose is compared with the path of the tool during the
    largest latency, so that a late pose is not taken for a slip.
    """

    def __init__(
        self, context: StateContext, arm: Arm, task: Task, limits: MonitoredMotion
    ) -> None:
        self._arm, self._task, self._limits = arm, task, limits
        period = context.period
        self._openings: deque[float] = deque(maxlen=_OPENING_TICKS)
        self._squares: deque[float] = deque(maxlen=max(2, round(_WINDOW_S / period)))
        self._oscillating = 0
        self._oscillation_ticks = round(limits.oscillation / period)
        window = limits.latency + limits.pose_latency
        self._path: deque[np.ndarray] = deque(maxlen=1 + ceil(window / (_INTERVAL * period)))
        self._offsets: deque[np.ndarray] = deque(maxlen=_SAMPLES)
        self._positions: deque[np.ndarray] = deque(maxlen=_SAMPLES)
        self._first_position: np.ndarray | None = None
        self._first_expected: np.ndarray | None = None
        self._same: tuple[np.ndarray, np.ndarray, float] | None = None
        self._tick = 0

    def check(self, context: StateContext) -> str | None:
        """Return ``slip``, ``pose_stale`` or ``contact_oscillation``; None while all is well."""
        observation, task = context.observation, self._task
        self._openings.append(float(observation.q[self._arm.gripper]))
        opening = sum(self._openings) / len(self._openings)
        is_closing = opening < 0.5 * task.opening
        if is_closing and len(self._openings) == _OPENING_TICKS:
            context.reason = f"the fingers closed to {opening * 1e3:.2f} mm"
            return "slip"
        self._tick += 1
        if self._tick % _INTERVAL == 0 and task.follows_pose and task.held is not None:
            failure = self._check_pose(context)
            if failure is not None:
                return failure
        speed = self.finger_speed(context)
        is_full = len(self._squares) == self._squares.maxlen
        # The fingers also move fast for a moment when the object slips out.
        is_fast = is_full and speed > self._limits.ringing
        self._oscillating = self._oscillating + 1 if is_fast else 0
        if is_fast and self._oscillating > self._oscillation_ticks:
            context.reason = f"the fingers oscillate at {speed * 1e3:.0f} mm/s"
            return "contact_oscillation"
        return None

    def finger_speed(self, context: StateContext) -> float:
        """Return the RMS speed of a finger in the last 0.2 s [m/s]."""
        self._squares.append(float(context.observation.dq[self._arm.gripper]) ** 2)
        return sqrt(sum(self._squares) / len(self._squares))

    def _check_pose(self, context: StateContext) -> str | None:
        task, limits, observation = self._task, self._limits, context.observation
        assert task.held is not None, "checked by the caller"
        if is_stale(context, task.object, limits.stale):
            return "pose_stale"
        pose = observation.objects.get(task.object)
        if pose is None:
            return None
        expected = (self._arm.tool(context.references.q) @ task.held).position
        self._path.append(expected)
        self._offsets.append(_offset(np.array(self._path), pose.position))
        self._positions.append(pose.position)
        if self._first_expected is None:
            self._first_expected, self._first_position = expected, pose.position
        if self._is_same(context, expected, pose.position):
            context.reason = f"the pose of '{task.object}' does not change while the hand moves"
            return "pose_stale"
        if len(self._offsets) < _SAMPLES:
            return None
        drift = float(np.linalg.norm(np.mean(self._offsets, axis=0)))
        if drift < limits.drift:
            return None
        travel, moved = self._travels()
        if moved > _FOLLOWS * travel:
            context.reason = f"'{task.object}' slid {drift * 1e3:.1f} mm in the hand"
            return "slip"
        if travel > _TRAVEL:  # without the object, the fingers would have closed by now
            context.reason = (
                f"the pose of '{task.object}' stays where the hand was {travel * 1e3:.0f} mm ago, "
                "but the fingers still hold it"
            )
            return "pose_stale"
        return None  # until the fingers show whether they still hold the object

    def _travels(self) -> tuple[float, float]:
        """Return the distances of hand and object from their first positions [m]."""
        assert self._first_expected is not None
        assert self._first_position is not None
        travel = np.linalg.norm(self._path[-1] - self._first_expected)
        moved = np.linalg.norm(np.mean(self._positions, axis=0) - self._first_position)
        return float(travel), float(moved)

    def _is_same(self, context: StateContext, expected: np.ndarray, position: np.ndarray) -> bool:
        """Return whether the pose has been exactly the same for too long in a moving hand."""
        if self._same is None or not np.array_equal(position, self._same[0]):
            self._same = position, expected, context.time
            return False
        travel = float(np.linalg.norm(expected - self._same[1]))
        since = context.time - self._same[2]
        return travel > _SAME_TRAVEL and since > max(self._limits.stale, self._limits.pose_latency)


def is_stale(context: StateContext, name: str, limit: float) -> bool:
    """Return whether the pose of an object is too old, and set the reason."""
    age = context.observation.object_age(name)
    if age <= limit:
        return False
    context.reason = f"the pose of '{name}' is {age:.2f} s old; limit: {limit:g} s"
    return True


def _offset(path: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return the shortest vector from a path of points to a position [m].  # (n, 3), (3,)"""
    if len(path) == 1:
        only: np.ndarray = position - path[0]
        return only
    starts, edges = path[:-1], np.diff(path, axis=0)
    squares = np.einsum("ij,ij->i", edges, edges)
    parts = np.einsum("ij,ij->i", position - starts, edges) / np.maximum(squares, 1e-18)
    offsets = position - starts - np.clip(parts, 0.0, 1.0)[:, None] * edges
    nearest: np.ndarray = offsets[np.argmin(np.einsum("ij,ij->i", offsets, offsets))]
    return nearest


_MIN_TICKS = 3  # minimum duration of a failure in ticks, because of noise
_SATURATED = 0.995  # part of the effort limit that counts as saturated
_OBJECT_TICKS = 5  # ticks over which the distance of an object from its planned pose is averaged


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
        force = wrist_force(context, self._arm.sensor)
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
        if force is not None:
            payload = 0.0 if self._arm.payload is None else self._arm.payload.mass * GRAVITY
            excess = abs(force - self._task.empty_weight - payload)
            if excess > self._limits.force:
                context.reason = f"{excess:.0f} N at the wrist beyond hand and payload"
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

    def check_object(self, context: StateContext) -> str | None:
        """Return ``object_moved`` if the object has moved since the plan, or ``pose_stale``."""
        task, objects = self._task, context.observation.objects
        if not task.seen or task.found is None:
            return None
        if task.object not in objects:
            context.reason = f"'{task.object}' is no longer in the scene"
            return "object_moved"
        if is_stale(context, task.object, self._limits.stale):
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

    def _lasts(self, failure: str, is_present: bool, ticks: int = _MIN_TICKS) -> bool:
        self._durations[failure] = self._durations[failure] + 1 if is_present else 0
        return self._durations[failure] >= ticks

    def _name(self, joint: int) -> str:
        return self._robot.joints[int(self._arm.joints[joint])]


def wrist_force(context: StateContext, sensor: str) -> float | None:
    """Return the norm of the force at the wrist [N]; at rest and without contact, a weight."""
    wrench = context.observation.wrenches.get(topic_token(sensor))
    return None if wrench is None else sqrt(wrench.force.dot(wrench.force))
