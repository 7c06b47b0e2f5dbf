"""Description of a simulated scene and of the rows of its log, which readers rebuild it from."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco

from mujoco_ros.model.robot.actuators import control_names
from mujoco_ros.model.robot.description import RobotDescription
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig
from mujoco_ros.model.scene.engine_plugins import used_plugins
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state_log.ring_buffer import RingBuffer
from mujoco_ros.sim.state_log.row_format import to_json
from mujoco_ros.sim.state_log.segment_header import MODEL

_FILES = frozenset({"gains", "urdf"})
"""Keys of files that a reader may not have; their contents are in the model."""


def describe_rows(ring: RingBuffer, described: Sequence[RobotDescription]) -> dict[str, Any]:
    """Return the header of the rows of a buffer, as JSON types."""
    return describe(ring.plant, described) | {
        "timestep": ring.timestep,
        "every": ring.every,
        "fields": to_json(ring.fields),
    }


def describe(plant: Plant, described: Sequence[RobotDescription]) -> dict[str, Any]:
    """Return the description of a plant without its model, as JSON types."""
    model, config = plant.model, plant.assembly.config
    return {
        "scene": config.name,
        "mujoco": mujoco.__version__,
        "plugins": used_plugins(model),
        "joints": {
            model.joint(j).name: [int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])]
            for j in range(model.njnt)
        },
        "actuators": control_names(model),
        "sensors": {
            model.sensor(s).name: [int(model.sensor_adr[s]), int(model.sensor_dim[s])]
            for s in range(model.nsensor)
        },
        "references": list(plant.joints.names),
        "robots": [
            {name: value for name, value in _plain(_measured(robot)).items() if name not in _FILES}
            | {
                "model": MODEL,
                "namespace": config.namespace(robot),
                "prefix": part.prefix,
                "description": description.urdf,
                "pose": _plain(description.pose),
            }
            for robot, part, description in zip(
                config.robots, plant.assembly.robots, described, strict=True
            )
        ],
        "objects": [
            _plain(part.config) | {"model": MODEL, "prefix": part.prefix}
            for part in plant.assembly.parts
            if isinstance(part.config, ObjectConfig)
        ],
        "cameras": [_plain(camera) for camera in config.cameras],
        "lidars": [_plain(lidar) for lidar in config.lidars],
        "merged": config.merged,
    }


def _measured(robot: RobotConfig) -> RobotConfig:
    """Return a robot whose drives and motors are ideal: their effects are in the rows."""
    if robot.realism is None:
        return robot
    return dataclasses.replace(robot, realism=dataclasses.replace(robot.realism, actuators={}))


def _plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as JSON types, without None."""
    content: dict[str, Any] = _jsonable(dataclasses.asdict(value))
    return content


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _jsonable(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, frozenset):
        return sorted(value)
    return str(value) if isinstance(value, Path) else value
