"""Header of a segment: the model, and a description of the scene and its rows."""

import dataclasses
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig, SceneConfig
from mujoco_ros.model.scene.engine_plugins import check_plugin_slots, check_plugins_registered
from mujoco_ros.model.scene.mjcf_files import silence_compiler
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.sensors.cameras import CameraConfig
from mujoco_ros.model.sensors.lidars import LidarConfig
from mujoco_ros.model.strict import from_dict
from mujoco_ros.sim.state.state_vector import Field, state_fields

T = TypeVar("T")

_NEEDED = {
    "time": 0,
    **dict.fromkeys(("qpos", "qvel", "ctrl", "sensordata", "qacc", "qfrc_actuator"), 1),
    "references": 2,
}
"""Fields that the rows of all versions have, and their number of dimensions."""

MAX_MODEL_BYTES = 1 << 31
_LARGEST_ROW = 1 << 28  # most numbers of a row
_MOST_STEPS = 1 << 31  # most steps per row
MODEL = "model.mjb"
_LEVEL = 1  # a third of the size; higher levels take several times as long for little gain


@dataclass(frozen=True, kw_only=True)
class _PartKeys:
    """Keys of a robot or object that are not part of its configuration."""

    prefix: str
    description: str | None = None


_PART_KEYS = frozenset(field.name for field in dataclasses.fields(_PartKeys))


@dataclass(frozen=True, kw_only=True)
class SegmentHeader:
    """The description of a scene and its rows."""

    scene: str  # name of the scene
    mujoco: str  # version of MuJoCo that wrote the model
    timestep: float  # timestep of the physics [s]
    every: int  # steps per row
    fields: tuple[Field, ...]  # the fields of a row
    joints: dict[str, tuple[int, int]]  # first address of each joint in `qpos` and in `qvel`
    actuators: tuple[str, ...]  # the names of the controls
    sensors: dict[str, tuple[int, int]]  # first address and size of each sensor in `sensordata`
    references: tuple[str, ...]  # the names of the joints with references
    robots: tuple[dict[str, Any], ...]  # the configurations of the robots
    merged: bool  # whether the names of the model have the prefixes of the robots
    objects: tuple[dict[str, Any], ...] = ()  # the configurations of the objects
    cameras: tuple[dict[str, Any], ...] = ()  # the configurations of the cameras
    lidars: tuple[dict[str, Any], ...] = ()  # the configurations of the lidars
    # Slots of the engine plugins by name
    plugins: dict[str, int] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        if not (self.timestep > 0.0 and 0 < self.every <= _MOST_STEPS):
            raise UserInputError(f"timestep {self.timestep:g} s, every {self.every} steps")
        shapes = {field.name: field.shape for field in self.fields}
        if len(shapes) < len(self.fields):
            raise UserInputError("two fields have the same name")
        for name, dimensions in _NEEDED.items():
            if len(shapes.get(name, ("",) * 9)) != dimensions:
                raise UserInputError(f"there is no field '{name}' with {dimensions} dimensions")
        for name, shape in shapes.items():
            if min(shape, default=0) < 0 or math.prod(shape) > _LARGEST_ROW:
                raise UserInputError(f"the field '{name}' has the shape {list(shape)}")
        ends = {
            "qpos": [(q, 1) for q, _ in self.joints.values()],
            "qvel": [(v, 1) for _, v in self.joints.values()],
            "sensordata": list(self.sensors.values()),
            "ctrl": [(0, len(self.actuators))],
        }
        for name, places in ends.items():
            if any(min(place) < 0 or sum(place) > shapes[name][0] for place in places):
                raise UserInputError(f"the field '{name}' is too short for what it has by name")
        if shapes["references"] != (3, len(self.references)):
            raise UserInputError("the field 'references' has not the joints of the references")


def pack(model: mujoco.MjModel, header: dict[str, Any]) -> list[bytes]:
    """Return the content of a segment record."""
    text = json.dumps(header).encode()
    binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    return [len(text).to_bytes(8, "little"), text, zlib.compress(binary.data, _LEVEL)]


