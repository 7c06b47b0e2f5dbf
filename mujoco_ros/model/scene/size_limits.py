"""Size limits of models: a few bytes of XML can request any amount of memory or time."""

import re

import mujoco

from mujoco_ros.model.errors import UserInputError

MAX_ENTRIES = 64_000_000
"""Cells of a height field or texels of a texture: 8000 x 8000."""
MAX_LINKS = 5000
"""Links of a URDF."""

_FIELD = re.compile(r"<\s*hfield\b([^>]*)")
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_DIGITS = 20
"""More digits than any permitted number has."""


def check_text(text: str, where: str) -> None:
    """Reject an MJCF, given without comments, with height fields too large to allocate."""
    for field in _FIELD.findall(text):
        given = {name: one or other for name, one, other in _ATTRIBUTE.findall(field)}
        rows, columns = (given.get(name, "").strip() for name in ("nrow", "ncol"))
        if rows.isdecimal() and columns.isdecimal():  # else the parser reports the error
            count = int(rows[:_DIGITS]) * int(columns[:_DIGITS])
            _check("cells of hfield", given.get("name", ""), count, where)


def check_spec(spec: mujoco.MjSpec, where: str) -> None:
    """Reject height fields and textures that are too large for the compiler."""
    for field in spec.hfields:
        _check("cells of hfield", field.name, field.nrow * field.ncol, where)
    for texture in spec.textures:
        flat = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
        height = texture.height if flat else 6 * texture.width  # the faces of a cube
        _check("texels of texture", texture.name, texture.width * height, where)


def _check(what: str, name: str, count: int, where: str) -> None:
    if count > MAX_ENTRIES:
        raise UserInputError(
            f"{where}: {count} {what} '{name}' are too many; at most {MAX_ENTRIES} are allowed"
        )
