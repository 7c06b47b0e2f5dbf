"""The files that an MJCF consists of, and the size of the model that they describe."""

import html
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mujoco_ros.model.archives import model_on_disk, on_disk
from mujoco_ros.model.errors import MissingAssetError, MissingFileError, ParseError
from mujoco_ros.model.file_access import LARGEST_TEXT, read_file
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.scene.limits import (
    MAX_CELLS,
    MAX_COPIES,
    MAX_ELEMENTS,
    MAX_FILE_DEPTH,
    check_characters,
    too_large,
)
from mujoco_ros.model.uri import resolve

_TAG = re.compile(
    r"<\s*(?P<slash>/?)\s*(?P<name>[A-Za-z_][\w:.-]*)"
    r"""(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*)>"""
)
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NOT_CONTENT = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))


class Tag(NamedTuple):
    """A tag of an element.

    Attributes:
        ends: Whether an element ends; both are true for an empty one.
        text: Its attributes as in the text.
    """

    name: str
    begins: bool
    ends: bool
    text: str

    @property
    def attributes(self) -> Mapping[str, str]:
        """The values of the attributes by name."""
        found = _ATTRIBUTE.findall(self.text)
        return {name: html.unescape(one or other) for name, one, other in found}


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags of a text up to the first error, which the parser of the text reports."""
    position = text.find("<")
    while position >= 0:
        for begin, end in _NOT_CONTENT:
            if text.startswith(begin, position):
                closed = text.find(end, position + len(begin))
                if closed < 0:
                    return
                position = closed + len(end)
                break
        else:
            found = _TAG.match(text, position)
            if found is None:
                return
            position = found.end()
            attributes, ends = found["attributes"], bool(found["slash"])
            empty = attributes.rstrip().endswith("/")
            yield Tag(found["name"], begins=not ends, ends=ends or empty, text=attributes)
        position = text.find("<", position)


_NAMED = ("body", "frame", "worldbody")
"""Elements that a model can attach to itself."""
_WORLD = "world"
"""Name by which <attach> finds <worldbody>."""
_GRIDS = ("flexcomp", "composite")
_NOT_FINITE = re.compile(r"(?<![\w.])([+-]?)(nan|inf|infinity)(?![\w.])", re.IGNORECASE)
_TEXTS = ("name", "class", "childclass", "model", "prefix", "file", "dir", "value", "key")
"""Attributes that are texts."""
_NUMBERS = re.compile(r"[-+.\deE\s]*")
_DIGITS = 20
"""More digits than any permitted number has."""


def check_text(text: str, where: str) -> None:
    """Reject the text of an MJCF that is too large, or that attaches a model to itself.

    Raises:
        ParseError: It includes a file.
        MissingAssetError: It attaches a model by a relative path.
        UserInputError: It is too large, or a file contains itself.
    """
    _Document(_Walk(), None).add(text, where, ())


def check_files(path: Path, packages: Mapping[str, Path] | None = None) -> None:
    """Reject an MJCF file that is too large, or contains itself, with the files it consists of.

    A file contains the files that it includes, and the models that it may attach. MuJoCo reads them
    recursively, and ends the process if there is no end. Files that do not exist are left to
    MuJoCo.

    Args:
        packages: Folders of packages by name, for URIs.

    Raises:
        UserInputError: It is too large, a file contains itself, or a URI or archive is invalid.
    """
    _Walk(packages).size(Path(os.path.realpath(path)), ())


class _Walk:
    """Reads each model once; `packages` are folders of packages by name."""

    def __init__(self, packages: Mapping[str, Path] | None = None) -> None:
        self.packages = packages
        self.copies = 0  # of all models, made by <replicate>
        self._sizes: dict[Path, tuple[int, int]] = {}

    def size(self, path: Path, above: tuple[Path, ...]) -> tuple[int, int]:
        """Return the numbers of elements of a model, and of the models that it names and they name.

        Args:
            above: The files that contain it, outermost first.
        """
        above = _below(path, above)
        if path not in self._sizes:
            document = _Document(self, path.parent)
            document.add(_text(path), str(path), above)
            self._sizes[path] = document.size, document.size_of_models
        return self._sizes[path]


def _below(path: Path, above: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the files down to a path that those `above` contain."""
    if path in above:
        cycle = " → ".join(each.name for each in (*above[above.index(path) :], path))
        raise ParseError(f"'{path}' contains itself: {cycle}")
    if len(above) >= MAX_FILE_DEPTH:
        raise too_large(str(path), f"files in files, {len(above) + 1} deep", MAX_FILE_DEPTH)
    return (*above, path)


