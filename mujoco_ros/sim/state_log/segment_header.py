"""Header of a segment: the model, and a description of the scene and its rows."""

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
from mujoco_ros.model.scene.engine_plugins import check_plugins_registered, used_plugins
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.model.sensors.cameras import CameraConfig
from mujoco_ros.model.sensors.lidars import LidarConfig
from mujoco_ros.model.strict import from_dict
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state_log.fields import to_json
from mujoco_ros.sim.state_log.ring_buffer import RingBuffer

T = TypeVar("T")

_FILES = frozenset({"gains", "urdf"})
"""Keys of files that a reader may not have; their contents are in the model."""

_PART_KEYS = frozenset({"prefix", "description"})
"""Keys of a robot or object that are not part of its configuration."""
_MODEL = "model.mjb"
_LEVEL = 1  # a third of the size; higher levels take several times as long for little gain


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
        "actuators": [model.actuator(a).name for a in range(model.nu)],
        "sensors": {
            model.sensor(s).name: [int(model.sensor_adr[s]), int(model.sensor_dim[s])]
            for s in range(model.nsensor)
        },
        "references": list(plant.joints.names),
        "robots": [
            {name: value for name, value in _plain(_measured(robot)).items() if name not in _FILES}
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


def pack(model: mujoco.MjModel, header: dict[str, Any]) -> list[bytes]:
    """Return the content of a segment record."""
    text = json.dumps(header).encode()
    binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    return [len(text).to_bytes(8, "little"), text, zlib.compress(binary.data, _LEVEL)]


def unpack(content: memoryview) -> tuple[dict[str, Any], memoryview]:
    """Return the header and the compressed model of a segment record."""
    end = 8 + int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(bytes(content[8:end]))
    return header, content[end:]


def load_model(binary: memoryview, header: dict[str, Any]) -> mujoco.MjModel:
    """Return the model of a segment.

    Raises:
        UserInputError: Another version of MuJoCo wrote it, or it needs engine plugins that are not
            loaded.
    """
    check_plugins_registered(header.get("plugins", {}), "the model in the log")
    try:
        return read_model(zlib.decompress(binary))
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(
            f"the model in the log was compiled by MuJoCo {header['mujoco']} and cannot be read by "
            f"{mujoco.__version__}: {' '.join(str(error).split())}"
        ) from error


def read_model(binary: bytes) -> mujoco.MjModel:
    """Return the model of an MJB file.

    Raises:
        ValueError: It is not one of this version of MuJoCo.
    """
    return mujoco.MjModel.from_binary_path(_MODEL, {_MODEL: binary})


def assembly(header: dict[str, Any], model: mujoco.MjModel) -> Assembly:
    """Return the scene of a segment with its model."""
    robots = _configs(RobotConfig, header, "robots")
    objects = _configs(ObjectConfig, header, "objects")
    config = SceneConfig(
        name=header["scene"],
        robots=robots,
        objects=objects,
        cameras=_configs(CameraConfig, header, "cameras"),
        lidars=_configs(LidarConfig, header, "lidars"),
        merged=header["merged"],
    )
    configs: tuple[RobotConfig | ObjectConfig, ...] = (*robots, *objects)
    parts = tuple(
        Part(config=part, spec=None, prefix=entry["prefix"], urdf=entry.get("description"))
        for part, entry in zip(configs, (*header["robots"], *header["objects"]), strict=True)
    )
    return Assembly(config=config, model=model, base=None, parts=parts, compiler_log=())


def _configs(cls: type[T], header: dict[str, Any], key: str) -> tuple[T, ...]:
    """Return the configurations of a list; the first logs lack cameras and lidars."""
    return tuple(
        from_dict(cls, {k: v for k, v in entry.items() if k not in _PART_KEYS}, f"{key} of the log")
        for entry in header.get(key, ())
    )


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
