"""The task: the object, its goal, the measurements, and what an attempt changes."""

from collections import deque
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Protocol

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.controllers.library.base_states import ExtendedState
from mujoco_ros.controllers.library.pick_place import grasping
from mujoco_ros.controllers.library.pick_place.arm import ARM, Arm
from mujoco_ros.controllers.library.pick_place.grasping import ObjectShape
from mujoco_ros.model.pose import Pose

_MIN_SAMPLES = 4
_STILL = 0.001  # largest motion of an object at rest during its measurement [m], beyond the noise
_SIGNIFICANT = 3.5  # standard errors beyond which a difference is not noise


class ExecutedPath(Protocol):
    """Joint positions as a function of time."""

    @property
    def duration(self) -> float:
        """Duration [s]."""

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return positions, velocities and accelerations at times (n,) [s].  # (3, n, k)

        The path rests before its start and after its end.
        """


class Average:
    """Mean of a number, and its standard error."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = self._squares = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self._sum += value
        self._squares += value * value

    @property
    def mean(self) -> float:
        """The mean; NaN without measurements."""
        return self._sum / self.count if self.count else float("nan")

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; inf with fewer than two measurements."""
        if self.count < 2:
            return inf
        variance = (self._squares - self._sum * self._sum / self.count) / (self.count - 1)
        return sqrt(max(variance, 0.0) / self.count)


class PoseAverage:
    """Mean pose of an object at rest, measured after a time and without repetitions.

    The window moves on while the object moves.
    """

    def __init__(self, since: float, duration: float) -> None:
        """Average measurements of the last `duration` [s], all made after `since` [s]."""
        self._since, self._duration = since, duration
        self._samples: deque[tuple[float, np.ndarray, np.ndarray]] = deque()

    def add(self, context: StateContext, name: str) -> None:
        """Add the observed pose of an object, if it has one."""
        observation = context.observation
        pose = observation.objects.get(name)
        if pose is None:
            return
        time, samples = observation.object_times.get(name, observation.time), self._samples
        if time < self._since or (samples and time <= samples[-1][0]):
            return
        quat = pose.quat_wxyz
        if samples and quat @ samples[0][2] < 0.0:
            quat = -quat
        samples.append((time, pose.position, quat))
        while samples[-1][0] - samples[0][0] > self._duration + 0.5 * context.period:
            samples.popleft()

    def pose(self, period: float) -> Pose | None:
        """Return the mean pose; None until the window is full and the object at rest in it."""
        samples = self._samples
        count = len(samples)
        if count < _MIN_SAMPLES or samples[-1][0] - samples[0][0] < self._duration - 1.5 * period:
            return None
        positions = np.array([sample[1] for sample in samples])
        half = count // 2
        first, second = positions[:half], positions[half:]
        motion = np.linalg.norm(first.mean(0) - second.mean(0))
        variance = (first.var(0).sum() + second.var(0).sum()) / 2.0
        if motion > _STILL + _SIGNIFICANT * sqrt(4.0 * variance / count):
            return None
        quat = np.sum([sample[2] for sample in samples], axis=0)
        return Pose(position=positions.mean(0), quat_wxyz=quat / np.linalg.norm(quat))


_LOWER = 0.003  # distance by which each attempt after a slip grasps lower [m]
_SPEED = 0.5  # factor on speed and acceleration of each attempt after a failed motion
_GRIP = ("slip", "no_contact", "contact_oscillation", "no_force_closure")
_MOTION = ("collision", "tracking", "saturated", "stuck")
_PATH = ("no_path", "planner_timeout", "ik_failed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Variation:
    """Changes of an attempt."""

    quarters: int = 0  # turns of the grasp about the vertical
    lower: float = 0.0  # distance by which the grasp is lower [m]
    speed: float = 1.0  # factor on speeds and accelerations
    iterations: int = 1  # factor on the iterations of the planner
    measuring: float = 1.0  # factor on the duration of measurements
    full_force: bool = False  # whether the fingers close with all of their force

    @property
    def text(self) -> str:
        """The changes as text."""
        changes = {
            f"grasp turned by {90 * (self.quarters % 4)}°": self.quarters % 4 != 0,
            f"grasp {self.lower * 1e3:.0f} mm lower": self.lower > 0.0,
            f"{self.speed:.0%} of the speed": self.speed < 1.0,
            f"{self.iterations} times the planner's iterations": self.iterations > 1,
            f"pose measured for {self.measuring:g} times as long": self.measuring > 1.0,
            "full grip force": self.full_force,
        }
        return ", ".join(text for text, is_made in changes.items() if is_made)


def variation(cause: str, attempt: int) -> Variation:
    """Return the changes of a retry after a failure; the first one has the number 1."""
    if cause in _GRIP:
        return Variation(
            quarters=attempt, lower=attempt * _LOWER, measuring=1.0 + attempt, full_force=True
        )
    if cause in _PATH:
        return Variation(quarters=attempt, iterations=1 << attempt, measuring=1.0 + attempt)
    speed = _SPEED**attempt if cause in _MOTION or not cause else 1.0
    quarters = attempt if cause == "collision" else 0
    return Variation(quarters=quarters, speed=speed, measuring=1.0 + attempt)


_HEAVY, _HEAVY_FACTOR = 0.3, 0.5
"""Part of the largest mass from which on accelerations are reduced, and the factor."""


@dataclass(slots=True, kw_only=True)
class Task:
    """One object that is picked and placed."""

    object: str
    goal: Pose  # of its centre, or of the surface below it until its size is known
    seen: bool  # whether observations have its pose; otherwise it is detected in images
    camera: str  # for the detection
    on_surface: bool = False  # whether `goal` is still a pose on the surface
    shape: ObjectShape | None = None  # None if the scene does not have the object
    friction: float = 0.0  # coefficient of sliding friction between fingers and object
    found: Pose | None = None  # at the last plan of an approach
    origin: Pose | None = None  # at the first plan, to which the object is put back
    others: dict[str, Pose] = field(default_factory=dict)  # other objects at the last plan
    attempts: int = 0  # number of retries
    cause: str = ""  # the last failure
    variation: Variation = field(default_factory=Variation)  # of the present attempt
    returning: bool = False  # whether the object is put back
    returns: int = 0  # number of attempts to put it back
    moves: int = 0  # number of times that the object was moved during the approach
    swapped: Pose | None = None  # goal of the next task if there is no new one
    motion: ExecutedPath | None = None  # the last planned motion
    descent: ExecutedPath | None = None  # the last straight motion down, reversed to go up again
    hand_weight: float = 0.0  # expected weight at the wrist with an empty hand [N]
    tare: Average = field(default_factory=Average)  # the measured one [N]
    opening: float = 0.0  # position of the gripper's joint around the object [m]
    grip_force: float = 0.0  # of both fingers together on the object [N]
    held: Pose | None = None  # the object in the tool's frame; None with an empty hand
    metrics: dict[str, float] = field(default_factory=dict)  # by name, for statistics

    @property
    def follows_pose(self) -> bool:
        """Whether the grip is checked by the pose of the object."""
        return self.seen and not self.returning

    @property
    def empty_weight(self) -> float:
        """Weight at the wrist with an empty hand [N]."""
        return self.tare.mean if self.tare.count else self.hand_weight

    @property
    def target(self) -> Pose:
        """Pose to which the object in the hand is brought."""
        return self.origin if self.returning and self.origin is not None else self.goal

    @property
    def heavy_factor(self) -> float:
        """Factor on accelerations of an object that needs much of the friction."""
        limit, mass = self.metrics.get("limit", 0.0), self.metrics.get("payload", 0.0)
        return _HEAVY_FACTOR if mass > _HEAVY * limit else 1.0

    def grasp(self, tool: Pose, depth: float) -> Pose:
        """Return the pose of the tool that grasps the object, at most `depth` below its top [m]."""
        assert self.found is not None, "called after the object was located"
        height = 0.0
        if self.shape is not None:
            height = max(0.0, self.shape.top(self.found.matrix) - depth)
        if not height:
            height = -self.variation.lower
        return grasping.grasp(self.found, tool, height=height, quarters=self.variation.quarters)

    def excess_mass(self, mass: float) -> str:
        """Return why the present grip cannot hold a mass [kg]; "" if it can."""
        limit = self.metrics.get("limit", 0.0)
        if not (limit and mass > limit):
            return ""
        return (
            f"'{self.object}' of {mass:.2f} kg is too heavy: {self.grip_force:.1f} N with friction "
            f"{self.friction:g} hold at most {limit:.2f} kg"
        )

    def resolve_goal(self) -> str:
        """Set the goal of the object's centre above the surface; return why that fails, or ""."""
        if not self.on_surface:
            return ""
        if self.shape is None or self.found is None:
            return (
                f"the height of '{self.object}' is unknown, because the scene does not have it: "
                "give the goal of its centre"
            )
        height = np.array([0.0, 0.0, self.shape.bottom(self.found.matrix)])
        self.goal = Pose(position=self.goal.position + height, quat_wxyz=self.goal.quat_wxyz)
        self.on_surface = False
        return ""

    def record_largest(self, metric: str, value: float) -> None:
        """Keep the largest value of a metric."""
        self.metrics[metric] = max(value, self.metrics.get(metric, value))


TASK: Key[Task] = Key("pick_place/task", Task)


def get_arm(context: StateContext) -> Arm:
    """Return the arm of the context's robot; it and the object's shape follow the scene."""
    store = context.store
    arm = store.get(ARM)
    if arm.follow(context.robot_in_scene) and TASK in store:
        task = store.get(TASK)
        task.shape = ObjectShape.of(arm.chain.model, task.object)
    return arm


class TaskState(ExtendedState):
    """State that records its failures in the task, from which the next attempt follows."""

    arm: Arm
    task: Task

    def start(self, context: StateContext) -> None:
        self.arm, self.task = get_arm(context), context.store.get(TASK)

    def run(self, context: StateContext) -> str | None:
        get_arm(context)
        outcome = self.advance(context)
        if outcome in self.failures and TASK in context.store:
            context.store.get(TASK).cause = outcome or ""
        return outcome

    def advance(self, context: StateContext) -> str | None:
        """Run one tick; return an outcome when the state has finished."""
        raise NotImplementedError