class _Document:
    """The elements of one model, with the files that it includes, as they are counted.

    Attributes:
        size: Number of elements so far, after replication and attachment.
        size_of_models: Number of elements of the models that it names, which MuJoCo keeps as well.
    """

    def __init__(self, walk: _Walk, folder: Path | None) -> None:
        self.size = self.size_of_models = 0
        self._walk, self._folder = walk, folder
        self._factors = [1]  # of replication, for each open element
        self._open: list[tuple[str, int]] = []  # name, and size before it, of each open element
        self._attachable: dict[str, int] = {}
        self._models: dict[str, int] = {}
        self._included: set[Path] = set()

    def add(self, text: str, where: str, above: tuple[Path, ...]) -> None:
        """Count the elements of a text; `above` are the files that contain it, the last its own."""
        check_characters(text, where)
        depth = len(self._open)
        has_special = _may_be_special(text)
        for tag in tags(text):
            if tag.begins:
                if has_special:
                    _check_numbers(tag, where)
                self._count(_entries(tag, where), where)
                self._add_files(tag, where, above)
                if tag.name == "attach":
                    self._count(self._attached(tag), where)
            if tag.begins and not tag.ends:
                self._begin(tag)
            elif tag.ends and not tag.begins and len(self._open) > depth:
                self._end()
        while len(self._open) > depth:
            self._end()

    def _count(self, elements: int, where: str) -> None:
        self.size += self._factors[-1] * elements
        self._walk.copies += (self._factors[-1] - 1) * elements
        self._check(where)

    def _check(self, where: str) -> None:
        if (total := self.size + self.size_of_models) > MAX_ELEMENTS.value:
            raise too_large(where, f"{total} elements", MAX_ELEMENTS)
        if self._walk.copies > MAX_COPIES.value:
            raise too_large(where, f"{self._walk.copies} elements copied by replicate", MAX_COPIES)

    def _begin(self, tag: Tag) -> None:
        copies = _number(tag.attributes, "count") if tag.name == "replicate" else 1
        self._factors.append(self._factors[-1] * max(copies, 1))
        name = ""
        if tag.name in _NAMED:
            name = _WORLD if tag.name == "worldbody" else tag.attributes.get("name", "")
        self._open.append((name, self.size))

    def _end(self) -> None:
        self._factors.pop()
        name, before = self._open.pop()
        if name:
            self._attachable[name] = self._attachable.get(name, 0) + self.size - before

    def _attached(self, tag: Tag) -> int:
        """Return the number of elements that an <attach> adds, or a larger one."""
        model = tag.attributes.get("model", "")
        if model:  # a <model> without a name has the name in its file
            return self._models.get(model, max(self._models.values(), default=0))
        sizes = dict(self._attachable)
        sizes.update((name, self.size - before) for name, before in self._open if name)
        part = tag.attributes.get("body") or tag.attributes.get("frame", "")
        # The names of attached and replicated parts are not in the text.
        return sizes.get(part, max(sizes.values(), default=0))

    def _add_files(self, tag: Tag, where: str, above: tuple[Path, ...]) -> None:
        """Count the file of an <include> or a <model>."""
        file = tag.attributes.get("file", "") if tag.name in ("include", "model") else ""
        if not file:
            return
        if tag.name == "include":
            if self._folder is None:
                raise ParseError(f"{where} includes a file; only a model file can include files")
            folders = [self._folder, above[-1].parent]
            found = _find(file, on_disk, folders, self._walk.packages)
            if found is not None:
                below = _below(found, above)
                if found not in self._included:  # MuJoCo rejects a second one
                    self._included.add(found)
                    self.add(_text(found), str(found), below)
            return
        if self._folder is None and not (os.path.isabs(file) or "://" in file):
            raise MissingAssetError(
                f"{where}: model '{file}' is a relative path, but a model given as text "
                "has no folder; give the absolute path"
            )
        folders = [above[-1].parent if above else Path("/")]
        found = _find(file, model_on_disk, folders, self._walk.packages)
        if found is not None:
            size, size_of_models = self._walk.size(found, above)
            self._models[tag.attributes.get("name", "")] = size
            self.size_of_models += size + size_of_models
            self._check(where)


