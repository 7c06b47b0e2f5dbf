"""The files that an MJCF consists of, and the size of the model that they describe."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mujoco_ros.model.errors import MissingAssetError, MissingFileError, ParseError
from mujoco_ros.model.file_access import LARGEST_TEXT, read_file
from mujoco_ros.model.mjcf.file_stamps import note_file
from mujoco_ros.model.mjcf.tags import Tag, tags
from mujoco_ros.model.scene.size_limits import (
    MAX_ELEMENTS,
    MAX_ENTRIES,
    MAX_FILE_DEPTH,
    check_characters,
    too_large,
)

_INCLUDE, _MODEL = "include", "model"
_GRIDS = ("flexcomp", "composite")
_NAN = re.compile(r"\bnan\b", re.IGNORECASE)
_NAN_IS_NONE = ("mass", "fullinertia", "fromto")
"""Attributes in which MuJoCo takes NaN for a value that is not given; others are found later."""
_DIGITS = 20
"""More digits than any permitted number has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reference:
    """A file that an MJCF includes, or whose model it attaches."""

    kind: str
    file: str


def check_text(text: str, where: str) -> None:
    """Reject the text of an MJCF that is too large, or that attaches a model to itself.

    Args:
        text: The text.
        where: Begins error messages.

    Raises:
        ParseError: It includes a file.
        MissingAssetError: It attaches a model by a relative path.
        UserInputError: It is too large, or a file contains itself.
    """
    check_characters(text, where)
    size, references = _scan(text, where)
    walk = _Walk()
    for reference in references:
        if reference.kind == _INCLUDE:
            raise ParseError(f"{where} includes a file; only a model file can include files")
        if not os.path.isabs(reference.file):
            raise MissingAssetError(
                f"{where}: model '{reference.file}' is a relative path, but a model given as text "
                "has no folder; give the absolute path"
            )
        path = Path(os.path.realpath(reference.file))
        size += walk.size(path, path.parent, ())
        _check_size(size, where)


def check_files(path: Path) -> None:
    """Reject an MJCF file that is too large, or contains itself, with the files it consists of.

    A file contains those that it includes and those whose models it may attach. MuJoCo reads them
    recursively, and ends the process if there is no end. Files that do not exist are left to
    MuJoCo.

    Raises:
        UserInputError: It is too large, or a file contains itself.
    """
    real = Path(os.path.realpath(path))
    _Walk().size(real, real.parent, ())


class _Walk:
    """Visits each file once."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[Path, Path], int] = {}

    def size(self, path: Path, folder: Path, above: tuple[Path, ...]) -> int:
        """Return the number of elements of a file with all that it contains.

        Args:
            path: The file, without symbolic links.
            folder: Folder of the model, for the paths of includes.
            above: The files that contain it, outermost first.
        """
        if path in above:
            cycle = " → ".join(it.name for it in (*above[above.index(path) :], path))
            raise ParseError(f"'{path}' contains itself: {cycle}")
        if len(above) >= MAX_FILE_DEPTH:
            raise too_large(str(path), f"files in files, {len(above) + 1} deep", MAX_FILE_DEPTH)
        if (path, folder) not in self._sizes:
            self._sizes[path, folder] = self._read(path, folder, (*above, path))
        return self._sizes[path, folder]

    def _read(self, path: Path, folder: Path, above: tuple[Path, ...]) -> int:
        note_file(path)
        text, where = _text(path), str(path)
        check_characters(text, where)
        size, references = _scan(text, where)
        for reference in references:
            found = _find(reference, path, folder)
            if found is not None:
                inner = folder if reference.kind == _INCLUDE else found.parent
                size += self.size(found, inner, above)
                _check_size(size, where)
        return size


def _find(reference: _Reference, path: Path, folder: Path) -> Path | None:
    """Return the file that MuJoCo reads for a reference in the file `path`; None if none exists.

    The path of an include is relative to the folder of the model, or else to the file itself; that
    of a model is relative to the file.
    """
    folders = [folder, path.parent] if reference.kind == _INCLUDE else [path.parent]
    candidates = (os.path.realpath(it / reference.file) for it in folders)
    return next((Path(it) for it in candidates if os.path.isfile(it)), None)


def _text(path: Path) -> str:
    try:
        return read_file(path, "model file", largest=LARGEST_TEXT).decode(errors="replace")
    except MissingFileError:  # `mjcf_files` reports it, or MuJoCo
        return ""


def _scan(text: str, where: str) -> tuple[int, list[_Reference]]:
    """Return the number of elements of a text after replication, and its references to files."""
    references, size, factors = [], 0, [1]
    has_nan = _NAN.search(text) is not None
    for tag in tags(text):
        factor = factors[-1]
        if tag.begins:
            if has_nan:
                _check_numbers(tag, where)
            size += factor * _entries(tag, where)
            _check_size(size, where)
            if tag.name in (_INCLUDE, _MODEL) and (file := tag.attributes.get("file", "")):
                references.append(_Reference(kind=tag.name, file=file))
            if not tag.ends:
                copies = _number(tag.attributes, "count") if tag.name == "replicate" else 1
                factors.append(factor * max(copies, 1))
        elif len(factors) > 1:
            factors.pop()
    return size, references


def _entries(tag: Tag, where: str) -> int:
    """Return the number of elements that a tag stands for.

    Raises:
        UserInputError: It is a height field that is too large to be allocated.
    """
    if tag.name == "hfield":
        field = tag.attributes
        cells = _number(field, "nrow") * _number(field, "ncol")
        if cells > MAX_ENTRIES:
            what = f"{cells} cells of hfield '{field.get('name', '')}'"
            raise too_large(where, what, MAX_ENTRIES)
    if tag.name in _GRIDS:
        count = 1
        for number in _numbers(tag.attributes.get("count", "")):
            count *= max(number, 1)
        return count
    return 1


def _check_numbers(tag: Tag, where: str) -> None:
    """Reject NaN that MuJoCo would ignore."""
    for name in _NAN_IS_NONE:
        value = tag.attributes.get(name, "")
        if _NAN.search(value):
            raise ParseError(f"{where}: {name} of <{tag.name}> is '{value}', not a number")


def _number(attributes: Mapping[str, str], name: str) -> int:
    values = list(_numbers(attributes.get(name, "")))
    return values[0] if len(values) == 1 else 0


def _numbers(text: str) -> Iterator[int]:
    """Yield the positive integers of an attribute; the parser reports the others."""
    for word in text.split():
        if word.isdecimal():
            yield int(word[:_DIGITS])


def _check_size(size: int, where: str) -> None:
    if size > MAX_ELEMENTS:
        raise too_large(where, f"{size} elements", MAX_ELEMENTS)