def unpack(content: memoryview, where: str) -> tuple[SegmentHeader, memoryview]:
    """Return the header and the compressed model of a segment record; errors begin with `where`."""
    end = 8 + int.from_bytes(content[:8], "little")
    if end > len(content):
        raise UserInputError(f"{where} is longer than its record")
    try:
        text = json.loads(bytes(content[8:end]))
    except (ValueError, RecursionError) as error:
        raise UserInputError(f"{where} is not JSON") from error
    known = [field.name for field in dataclasses.fields(SegmentHeader)]
    if isinstance(text, dict):  # a later version may have more keys
        text = {name: text[name] for name in known if name in text}
    return from_dict(SegmentHeader, text, where), content[end:]


def load_model(binary: memoryview, header: SegmentHeader, where: str) -> mujoco.MjModel:
    """Return the model of a segment; errors begin with `where`, as "the model in the log".

    It may be of another MuJoCo, need other plugins, be too large, or not the model of the rows.
    """
    check_plugins_registered(header.plugins, where)
    decompressor = zlib.decompressobj()
    try:
        content = decompressor.decompress(binary, MAX_MODEL_BYTES)
        if decompressor.unconsumed_tail:
            raise UserInputError(f"{where} has more than {MAX_MODEL_BYTES} bytes")
        model = read_model(content)
    except (ValueError, zlib.error, mujoco.FatalError) as error:
        raise UserInputError(
            f"{where} was compiled by MuJoCo {header.mujoco} and cannot be read by "
            f"{mujoco.__version__}, or it is damaged: {' '.join(str(error).split())}"
        ) from error
    check_plugin_slots(model, where)
    _check_rows(header, model, where)
    return model


def _check_rows(header: SegmentHeader, model: mujoco.MjModel, where: str) -> None:
    expected = {field.name: field.shape for field in state_fields(model, mujoco.MjData(model))}
    expected |= {"sensordata": (model.nsensordata,), "qacc": (model.nv,)}
    expected |= {"qfrc_actuator": (model.nv,)}
    for field in header.fields:
        if field.shape != expected.get(field.name, field.shape):
            raise UserInputError(
                f"{where} has the field '{field.name}' of shape {list(expected[field.name])}, "
                f"but the rows have {list(field.shape)}"
            )


def read_model(binary: bytes) -> mujoco.MjModel:
    """Return the model of an MJB file; another version of MuJoCo is a `ValueError`."""
    with silence_compiler():
        return mujoco.MjModel.from_binary_path(MODEL, {MODEL: binary})


def assembly(header: Mapping[str, Any], model: mujoco.MjModel, where: str = "log") -> Assembly:
    """Return the scene of a description with its model; errors begin with `where`."""
    parts: list[ScenePart] = []
    kinds: dict[str, type[RobotConfig | ObjectConfig]]
    kinds = {"robots": RobotConfig, "objects": ObjectConfig}
    for key, kind in kinds.items():
        for entry in header.get(key, ()):
            own = {name: value for name, value in entry.items() if name in _PART_KEYS}
            keys = from_dict(_PartKeys, own, f"{where}: {key}")
            own_config = _config(kind, entry, f"{where}: {key}")
            parts.append(
                ScenePart(config=own_config, spec=None, prefix=keys.prefix, urdf=keys.description)
            )
    configs = [part.config for part in parts]
    config = SceneConfig(
        name=header["scene"],
        robots=tuple(config for config in configs if isinstance(config, RobotConfig)),
        objects=tuple(config for config in configs if isinstance(config, ObjectConfig)),
        # The first logs lack cameras and lidars.
        cameras=tuple(
            _config(CameraConfig, entry, f"{where}: cameras") for entry in header.get("cameras", ())
        ),
        lidars=tuple(
            _config(LidarConfig, entry, f"{where}: lidars") for entry in header.get("lidars", ())
        ),
        merged=header["merged"],
    )
    return Assembly(config=config, model=model, base=None, parts=tuple(parts), compiler_log=())


def _config(cls: type[T], entry: Mapping[str, Any], where: str) -> T:
    return from_dict(cls, {k: v for k, v in entry.items() if k not in _PART_KEYS}, where)
