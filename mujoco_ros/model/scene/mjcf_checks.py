"""Checks of an MJCF while its text is read: the number of its elements, and its numbers."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mujoco_ros.model.errors import ParseError
from mujoco_ros.model.scene.limits import MAX_CELLS, MAX_COPIES, MAX_ELEMENTS, too_large

_NAMED = ("body", "frame", "worldbody")  # elements that a model can attach to itself
_WORLD = "world"  # name by which <attach> finds <worldbody>
_GRIDS = ("flexcomp", "composite")
_NOT_FINITE = re.compile(r"(?<![\w.])([+-]?)(nan|inf|infinity)(?![\w.])", re.IGNORECASE)
_TEXTS = ("name", "class", "childclass", "model", "prefix", "file", "dir", "value", "key")
"""Attributes that are texts."""
_NUMBERS = re.compile(r"[-+.\deE\s]*")
_DIGITS = 20  # more digits than any permitted number has

_Attributes = Mapping[str, str]


@dataclass(slots=True)
class Copies:
    """The elements of a model, and of all models that it names, that are made by <replicate>."""

    count: int = 0


@dataclass(slots=True)
class ElementCount:
    """The elements of one model so far, after replication and attachment."""

    copies: Copies
    size: int = 0
    size_of_models: int = 0  # elements of the models that it names, which MuJoCo keeps as well
    open: list[tuple[str, int]] = field(default_factory=list)  # names, and sizes before them
    _factors: list[int] = field(default_factory=lambda: [1])  # of replication, for open elements
    _models: dict[str, int] = field(default_factory=dict)  # sizes by name
    _parts: dict[str, int] = field(default_factory=dict)  # sizes of what it can attach to itself

    def begin(self, tag: str, attributes: _Attributes, where: str) -> None:
        """Count an element that begins; `where` begins the message if there are too many."""
        self._add(_entries(tag, attributes, where), where)
        if tag == "attach":
            self._add(self._attached(attributes), where)
        copies = _number(attributes, "count") if tag == "replicate" else 1
        self._factors.append(self._factors[-1] * max(copies, 1))
        name = attributes.get("name", "") if tag in _NAMED else ""
        self.open.append((_WORLD if tag == "worldbody" else name, self.size))

    def end(self, _tag: str = "") -> None:
        """End the innermost element."""
        self._factors.pop()
        name, before = self.open.pop()
        if name:
            self._parts[name] = self._parts.get(name, 0) + self.size - before

    def add_model(self, name: str, model: "ElementCount", where: str) -> None:
        """Count a model that this one names, and may attach."""
        self._models[name] = model.size
        self.size_of_models += model.size + model.size_of_models
        self._add(0, where)

    def _add(self, elements: int, where: str) -> None:
        self.size += self._factors[-1] * elements
        self.copies.count += (self._factors[-1] - 1) * elements
        if (total := self.size + self.size_of_models) > MAX_ELEMENTS.value:
            raise too_large(where, f"{total} elements", MAX_ELEMENTS)
        if self.copies.count > MAX_COPIES.value:
            raise too_large(where, f"{self.copies.count} elements copied by replicate", MAX_COPIES)

    def _attached(self, attributes: _Attributes) -> int:
        """Return the number of elements that an <attach> adds, or a larger one."""
        model = attributes.get("model", "")
        if model:  # a <model> without a name has the name in its file
            return self._models.get(model, max(self._models.values(), default=0))
        sizes = self._parts | {name: self.size - before for name, before in self.open if name}
        part = attributes.get("body") or attributes.get("frame", "")
        # The names of attached and replicated parts are not in the text.
        return sizes.get(part, max(sizes.values(), default=0))


def _entries(tag: str, attributes: _Attributes, where: str) -> int:
    """Return the number of elements that a tag stands for."""
    if tag == "hfield":
        cells = _number(attributes, "nrow") * _number(attributes, "ncol")
        if cells > MAX_CELLS.value:
            what = f"{cells} cells of hfield '{attributes.get('name', '')}'"
            raise too_large(where, what, MAX_CELLS)
    if tag not in _GRIDS:
        return 1
    return math.prod(max(number, 1) for number in _numbers(attributes.get("count", "")))


def may_be_special(text: str) -> bool:
    """Whether a text may contain NaN or infinity; faster than a regular expression."""
    lowered = text.lower()
    return "nan" in lowered or "inf" in lowered


def check_numbers(tag: str, attributes: _Attributes, where: str) -> None:
    """Reject NaN and infinite numbers: MuJoCo takes many of them for a value that is not given.

    Only the ends of a range may be infinite.
    """
    for name, value in attributes.items():
        if name in _TEXTS or not may_be_special(value):
            continue
        special = _NOT_FINITE.findall(value)
        if not special or not _NUMBERS.fullmatch(_NOT_FINITE.sub(" ", value)):
            continue  # a text
        if not name.endswith("range") or any(word.lower() == "nan" for _, word in special):
            element = f"<{tag}> '{attributes.get('name', '')}'".removesuffix(" ''")
            raise ParseError(
                f"{where}: {name} of {element} has a number that is not finite: '{value}'"
            )


def _number(attributes: _Attributes, name: str) -> int:
    values = list(_numbers(attributes.get(name, "")))
    return values[0] if len(values) == 1 else 0


def _numbers(text: str) -> Iterator[int]:
    """Yield the positive integers of an attribute; the parser reports the others."""
    for word in text.split():
        digits = word.removeprefix("+")
        if digits.isdecimal():
            yield int(digits[:_DIGITS])
