"""The parts of an entity: its links and sensors, and its state at the start."""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carriers
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.state.initial_state import initial_state
from mujoco_ros.sim.state.set_state import settable_joints


def initial_values(assembly: Assembly, layout: ModelLayout, entity: Entity) -> dict[str, Any]:
    """Return what an entity has at the start, by names in ``~/set_joints``; it may be nothing."""
    model, start = assembly.model, initial_state(assembly, layout)
    values: dict[str, Any] = {}
    for name, settable in settable_joints(model, layout).items():
        if model.jnt_bodyid[settable.joint] in entity.bodies:
            values[f"{name}.position"] = float(start.qpos[model.jnt_qposadr[settable.joint]])
            values[f"{name}.velocity"] = float(start.qvel[model.jnt_dofadr[settable.joint]])
    if entity.free is not None:
        q, v = entity.free
        quat = start.qpos[q + 3 : q + 7]
        values[f"{entity.name}.pose"] = _pose(start.qpos[q : q + 3], quat)
        in_body = start.qvel[v + 3 : v + 6]
        turning = Pose(quat_wxyz=quat).matrix @ in_body
        values[f"{entity.name}.twist"] = [*map(float, (*start.qvel[v : v + 3], *turning))]
    elif entity.mocap is not None:
        mocap = entity.mocap
        values[f"{entity.name}.pose"] = _pose(start.mocap_pos[mocap], start.mocap_quat[mocap])
    return values


def _pose(position: np.ndarray, quat_wxyz: np.ndarray) -> list[float]:
    w, x, y, z = map(float, quat_wxyz / np.linalg.norm(quat_wxyz))
    return [*map(float, position), x, y, z, w]


def sensors_of(state: SharedState, entity: Entity) -> Iterator[tuple[str, int]]:
    """Yield name and kind, and the body, of each sensor, camera and lidar of a robot."""
    for robot in state.layout.robots:
        if robot.name != entity.name or entity.kind is not EntityKind.ROBOT:
            continue
        for kind, sensors in robot.sensors.items():
            for sensor in sensors:
                has_site = sensor.site >= 0
                body = int(state.model.site_bodyid[sensor.site]) if has_site else entity.root
                yield f"{sensor.name} ({kind})", body
        for camera in robot.cameras:
            yield f"{camera.name} (camera)", camera.body
        for lidar in robot.lidars:
            yield f"{lidar.name} (lidar)", lidar.body


def trail_body(model: mujoco.MjModel, entity: Entity, selected: int) -> str:
    """Return the name of the body whose path shows the motion of an entity.

    It is the selected one if that is a link of the entity, else its base or its last link.
    """
    if selected in entity.bodies:
        body = selected
    elif entity.free is not None or entity.mocap is not None or not entity.bodies:
        body = entity.root
    else:
        body = max(entity.bodies, key=lambda body: depth(model, body))
    return str(model.body(body).name)


def depth(model: mujoco.MjModel, body: int) -> int:
    """Return how many bodies are between a body and the world."""
    return len(carriers(model, body)[1:])
