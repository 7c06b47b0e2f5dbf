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
    """Reject names, height fields and textures that are too large."""
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


def _named(spec: mujoco.MjSpec) -> Iterable[tuple[str, Iterable[Any]]]:
    """Return the elements whose names are part of the ROS interface, by kind."""
    return (
        ("body", spec.bodies),
        ("joint", spec.joints),
        ("geom", spec.geoms),
        ("site", spec.sites),
        ("camera", spec.cameras),
        ("actuator", spec.actuators),
        ("sensor", spec.sensors),
        ("tendon", spec.tendons),
        ("equality", spec.equalities),
        ("keyframe", spec.keys),
    )


def _check_entries(what: str, name: str, count: int, where: str) -> None:
    if count > MAX_ENTRIES:
        raise too_large(where, f"{count} {what} '{name}'", MAX_ENTRIES)
