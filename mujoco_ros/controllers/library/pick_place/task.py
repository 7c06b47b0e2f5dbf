"""What shall be brought where, and what became known of it on the way."""

from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.controllers.library.pick_place.trajectory_execution import ExecutedPath

QUARTER = np.pi / 2


@dataclass(slots=True, kw_only=True)
class Task:
    """One object on its way.

    Attributes:
        object: Name of the object.
        goal: Where its centre shall be, and how it shall be turned.
        seen: Whether observations tell where it is all the time, not images now and then.
        camera: Who looks for it, if they do not.
        found: Where it was when its picking was planned.
        attempts: How often picking it was begun anew.
        moves: How often it was moved while it was approached.
        swapped: Where it shall go next time, if there is to be one without a new order.
        motion: What was planned last.
        descent: The last straight motion down, which leads up again.
        tare: What the wrist's sensor reads with nothing in the hand [N].
        opening: Position of the gripper's joint with the object between the fingers [m].
        held: Where the object is in the tool's frame.
        figures: What is worth telling of it afterwards, by name.
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
    figures: dict[str, float] = field(default_factory=dict)

    def note_largest(self, figure: str, value: float) -> None:
        """Keep the largest value of a figure, for those who tell of the task afterwards."""
        self.figures[figure] = max(value, self.figures.get(figure, value))


TASK: Key[Task] = Key("pick_place/task", Task)


IN_THE_MIDDLE = Pose(position=np.zeros(3), quat_wxyz=np.array([0.0, 1.0, 0.0, 0.0]))
"""How something upright is held by a tool that points down, in the tool's frame."""


def upright(x: float, y: float, z: float, yaw: float) -> Pose:
    """Return the pose of something that stands upright, turned by `yaw` [rad]."""
    return Pose(
        position=np.array([x, y, z]),
        quat_wxyz=np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]),
    )


def yaw(box: Pose) -> float:
    """Return how far a box is turned about the vertical [rad], whichever sides are level."""
    axes = box.matrix
    axis = axes[:, np.argmin(np.abs(axes[2]))]
    return float(np.arctan2(axis[1], axis[0]))


def heading(tool: Pose) -> float:
    """Return where the x axis of a tool that points down looks to [rad]."""
    axis = tool.matrix[:, 0]
    return float(np.arctan2(axis[1], axis[0]))


def grasp(found: Pose, tool: Pose) -> Pose:
    """Return where the tool grasps a box from above, turned as little as its sides allow.

    Args:
        found: The box.
        tool: The tool as it is now, pointing down.
    """
    return Pose(position=found.position, quat_wxyz=_down(_nearest(yaw(found), heading(tool))))


def placing(goal: Pose, held: Pose, tool: Pose) -> Pose:
    """Return where the tool is when a box in the hand is at its goal, whichever side is ahead.

    Args:
        goal: Where the box shall be.
        held: Where it is in the tool's frame.
        tool: The tool as it is now, pointing down.
    """
    turned = yaw(tool @ held) - heading(tool)  # of the box in the hand
    orientation = _down(_nearest(yaw(goal) - turned, heading(tool)))
    there = Pose(position=goal.position, quat_wxyz=orientation)
    return Pose(position=goal.position - there.matrix @ held.position, quat_wxyz=there.quat_wxyz)


def above(tool: Pose, height: float) -> Pose:
    """Return a pose that is higher by so much [m]."""
    return Pose(position=tool.position + np.array([0.0, 0.0, height]), quat_wxyz=tool.quat_wxyz)


def _nearest(angle: float, present: float) -> float:
    """Return the angle nearest to the present one that looks the same on something square."""
    return angle + QUARTER * round((present - angle) / QUARTER)


def _down(angle: float) -> np.ndarray:
    """Return the orientation whose x axis looks to `angle` and whose z axis points down."""
    return np.array([0.0, np.cos(angle / 2), np.sin(angle / 2), 0.0])
