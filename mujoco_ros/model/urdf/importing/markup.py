"""Reading the XML of a URDF, without external entities."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import LARGEST_TEXT, read_file

Vector = tuple[float, ...]


class _NoDoctype(ET.TreeBuilder):
    """Rejects document type declarations, which define external and exponential entities."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise UserInputError("a URDF with a DOCTYPE is not accepted; remove the declaration")


def parse_robot(path: Path, text: str | None = None) -> ET.Element:
    """Return the ``<robot>`` element of a URDF file, or of `text` in its place."""
    content = read_file(path, largest=LARGEST_TEXT) if text is None else text.encode()
    try:
        robot = ET.fromstring(content, parser=ET.XMLParser(target=_NoDoctype()))
    except ET.ParseError as error:
        raise UserInputError(f"{path}: not well-formed XML: {error}") from error
    except UserInputError as error:
        raise UserInputError(f"{path}: {error}") from error
    if any(
        "xacro" in element.tag.partition("}")[0] for element in robot.iter() if "}" in element.tag
    ):
        raise UserInputError(
            f"{path}: contains xacro elements; give it the suffix .xacro, so that it is expanded"
        )
    if robot.tag != "robot":
        raise UserInputError(
            f"{path}: the top element is <{robot.tag}>; a URDF starts with <robot>"
        )
    return robot


def numbers(
    parent: ET.Element | None,
    attribute: str,
    count: int,
    where: str,
    default: Vector | None = None,
) -> Vector:
    """Read `count` finite numbers; without a `default` the attribute is required."""
    text = None if parent is None else parent.get(attribute)
    tag = "" if parent is None else parent.tag
    if text is None:
        if default is None:
            raise UserInputError(f"{where}: <{tag}> lacks the attribute '{attribute}'")
        return default
    try:
        values = tuple(float(word) for word in text.split())
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        expected = "a number" if count == 1 else f"{count} numbers"
        raise UserInputError(f'{where}: <{tag} {attribute}="{text}">: expected {expected}')
    return values


def number(
    parent: ET.Element | None, attribute: str, where: str, default: float | None = None
) -> float:
    """Read one finite number; without a `default` the attribute is required."""
    fallback = None if default is None else (default,)
    return numbers(parent, attribute, 1, where, fallback)[0]


def required(parent: ET.Element, tag: str, where: str) -> ET.Element:
    """Return the child element of a tag; an error if there is none."""
    element = parent.find(tag)
    if element is None:
        raise UserInputError(f"{where}: <{tag}> is missing")
    return element


def name_of(element: ET.Element, where: str) -> str:
    """Return the name of an element; an error if there is none."""
    name = element.get("name", "").strip()
    if not name:
        raise UserInputError(f"{where}: a <{element.tag}> has no name")
    return name
