"""Shapes of objects, poses of tools around them, and contacts of parallel fingers."""

from dataclasses import dataclass
from itertools import product
from math import acos, atan, degrees
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.controllers.library.pick_place.arm import collision_geoms
from mujoco_ros.controllers.planning.collisions.planning_scene import free_address, free_body
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

QUARTER = np.pi / 2


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

    It is `height` [m] above the centre of the box, and some quarter turns away.
    """
    angle = nearest_quarter(yaw(found), heading(tool)) + quarters * QUARTER
    position = found.position + np.array([0.0, 0.0, height])
    return Pose(position=position, quat_wxyz=pointing_down(angle))


def placing(goal: Pose, held: Pose, tool: Pose) -> Pose:
    """Return the pose of the tool with a held box at its goal, up to quarter turns of the box."""
    turned = yaw(tool @ held) - heading(tool)  # of the box in the hand
    orientation = pointing_down(nearest_quarter(yaw(goal) - turned, heading(tool)))
    at_goal = Pose(position=goal.position, quat_wxyz=orientation)
    return Pose(
        position=goal.position - at_goal.matrix @ held.position, quat_wxyz=at_goal.quat_wxyz
    )


def above(tool: Pose, height: float) -> Pose:
    """Return a pose that is higher by `height` [m]."""
    return Pose(position=tool.position + np.array([0.0, 0.0, height]), quat_wxyz=tool.quat_wxyz)


def nearest_quarter(angle: float, present: float) -> float:
    """Return the angle nearest to `present` that differs from `angle` by quarter turns."""
    return angle + QUARTER * round((present - angle) / QUARTER)


def pointing_down(angle: float) -> np.ndarray:
    """Return the orientation with the x axis in direction `angle` and the z axis down."""
    return np.array([0.0, np.cos(angle / 2), np.sin(angle / 2), 0.0])


_UP = np.array([0.0, 0.0, 1.0])


def presenting(position: np.ndarray, heading: float) -> Pose:
    """Return the pose of a tool that holds a box out: horizontal, with its fingers side by side.

    Its z axis has the `heading` about the vertical [rad].
    """
    z = np.array([np.cos(heading), np.sin(heading), 0.0])
    y = np.cross(_UP, z)
    return _tool_pose(position, y, z)


def receiving(box: Pose, giver: Pose) -> Pose:
    """Return the pose of a tool that grasps a box from the side opposite to the giver's tool.

    The tools face each other, and their fingers are at a right angle to each other.
    """
    axes, hand = box.matrix, giver.matrix
    z = nearest_axis(axes, -hand[:, 2])
    y = nearest_axis(axes, hand[:, 0])
    return _tool_pose(box.position, y, z)


def behind(tool: Pose, distance: float) -> Pose:
    """Return the pose of a tool that is drawn back along its z axis by a distance [m]."""
    position = tool.position - distance * tool.matrix[:, 2]
    return Pose(position=position, quat_wxyz=tool.quat_wxyz)


def nearest_axis(axes: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the axis of a box, in either sense, that is nearest to a direction.  # (3,)"""
    parts = axes.T @ direction
    axis = int(np.argmax(np.abs(parts)))
    nearest: np.ndarray = np.sign(parts[axis]) * axes[:, axis]
    return nearest


def _tool_pose(position: np.ndarray, y: np.ndarray, z: np.ndarray) -> Pose:
    quat_wxyz = np.empty(4)
    mujoco.mju_mat2Quat(quat_wxyz, np.column_stack([np.cross(y, z), y, z]).ravel())
    return Pose(position=np.array(position, dtype=float), quat_wxyz=quat_wxyz)


_MAX_TILT = 0.2  # largest tilt of an object that stands on one of its sides [rad]
_OVERLAP = 0.002
"""Smallest depth of a collision at the goal [m]; less is the inaccuracy of measurements."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ObjectShape:
    """Bounding box of an object's collision geoms in the frame of its body."""

    centre: np.ndarray  # its centre [m] (3,)
    half: np.ndarray  # half of its edges [m] (3,)
    geoms: tuple[int, ...]  # its geoms in the model

    @classmethod
    def of(cls, model: Any, name: str) -> "ObjectShape | None":
        """Return the shape of an object; None if the model has no such free object."""
        try:
            body = free_body(model, name)
        except UserInputError:
            return None
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        bodies = np.flatnonzero(model.body_rootid == body).tolist()
        geoms = collision_geoms(model, bodies)
        if not geoms:
            return None
        origin, axes = data.xpos[body], data.xmat[body].reshape(3, 3)
        corners = np.array([corner for geom in geoms for corner in _corners(model, data, geom)])
        inside = (corners - origin) @ axes
        low, high = inside.min(0), inside.max(0)
        return cls(centre=0.5 * (low + high), half=0.5 * (high - low), geoms=tuple(geoms))

    def bottom(self, orientation: np.ndarray) -> float:
        """Return the height of the body's origin above its lowest point [m].

        The upright axis of a standing object is rounded to the vertical.
        """
        vertical = _upright(orientation[2])
        return float(np.abs(vertical) @ self.half - vertical @ self.centre)

    def top(self, orientation: np.ndarray) -> float:
        """Return the height of its highest point above the body's origin [m]."""
        vertical = _upright(orientation[2])
        return float(np.abs(vertical) @ self.half + vertical @ self.centre)


