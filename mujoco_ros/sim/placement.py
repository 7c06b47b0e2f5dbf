"""Setting of the pose and the velocity of entities."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.scene.entities import Entity, EntityKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """A pose and a velocity to set, in the world frame; None leaves one unchanged.

    Attributes:
        pose: Position [m] and unit quaternion wxyz.  # (7,)
        twist: Velocity of the origin of the frame [m/s] and angular velocity [rad/s].  # (6,)
    """

    pose: np.ndarray | None = None
    twist: np.ndarray | None = None


def obstacle(entity: Entity, placement: Placement) -> str:
    """Return why a placement of an entity is impossible; empty if it is possible."""
    if entity.free is not None:
        return ""
    if entity.mocap is not None:
        if placement.twist is None or not placement.twist.any():
            return ""
        return f"'{entity.name}' is a mocap body: it has a pose, but no velocity"
    fixed = "its joints connect it" if entity.jointed else "it is fixed"
    kind = "robot" if entity.kind is EntityKind.ROBOT else "entity"
    return (
        f"{kind} '{entity.name}' cannot be moved: {fixed} to the world; "
        "entities on a free joint and mocap bodies can"
    )


def place(data: mujoco.MjData, entity: Entity, placement: Placement) -> None:
    """Set the placement of an entity that has no `obstacle`; for the physics thread.

    Its joints keep their state, and without a twist it keeps its velocity in the world.
    """
    pose, twist = placement.pose, placement.twist
    if entity.mocap is not None:
        if pose is not None:
            data.mocap_pos[entity.mocap] = pose[:3]
            data.mocap_quat[entity.mocap] = pose[3:]
        return
    assert entity.free is not None
    q, v = entity.free
    quat, angular = data.qpos[q + 3 : q + 7], data.qvel[v + 3 : v + 6]
    in_world = np.zeros(3)
    mujoco.mju_rotVecQuat(in_world, angular, quat)
    if pose is not None:
        data.qpos[q : q + 7] = pose
    if twist is not None:
        data.qvel[v : v + 3] = twist[:3]
        in_world[:] = twist[3:]
    # In MuJoCo, the angular velocity of a free joint is in the frame of the body.
    inverse = np.zeros(4)
    mujoco.mju_negQuat(inverse, quat)
    mujoco.mju_rotVecQuat(angular, in_world, inverse)
