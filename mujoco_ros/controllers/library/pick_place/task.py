"""The task: the object, its goal, the measurements, and what an attempt changes."""

from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.controllers.library.pick_place.arm import ARM, Arm
from mujoco_ros.controllers.library.pick_place.measuring.averages import Average
from mujoco_ros.controllers.library.pick_place.measuring.object_shape import ObjectShape
from mujoco_ros.controllers.library.pick_place.trajectory_execution import ExecutedPath
from mujoco_ros.model.pose import Pose

_LOWER = 0.003
"""Distance by which each attempt after a slip grasps lower [m]."""
_SPEED = 0.5
"""Factor on speed and acceleration of each attempt after a failed motion."""
_GRIP = ("slip", "no_contact", "contact_oscillation", "no_force_closure")
_MOTION = ("collision", "tracking", "saturated", "stuck")
_PATH = ("no_path", "planner_timeout", "ik_failed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Variation:
    """Changes of an attempt.

    Attributes:
        quarters: Quarter turns of the grasp about the vertical.
        lower: Distance by which the grasp is lower [m].
        speed: Factor on speeds and accelerations.
        iterations: Factor on the iterations of the planner.
        measuring: Factor on the duration of measurements.
        full_force: Whether the fingers close with all of their force.
    """

    quarters: int = 0
    lower: float = 0.0
    speed: float = 1.0
    iterations: int = 1
    measuring: float = 1.0
    full_force: bool = False

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
    """Return the changes of an attempt after a failure.

    Args:
        cause: The failure.
        attempt: Number of the retry, from 1.
    """
    if cause in _GRIP:
        return Variation(
            quarters=attempt, lower=attempt * _LOWER, measuring=1.0 + attempt, full_force=True
        )
    if cause in _PATH:
        return Variation(quarters=attempt, iterations=1 << attempt, measuring=1.0 + attempt)
    speed = _SPEED**attempt if cause in _MOTION or not cause else 1.0
    quarters = attempt if cause == "collision" else 0
    return Variation(quarters=quarters, speed=speed, measuring=1.0 + attempt)


QUARTER = np.pi / 2
_HEAVY, _HEAVY_FACTOR = 0.3, 0.5
"""Part of the largest mass from which on accelerations are reduced, and the factor."""


@dataclass(slots=True, kw_only=True)
class Task:
    """One object that is picked and placed.

    Attributes:
        object: Name of the object.
        goal: Goal pose of its centre, or of the surface below it until its size is known.
        on_surface: Whether `goal` is still that of the surface.
        shape: Bounding box of the object; None if the scene does not have it.
        friction: Coefficient of sliding friction between fingers and object.
        seen: Whether observations have its pose; otherwise it is detected in images.
        camera: Camera for the detection.
        found: Pose at the last plan of an approach.
        origin: Pose at the first plan, to which the object is put back.
        others: Poses of the other objects at the last plan.
        attempts: Number of retries.
        cause: The last failure.
        variation: What the present attempt changes.
        returning: Whether the object is put back.
        returns: Number of attempts to put it back.
        moves: Number of times that the object was moved during the approach.
        swapped: Goal of the next task if there is no new one.
        motion: The last planned motion.
        descent: The last straight motion down, which is reversed to go up again.
        hand_weight: Expected weight at the wrist with an empty hand [N].
        tare: The measured one [N].
        opening: Position of the gripper's joint with the object between the fingers [m].
        grip_force: Force of both fingers together on the object [N].
        held: Pose of the object in the tool's frame; None with an empty hand.
        metrics: Measured quantities by name, for statistics.
    """

    object: str
    goal: Pose
    seen: bool
    camera: str
    on_surface: bool = False
    shape: ObjectShape | None = None
    friction: float = 0.0
    found: Pose | None = None
    origin: Pose | None = None
    others: dict[str, Pose] = field(default_factory=dict)
    attempts: int = 0
    cause: str = ""
    variation: Variation = field(default_factory=Variation)
    returning: bool = False
    returns: int = 0
    moves: int = 0
    swapped: Pose | None = None
    motion: ExecutedPath | None = None
    descent: ExecutedPath | None = None
    hand_weight: float = 0.0
    tare: Average = field(default_factory=Average)
    opening: float = 0.0
    grip_force: float = 0.0
    held: Pose | None = None
    metrics: dict[str, float] = field(default_factory=dict)

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
        """Return the pose of the tool that grasps the object.

        Args:
            tool: The current pose of the tool.
            depth: Largest height of the object above the tool [m].
        """
        assert self.found is not None, "called after the object was located"
        height = 0.0
        if self.shape is not None:
            height = max(0.0, self.shape.top(self.found.matrix) - depth)
        if not height:
            height = -self.variation.lower
        return grasp(self.found, tool, height=height, quarters=self.variation.quarters)

    def turned(self, grasping: Pose, tool: Pose) -> np.ndarray:
        """Return the orientation of a grasp that is nearest to the tool's.  # (4,)"""
        return _down(_nearest(heading(grasping), heading(tool)))

    def excess_mass(self, mass: float) -> str:
        """Return why the present grip cannot hold a mass [kg]; "" if it can."""
        limit = self.metrics.get("limit", 0.0)
        if not limit or mass <= limit:
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


class TaskState(State):
    """State that records its failures in the task, from which the next attempt follows."""

    def run(self, context: StateContext) -> str | None:
        """Run one tick."""
        get_arm(context)
        outcome = self.advance(context)
        if outcome in self.failures and TASK in context.store:
            context.store.get(TASK).cause = outcome or ""
        return outcome

    def advance(self, context: StateContext) -> str | None:
        """Run one tick; return an outcome when the state has finished."""
        raise NotImplementedError


CENTRED = Pose(position=np.zeros(3), quat_wxyz=np.array([0.0, 1.0, 0.0, 0.0]))
"""Pose of an upright object in the frame of a tool that points down."""


def upright(x: float, y: float, z: float, yaw: float) -> Pose:
    """Return the pose of an upright object turned by `yaw` [rad]."""
    return Pose(
        position=np.array([x, y, z]),
        quat_wxyz=np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]),
    )