def overlap_at(model: Any, name: str, shape: ObjectShape, pose: Pose) -> tuple[str, float] | None:
    """Return the static body that an object at a pose would penetrate, and the depth [m]."""
    data = mujoco.MjData(model)
    address = free_address(model, free_body(model, name))
    data.qpos[address : address + 7] = *pose.position, *pose.quat_wxyz
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    deepest: tuple[str, float] | None = None
    for contact in data.contact[: data.ncon]:
        pair = [int(geom) for geom in contact.geom]
        others = [geom for geom in pair if geom not in shape.geoms]
        depth = -float(contact.dist)
        if len(others) != 1 or depth < max(_OVERLAP, deepest[1] if deepest else 0.0):
            continue
        body = int(model.geom_bodyid[others[0]])
        if not model.body_weldid[body]:
            deepest = model.body(body).name or "world", depth
    return deepest


def _corners(model: Any, data: Any, geom: int) -> list[np.ndarray]:
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    axes = data.geom_xmat[geom].reshape(3, 3)
    signs = product((-1.0, 1.0), repeat=3)
    return [data.geom_xpos[geom] + axes @ (centre + half * np.array(sign)) for sign in signs]


def _upright(vertical: np.ndarray) -> np.ndarray:
    """Return a vertical axis in the frame of a body, rounded to one of its own axes if near."""
    axis = int(np.argmax(np.abs(vertical)))
    if abs(vertical[axis]) < np.cos(_MAX_TILT):
        return vertical
    rounded = np.zeros(3)
    rounded[axis] = np.sign(vertical[axis])
    return rounded


_LEAST_OVERLAP = 0.003
"""Smallest overlap of a pad with the side of the object, along both directions [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Contact:
    """Contact of a finger with an object, in the tool's frame."""

    position: np.ndarray  # [m] (3,)
    normal: np.ndarray  # unit vector into the object (3,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Grasp:
    """The contacts of both fingers, or the reason why there are none."""

    contacts: tuple[Contact, ...]  # contacts of both fingers; empty if a pad misses the object
    missed: float = 0.0  # distance by which the pads miss the object [m]


def grasp_contacts(held: Pose, shape: ObjectShape, pad: np.ndarray) -> Grasp:
    """Return the contacts of pads, of half sizes along x and z, that close along the y axis."""
    axes = held.matrix
    across = int(np.argmax(np.abs(axes[1])))  # of the object, most parallel to the fingers' motion
    along = [axis for axis in range(3) if axis != across]
    centre = held.position + axes @ shape.centre
    # The line on which the pads close, in the frame of the bounding box.
    start, line = axes.T @ -centre, axes[1]
    contacts, missed = [], 0.0
    for sign in (1.0, -1.0):
        side = sign * shape.half[across]
        point = start + (side - start[across]) / line[across] * line
        nearest = np.clip(point[along], -shape.half[along], shape.half[along])
        beyond = np.abs(axes[:, along] @ (point[along] - nearest))[[0, 2]]
        missed = max(missed, float(np.max(beyond - pad + _LEAST_OVERLAP)))
        point[along] = nearest
        normal = -sign * axes[:, across]
        contacts.append(Contact(position=centre + axes @ point, normal=normal))
    return Grasp(contacts=() if missed > 0.0 else tuple(contacts), missed=missed)


def closure_flaw(grasp: Grasp, friction: float) -> str:
    """Return why a grasp is not a force closure; "" if it is.

    Two contacts of soft fingers on a convex object are a force closure if the line between them is
    inside of both friction cones.
    """
    if not grasp.contacts:
        return f"the fingers miss the object by {grasp.missed * 1e3:.0f} mm"
    first, second = grasp.contacts
    line = second.position - first.position
    length = float(np.linalg.norm(line))
    if length == 0.0:
        return "both fingers touch the same point"
    cosines = (first.normal @ line / length, -(second.normal @ line) / length)
    angle = acos(min(1.0, max(-1.0, min(cosines))))
    if angle < atan(friction):
        return ""
    return (
        f"the line between the contacts is {degrees(angle):.0f}° from a normal, outside of the "
        f"friction cone of {degrees(atan(friction)):.0f}°"
    )
