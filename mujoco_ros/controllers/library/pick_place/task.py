"""The task: the object, its goal, and the measurements during the motion."""

from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.controllers.library.pick_place.trajectory_execution import ExecutedPath
from mujoco_ros.model.pose import Pose

QUARTER = np.pi / 2


@dataclass(slots=True, kw_only=True)
class Task:
    """One object that is picked and placed.

    Attributes:
        object: Name of the object.
        goal: Goal pose of its centre.
        seen: Whether observations have its pose; otherwise it is detected in images.
        camera: Camera for the detection.
        found: Pose at the last plan of an approach.
        attempts: Number of retries.
        moves: Number of times that the object was moved during the approach.
        swapped: Goal of the next task if there is no new one.
        motion: The last planned motion.
        descent: The last straight motion down, which is reversed to go up again.
        tare: Force at the wrist with an empty hand [N].
        opening: Position of the gripper's joint with the object between the fingers [m].
        held: Pose of the object in the tool's frame; None with an empty hand.
        metrics: Measured quantities by name, for statistics.
    """

    object: str
    goal: Pose
    seen: bool
    camera: str
    found: Pose | None = None
    attempts: int = 0
    moves: int = 0
    swapped: Pose | None = None
    motion: ExecutedPath | None = None
    descent: ExecutedPath | None = None
    tare: float = 0.0
    opening: float = 0.0
    held: Pose | None = None
    metrics: dict[str, float] = field(default_factory=dict)

    def record_largest(self, metric: str, value: float) -> None:
        """Keep the largest value of a metric."""
        self.metrics[metric] = max(value, self.metrics.get(metric, value))


TASK: Key[Task] = Key("pick_place/task", Task)


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


def grasp(found: Pose, tool: Pose) -> Pose:
    """Return the pose of the tool that grasps a box from above, nearest to the current one."""
    return Pose(position=found.position, quat_wxyz=_down(_nearest(yaw(found), heading(tool))))


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