def yaw(box: Pose) -> float:
    """Return the rotation of a box about the vertical [rad], with any sides horizontal."""
    axes = box.matrix
    axis = axes[:, np.argmin(np.abs(axes[2]))]
    return float(np.arctan2(axis[1], axis[0]))


def heading(tool: Pose) -> float:
    """Return the direction of the x axis of a tool that points down [rad]."""
    axis = tool.matrix[:, 0]
    return float(np.arctan2(axis[1], axis[0]))


def grasp(found: Pose, tool: Pose, *, height: float = 0.0, quarters: int = 0) -> Pose:
    """Return the pose of the tool that grasps a box from above, nearest to the current one.

    Args:
        found: The box.
        tool: The current pose of the tool, pointing down.
        height: Height of the grasp above the centre of the box [m].
        quarters: Quarter turns about the vertical away from the nearest pose.
    """
    angle = _nearest(yaw(found), heading(tool)) + quarters * QUARTER
    position = found.position + np.array([0.0, 0.0, height])
    return Pose(position=position, quat_wxyz=_down(angle))


def placing(goal: Pose, held: Pose, tool: Pose) -> Pose:
    """Return the pose of the tool with a box at its goal, up to quarter turns of the box.

    Args:
        held: The box in the tool's frame.
        tool: The current pose of the tool, pointing down.
    """
    turned = yaw(tool @ held) - heading(tool)  # of the box in the hand
    orientation = _down(_nearest(yaw(goal) - turned, heading(tool)))
    at_goal = Pose(position=goal.position, quat_wxyz=orientation)
    return Pose(
        position=goal.position - at_goal.matrix @ held.position, quat_wxyz=at_goal.quat_wxyz
    )


def above(tool: Pose, height: float) -> Pose:
    """Return a pose that is higher by `height` [m]."""
    return Pose(position=tool.position + np.array([0.0, 0.0, height]), quat_wxyz=tool.quat_wxyz)


def _nearest(angle: float, present: float) -> float:
    """Return the angle nearest to `present` that differs from `angle` by quarter turns."""
    return angle + QUARTER * round((present - angle) / QUARTER)


def _down(angle: float) -> np.ndarray:
    """Return the orientation with the x axis in direction `angle` and the z axis down."""
    return np.array([0.0, np.cos(angle / 2), np.sin(angle / 2), 0.0])
