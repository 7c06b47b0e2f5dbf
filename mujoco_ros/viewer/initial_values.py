"""The initial state of an entity, as values of ``~/set_joints``."""

from typing import Any

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.entities import Entity
from mujoco_ros.sim.state.initial_state import initial_state
from mujoco_ros.sim.state.set_state import settable_joints


def initial_values(assembly: Assembly, layout: ModelLayout, entity: Entity) -> dict[str, Any]:
    """Return positions and velocities of an entity's joints, and its pose and twist, at the start.

    Args:
        assembly: The scene.
        layout: Its robots.
        entity: An entity of it.

    Returns:
        Values by their names in ``~/set_joints``; none if the entity cannot move.
    """
    model, start = assembly.model, initial_state(assembly, layout)
    values: dict[str, Any] = {}
    for name, it in settable_joints(model, layout).items():
        if model.jnt_bodyid[it.joint] in entity.bodies:
            values[f"{name}.position"] = float(start.qpos[model.jnt_qposadr[it.joint]])
            values[f"{name}.velocity"] = float(start.qvel[model.jnt_dofadr[it.joint]])
    if entity.free is not None:
        q, v = entity.free
        quat = start.qpos[q + 3 : q + 7]
        values[f"{entity.name}.pose"] = _pose(start.qpos[q : q + 3], quat)
        turning = (
            Pose(quat_wxyz=quat).matrix @ start.qvel[v + 3 : v + 6]
        )  # from the axes of the body
        values[f"{entity.name}.twist"] = [*map(float, (*start.qvel[v : v + 3], *turning))]
    elif entity.mocap is not None:
        mocap = entity.mocap
        values[f"{entity.name}.pose"] = _pose(start.mocap_pos[mocap], start.mocap_quat[mocap])
    return values


def _pose(position: np.ndarray, quat_wxyz: np.ndarray) -> list[float]:
    w, x, y, z = map(float, quat_wxyz / np.linalg.norm(quat_wxyz))
    return [*map(float, position), x, y, z, w]
