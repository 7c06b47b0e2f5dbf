"""What the log says of the model before its rows."""

import dataclasses
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import RobotDescription
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig, SceneConfig
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.model.sensors.cameras import CameraConfig
from mujoco_ros.model.sensors.lidars import LidarConfig
from mujoco_ros.model.strict import from_dict
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state_log.fields import as_json
from mujoco_ros.sim.state_log.ring_buffer import RingBuffer

T = TypeVar("T")

# Of files that need not be there where a log is read; what they said is in the model.
_FILES = frozenset({"gains", "urdf"})

_MODEL = "model.mjb"
_LEVEL = 1  # a third of the size; more would take several times as long for little


def describe_rows(ring: RingBuffer, described: Sequence[RobotDescription]) -> dict[str, Any]:
    """Return what is told of the rows of a ring, ready for JSON."""
    return describe(ring.plant, described) | {
        "timestep": ring.timestep,
        "every": ring.every,
        "fields": as_json(ring.fields),
    }


def describe(plant: Plant, described: Sequence[RobotDescription]) -> dict[str, Any]:
    """Return what is told of a plant beside its model, ready for JSON."""
    model, config = plant.model, plant.assembly.config
    return {
        "scene": config.name,
        "mujoco": mujoco.__version__,
        "joints": {
            model.joint(j).name: [int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])]
            for j in range(model.njnt)
        },
        "actuators": [model.actuator(a).name for a in range(model.nu)],
        "sensors": {
            model.sensor(s).name: [int(model.sensor_adr[s]), int(model.sensor_dim[s])]
            for s in range(model.nsensor)
        },
        "references": list(plant.joints.names),
        "robots": [
            {name: value for name, value in _plain(robot).items() if name not in _FILES}
            | {
                "model": _MODEL,
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
            _plain(part.config) | {"model": _MODEL, "prefix": part.prefix}
            for part in plant.assembly.parts
            if isinstance(part.config, ObjectConfig)
        ],
        "cameras": [_plain(camera) for camera in config.cameras],
        "lidars": [_plain(lidar) for lidar in config.lidars],
        "merged": config.merged,
    }


def pack(model: mujoco.MjModel, told: dict[str, Any]) -> list[bytes]:
    """Return the content of the record a segment begins with."""
    text = json.dumps(told).encode()
    binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    return [len(text).to_bytes(8, "little"), text, zlib.compress(binary.data, _LEVEL)]


def unpack(content: memoryview) -> tuple[dict[str, Any], memoryview]:
    """Return what is told of a model, and the model as MJB, compressed."""
    end = 8 + int.from_bytes(content[:8], "little")
    told: dict[str, Any] = json.loads(bytes(content[8:end]))
    return told, content[end:]


def load_model(binary: memoryview, told: dict[str, Any]) -> mujoco.MjModel:
    """Return the model of a segment.

    Raises:
        ModelError: It was written by another MuJoCo.
    """
    try:
        return read_model(zlib.decompress(binary))
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(
            f"the model in the log was compiled by MuJoCo {told['mujoco']} and cannot be read by "
            f"{mujoco.__version__}: {' '.join(str(error).split())}"
        ) from error


def read_model(binary: bytes) -> mujoco.MjModel:
    """Return the model whose MJB this is.

    Raises:
        ValueError: It is none, or one of another MuJoCo.
    """
    return mujoco.MjModel.from_binary_path(_MODEL, {_MODEL: binary})


def assembly(told: dict[str, Any], model: mujoco.MjModel) -> Assembly:
    """Return the scene of a segment, around its model."""
    robots = tuple(from_dict(RobotConfig, _told(e), "robots of the log") for e in told["robots"])
    objects = tuple(
        from_dict(ObjectConfig, _told(e), "objects of the log") for e in told["objects"]
    )
    config = SceneConfig(
        name=told["scene"],
        robots=robots,
        objects=objects,
        cameras=_read(CameraConfig, told, "cameras"),
        lidars=_read(LidarConfig, told, "lidars"),
        merged=told["merged"],
    )
    configs: tuple[RobotConfig | ObjectConfig, ...] = (*robots, *objects)
    parts = tuple(
        Part(config=part, spec=None, prefix=entry["prefix"], urdf=entry.get("description"))
        for part, entry in zip(configs, (*told["robots"], *told["objects"]), strict=True)
    )
    return Assembly(config=config, model=model, base=None, parts=parts, compiler_log=())


def _read(cls: type[T], told: dict[str, Any], key: str) -> tuple[T, ...]:
    """Return what a log tells of cameras or lidars; the first logs told nothing of them."""
    return tuple(from_dict(cls, entry, f"{key} of the log") for entry in told.get(key, ()))


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what a log tells of a robot's or object's configuration."""
    return {name: value for name, value in entry.items() if name not in ("prefix", "description")}


def _plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as JSON has it, without what is None."""
    content = dataclasses.asdict(value)
    return {name: _jsonable(entry) for name, entry in content.items() if entry is not None}


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _jsonable(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, frozenset):
        return sorted(value)
    return str(value) if isinstance(value, Path) else value
