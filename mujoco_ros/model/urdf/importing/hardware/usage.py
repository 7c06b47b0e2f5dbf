"""Bookkeeping of the elements that are read, so that all others can be named."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable

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

        An element of which nothing is used stands for all its children.
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
