"""Size limits of models: a few bytes of XML can request any amount of memory or time."""

from collections.abc import Iterable, Sized
from typing import Any

import mujoco

from mujoco_ros.model.errors import UserInputError

MAX_ENTRIES = 64_000_000
"""Cells of a height field or texels of a texture: 8000 x 8000."""
MAX_CHARACTERS = 1 << 24
"""Characters of the text of a model."""
MAX_ELEMENTS = 200_000
"""Elements of an MJCF with all that it includes, attaches and replicates."""
MAX_FILE_DEPTH = 32
"""Depth of files that include files or attach models of files."""
MAX_ARCHIVE_FILES = 10_000
"""Files of an archive."""
MAX_ARCHIVE_BYTES = 1 << 29
"""Size of the files of an archive."""
MAX_ARCHIVE_DIRECTORY_BYTES = 1 << 22
"""Size of the list of files of an archive, which is read before they are counted."""
MAX_LINKS = 5000
"""Links of a URDF."""
MAX_LINK_DEPTH = 1000
"""Links of a URDF in one chain; MuJoCo's compiler works recursively."""
MAX_NAME = 200
"""Characters of the name of an element, which becomes part of messages."""
MAX_ROBOTS = 100
"""Robots of a scene, each with its own topics and services."""
MAX_OBJECTS = 5000
"""Objects of a scene."""
MAX_MODEL_BYTES = 1 << 30
"""Size of a compiled model with meshes, height fields and textures [byte]. Several are in memory
during a change."""
MAX_ARENA_BYTES = 4 << 30
"""Memory of the engine for contacts and constraints [byte], which is used up only if they are
many."""
MAX_STATE = 1_000_000
"""Numbers of all sensors, or of user data, or of the samples of delays, which are copied in each
step."""
MAX_USER_VALUES = 1000
"""User values of one element."""
MAX_ITERATIONS = 10_000
"""Iterations of a solver in one step, which cannot be interrupted."""
_ITERATIONS = ("", "ls_", "noslip_", "ccd_", "sdf_")


def too_large(where: str, what: str, limit: int) -> UserInputError:
    """Return the error for something that exceeds a limit; `where` begins its message."""
    return UserInputError(f"{where}: too large: {what}, limit {limit}")


def check_characters(text: str, where: str) -> None:
    """Reject a text of a model that is too long."""
    if len(text) > MAX_CHARACTERS:
        raise too_large(where, f"{len(text)} characters", MAX_CHARACTERS)


def check_count(what: str, items: Sized, limit: int, where: str) -> None:
    """Reject more items than a limit."""
    if len(items) > limit:
        raise too_large(where, f"{len(items)} {what}", limit)


def check_spec(spec: mujoco.MjSpec, where: str) -> None:
    """Reject names, height fields, textures and user data that are too large."""
    for kind, elements in _named(spec):
        for element in elements:
            name = element.name
            if len(name) > MAX_NAME:
                what = f"the name '{name[:40]}…' of a {kind} has {len(name)} characters"
                raise too_large(where, what, MAX_NAME)
    for field in spec.hfields:
        _check_entries("cells of hfield", field.name, field.nrow * field.ncol, where)
    for texture in spec.textures:
        flat = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
        height = texture.height if flat else 6 * texture.width  # the faces of a cube
        _check_entries("texels of texture", texture.name, texture.width * height, where)
    for size in ("nkey", "nuserdata"):
        _check(size, getattr(spec, size), MAX_STATE, where)
    for size in (name for name in dir(spec) if name.startswith("nuser_")):
        _check(size, getattr(spec, size), MAX_USER_VALUES, where)
    _check("bytes of memory", spec.memory, MAX_ARENA_BYTES, where)


def check_model(model: mujoco.MjModel, where: str) -> None:
    """Reject a compiled model that needs too much memory, or too much time for a step."""
    for size, what, limit in (
        ("nbuffer", "bytes of the model", MAX_MODEL_BYTES),
        ("narena", "bytes of memory", MAX_ARENA_BYTES),
        ("nsensordata", "numbers of sensors", MAX_STATE),
        ("nuserdata", "nuserdata", MAX_STATE),
        ("nhistory", "numbers of delayed sensors and actuators", MAX_STATE),
    ):
        _check(what, getattr(model, size), limit, where)
    for kind in _ITERATIONS:
        name = f"{kind}iterations"
        _check(name, getattr(model.opt, name), MAX_ITERATIONS, where)
    for index in range(model.nhfield):
        field = model.hfield(index)
        _check_entries("cells of hfield", field.name, int(field.nrow[0] * field.ncol[0]), where)
    for index in range(model.ntex):
        texture = model.tex(index)
        texels = int(texture.width[0]) * int(texture.height[0])
        _check_entries("texels of texture", texture.name, texels, where)


def _check(what: str, value: int, limit: int, where: str) -> None:
    if value > limit:
        raise too_large(where, f"{value} {what}", limit)


def _named(spec: mujoco.MjSpec) -> Iterable[tuple[str, Iterable[Any]]]:
    """Return the elements with names by kind."""
    return (
        ("body", spec.bodies),
        ("frame", spec.frames),
        ("joint", spec.joints),
        ("geom", spec.geoms),
        ("site", spec.sites),
        ("camera", spec.cameras),
        ("light", spec.lights),
        ("actuator", spec.actuators),
        ("sensor", spec.sensors),
        ("tendon", spec.tendons),
        ("equality", spec.equalities),
        ("pair", spec.pairs),
        ("exclude", spec.excludes),
        ("keyframe", spec.keys),
        ("mesh", spec.meshes),
        ("hfield", spec.hfields),
        ("skin", spec.skins),
        ("flex", spec.flexes),
        ("texture", spec.textures),
        ("material", spec.materials),
        ("numeric", spec.numerics),
        ("text", spec.texts),
        ("tuple", spec.tuples),
    )


def _check_entries(what: str, name: str, count: int, where: str) -> None:
    if count > MAX_ENTRIES:
        raise too_large(where, f"{count} {what} '{name}'", MAX_ENTRIES)