def _find(
    file: str,
    stands_for: Callable[[Path], Path],
    folders: Sequence[Path],
    packages: Mapping[str, Path] | None,
) -> Path | None:
    """Return the file of a reference, in the first folder that has it; None if none has.

    MuJoCo finds an included file in the folder of the model, or else of the file that includes it;
    and a model in the folder of the file that names it.

    Args:
        file: The path or URI.
        stands_for: Returns the file that a path stands for, which can lead through an archive.
    """
    if "://" in file:
        candidates = [resolve(file, folders[-1], packages)]
    else:
        candidates = [stands_for(Path(os.path.normpath(folder / file))) for folder in folders]
    return next((Path(os.path.realpath(path)) for path in candidates if os.path.isfile(path)), None)


def _text(path: Path) -> str:
    note_file(path)
    try:
        return read_file(path, "model file", largest=LARGEST_TEXT).decode(errors="replace")
    except MissingFileError:  # `mjcf_files` reports it, or MuJoCo
        return ""


def _entries(tag: Tag, where: str) -> int:
    """Return the number of elements that a tag stands for."""
    if tag.name == "hfield":
        field = tag.attributes
        cells = _number(field, "nrow") * _number(field, "ncol")
        if cells > MAX_CELLS.value:
            what = f"{cells} cells of hfield '{field.get('name', '')}'"
            raise too_large(where, what, MAX_CELLS)
    if tag.name in _GRIDS:
        count = 1
        for number in _numbers(tag.attributes.get("count", "")):
            count *= max(number, 1)
        return count
    return 1


def _may_be_special(text: str) -> bool:
    """Whether a text may contain NaN or infinity; faster than a regular expression."""
    lowered = text.lower()
    return "nan" in lowered or "inf" in lowered


def _check_numbers(tag: Tag, where: str) -> None:
    """Reject NaN and infinite numbers: MuJoCo takes many of them for a value that is not given.

    Only the ends of a range may be infinite.
    """
    for name, value in tag.attributes.items():
        if name in _TEXTS or not _may_be_special(value):
            continue
        special = _NOT_FINITE.findall(value)
        if not special:
            continue
        if not _NUMBERS.fullmatch(_NOT_FINITE.sub(" ", value)):
            continue  # a text
        if not name.endswith("range") or any(word.lower() == "nan" for _, word in special):
            element = f"<{tag.name}> '{tag.attributes.get('name', '')}'".removesuffix(" ''")
            raise ParseError(
                f"{where}: {name} of {element} has a number that is not finite: '{value}'"
            )


def _number(attributes: Mapping[str, str], name: str) -> int:
    values = list(_numbers(attributes.get(name, "")))
    return values[0] if len(values) == 1 else 0


def _numbers(text: str) -> Iterator[int]:
    """Yield the positive integers of an attribute; the parser reports the others."""
    for word in text.split():
        digits = word.removeprefix("+")
        if digits.isdecimal():
            yield int(digits[:_DIGITS])
