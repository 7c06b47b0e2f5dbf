"""Reading the XML of a URDF, without external entities, and which elements are used."""

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import LARGEST_TEXT, read_file

Vector = tuple[float, ...]
XACRO_SUFFIX = ".xacro"
_XACRO = re.compile(rb"<xacro:|\$[({]")
_LATE_DECLARATION = re.compile(rb"\s+<\?xml\b[^>]*\?>")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


def is_xacro(path: Path) -> bool:
    """Whether a URDF or SRDF file is to be expanded: by its suffix, or else by its content."""
    if path.suffix.lower() not in (".urdf", ".srdf") or not path.is_file():
        return path.suffix.lower() == XACRO_SUFFIX
    content = read_file(path, "model file", largest=LARGEST_TEXT)
    return _XACRO.search(_COMMENT.sub(b"", content)) is not None


class _NoDoctype(ET.TreeBuilder):
    """Rejects document type declarations, which define external and exponential entities."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise UserInputError("a URDF with a DOCTYPE is not accepted; remove the declaration")


def parse_robot(path: Path, text: str | None = None) -> ET.Element:
    """Return the ``<robot>`` element of a URDF file, or of `text` in its place."""
    content = read_file(path, largest=LARGEST_TEXT) if text is None else text.encode()
    if late := _LATE_DECLARATION.match(content):  # which other parsers of URDF accept
        content = b"\n" * late.group().count(b"\n") + content[late.end() :]
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
            f"{path}: contains xacro elements, which are expanded only if the simulator starts "
            "with this file; expand it with the program 'xacro'"
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


def scale(mesh: ET.Element, where: str) -> Vector:
    """Read the scale of a mesh in x, y and z, for all of which one number may stand."""
    is_uniform = len(mesh.get("scale", "").split()) == 1
    found = numbers(mesh, "scale", 1 if is_uniform else 3, where, (1.0, 1.0, 1.0))
    if 0 in found:
        raise UserInputError(f"{where}: a mesh scale must not be zero")
    return found * 3 if is_uniform else found


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


def attribute(element: ET.Element, key: str, where: str) -> str:
    """Return an attribute of an element; an error if it is missing or empty."""
    value = element.get(key, "").strip()
    if not value:
        raise UserInputError(f"{where}: <{element.tag}> lacks the attribute '{key}'")
    return value


LARGEST = 1e9
"""Largest absolute value of a number that is used."""
_NAMED = ("name", "type", "filename")
"""Attributes that distinguish elements of the same tag, if `_BY_ATTRIBUTE` has the tag."""
_BY_ATTRIBUTE = ("param", "plugin", "sensor", "command_interface", "state_interface")


class Usage:
    """Records which elements of a URDF are used; lookups through it record what they find.

    Numbers that cannot be read are left unrecorded, and their default is used: descriptions of
    hardware are written for other programs, which do not read all of them either.
    """

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._reasons: dict[int, str] = {}

    def use(self, element: ET.Element) -> None:
        """Record that an element is used; its children are not."""
        self._used.add(id(element))

    def use_all(self, element: ET.Element) -> None:
        """Record that an element and everything in it is used, or concerns other programs only."""
        self._used.update(id(each) for each in element.iter())

    def reject(self, element: ET.Element, reason: str) -> None:
        """Record that an element and everything in it is not used, and why."""
        self._used.difference_update(id(each) for each in element.iter())
        self._reasons[id(element)] = reason

    def text(self, parent: ET.Element, path: str) -> str:
        """Return the text of a child element, without surrounding space; empty without one."""
        element = parent.find(path)
        if element is None:
            return ""
        self.use(element)
        return (element.text or "").strip()

    def value(self, parent: ET.Element, path: str) -> float | None:
        """Return the number in a child element, which is its text or its attribute ``value``."""
        values = self.values(parent, path, 1)
        return values[0] if values else None

    def value_or(self, parent: ET.Element, path: str, default: float) -> float:
        """Return the number in a child element, or else a default."""
        value = self.value(parent, path)
        return default if value is None else value

    def values(self, parent: ET.Element, path: str, count: int) -> tuple[float, ...] | None:
        """Return `count` plausible numbers in a child element; None without, or if it is wrong."""
        element = parent.find(path)
        if element is None:
            return None
        try:
            found = tuple(map(float, (element.text or element.get("value") or "").split()))
        except ValueError:
            return None
        if len(found) != count or not all(map(is_plausible, found)):
            return None
        self.use(element)
        return found

    def parameter(self, parent: ET.Element, name: str) -> str:
        """Return the text of ``<param name="…">``, as ros2_control has it; empty without one."""
        return self.text(parent, f"param[@name='{name}']")

    def unused(self, roots: Iterable[ET.Element]) -> Counter[str]:
        """Return how often each kind of element is not used.

        An element without any used part counts once, with all its children.
        """
        counts: Counter[str] = Counter()
        for root in roots:
            self._count(root, "", counts)
        return counts

    def _count(self, element: ET.Element, above: str, counts: Counter[str]) -> None:
        label = above + _label(element)
        if not any(id(each) in self._used for each in element.iter()):
            reason = self._reasons.get(id(element))
            counts[f"{label}: {reason}" if reason else label] += 1
            return
        for child in element:
            self._count(child, f"{above}{_tag(element)}/", counts)


def is_plausible(number: float) -> bool:
    """Return whether a number is finite and not huge."""
    return abs(number) <= LARGEST


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _label(element: ET.Element) -> str:
    tag = _tag(element)
    if tag not in _BY_ATTRIBUTE:
        return tag
    names = [element.get(key, "") for key in _NAMED]
    return " ".join([tag, *(name for name in names if name)])
