"""How large a model may be: a few bytes of XML can ask for more memory or time than there is."""

import re

import mujoco

from mujoco_ros.model.errors import UserInputError

MOST_ENTRIES = 64_000_000
"""Cells of a height field, or texels of a texture: 8000 times 8000."""
MOST_LINKS = 5000
"""Links of a URDF."""

_FIELD = re.compile(r"<\s*hfield\b([^>]*)")
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_DIGITS = 20
"""More than any number that is not too large has."""


def check_text(text: str, where: str) -> None:
    """Refuse height fields that are too large for the parser, which makes room for them at once.

    Args:
        text: An MJCF without comments.
        where: What it is, put in front of the message.

    Raises:
        ModelError: One is.
    """
    for field in _FIELD.findall(text):
        given = {name: one or other for name, one, other in _ATTRIBUTE.findall(field)}
        rows, columns = (given.get(name, "").strip() for name in ("nrow", "ncol"))
        if rows.isdecimal() and columns.isdecimal():  # else the parser says what is wrong
            count = int(rows[:_DIGITS]) * int(columns[:_DIGITS])
            _check("cells of hfield", given.get("name", ""), count, where)


def check_spec(spec: mujoco.MjSpec, where: str) -> None:
    """Refuse height fields and textures that are too large for the compiler to fill.

    Files that they name are not opened.

    Raises:
        ModelError: One is.
    """
    for field in spec.hfields:
        _check("cells of hfield", field.name, field.nrow * field.ncol, where)
    for texture in spec.textures:
        flat = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
        height = texture.height if flat else 6 * texture.width  # the faces of a cube
        _check("texels of texture", texture.name, texture.width * height, where)


def _check(what: str, name: str, count: int, where: str) -> None:
    if count > MOST_ENTRIES:
        raise UserInputError(
            f"{where}: the {count} {what} '{name}' are too many; {MOST_ENTRIES} are the most"
        )
