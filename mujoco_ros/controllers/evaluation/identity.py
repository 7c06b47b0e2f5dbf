"""What two parts of an evaluation must have in common."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.strict import read_text

Identity = Mapping[str, str]
"""Trial, seed, scene and versions, each as a short text."""
_PATHS = re.compile(r"paths|npaths|nbuffer|\w+_pathadr")
"""Fields of a model that the paths of its files determine."""


def identity_of(trial: Trial, seed: int, assembly: Assembly) -> Identity:
    """Return what all parts of an evaluation have in common; `assembly` is that of its scene."""
    return {"trial": repr(trial), "seed": str(seed), "scene": scene_hash(assembly), **versions()}


def scene_hash(assembly: Assembly) -> str:
    """Return a hash of a scene: its compiled model, and the settings that are not in that.

    Paths of files have no effect: machines differ.

    Raises:
        UserInputError: A profile of hardware, or a file of gains, is missing or invalid.
    """
    content, config = sha256(), assembly.config
    for part in _content(assembly.model):
        content.update(part)
    for robot in config.robots:
        for uri in (robot.gains, robot.srdf):
            content.update(read_text(config.path(uri)).encode() if uri else b"")
        entries = [] if robot.realism is None else robot.realism.entries()
        settings = replace(robot, model="", gains=None, urdf=None, srdf=None, realism=None)
        content.update(repr((settings, entries)).encode())
    content.update(repr((config.cameras, config.lidars, config.extensions)).encode())
    return content.hexdigest()[:16]


def _content(structure: object) -> Iterator[bytes]:
    """Yield names and values of the fields of a structure of MuJoCo that do not concern paths.

    Raises:
        TypeError: A field has a type that this function does not know.
    """
    for name in dir(structure):
        if name.startswith("_") or _PATHS.fullmatch(name):
            continue
        value = getattr(structure, name)
        if isinstance(value, bytes | int | float | np.ndarray):
            yield name.encode()
            yield value if isinstance(value, bytes) else np.asarray(value).tobytes()
        elif type(value).__module__.partition(".")[0] == "mujoco":
            yield from _content(value)
        elif not callable(value):
            raise TypeError(f"field '{name}' of a model is a {type(value).__name__}")


@cache
def versions() -> Identity:
    """Return the version of MuJoCo, and a hash of code, tables and policies of this package."""
    package = Path(__file__).resolve().parents[2]
    code = sha256()
    for file in sorted(it for it in package.rglob("*") if it.suffix in (".py", ".yaml", ".onnx")):
        code.update(file.read_bytes())
    return {"mujoco": mujoco.__version__, "code": code.hexdigest()[:16]}
