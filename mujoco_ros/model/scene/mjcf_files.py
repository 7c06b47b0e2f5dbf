"""Reading of an MJCF with all files that it names, before MuJoCo would open them.

MuJoCo opens whatever an MJCF names, wherever it is. So the documents (the file, its includes, and
the models that it attaches) are read here and handed to MuJoCo's parser in memory, and the paths of
all other files become absolute, so that they can be checked and read before the model is compiled.
"""

import html
import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import mujoco

from mujoco_ros.model.archives import is_archive, model_on_disk, on_disk
from mujoco_ros.model.errors import MissingAssetError, MissingFileError, ParseError, UserInputError
from mujoco_ros.model.file_access import LARGEST_TEXT, is_for_client, read_file
from mujoco_ros.model.scene.asset_snapshot import referenced_files
from mujoco_ros.model.scene.config import NO_FOLDER
from mujoco_ros.model.uri import resolve

_NO_FOLDER_HINT = "but a model given as text has no folder; give the absolute path"
_NOT_CONTENT = re.compile(r"<\?|<!--")
_ENDS = {"<?": "?>", "<!--": "-->"}
_ASSETS = {"mesh": "mesh", "texture": "texture", "hfield": "height field", "skin": "skin"}
_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FOLDERS = ("assetdir", "meshdir", "texturedir")
ENGINE_ERRORS = (ValueError, RuntimeError, MemoryError, mujoco.FatalError)
"""Exceptions of MuJoCo's parser and compiler."""
_URI = re.compile(
    rf"(?P<before>\s(?:{'|'.join((*_FILES, *_FOLDERS))})\s*=\s*)"
    r"""(?P<quote>["'])\s*(?P<uri>[A-Za-z][\w+.-]*://[^"'<>]*)(?P=quote)"""
)
"""An attribute that names a file or folder by a URI."""
_DOCUMENT = re.compile(
    r"""(?P<before><\s*(?P<tag>model|include)\b[^<>]*\sfile\s*=\s*)"""
    r"""(?P<quote>["'])(?P<file>[^"'<>]*)(?P=quote)"""
)
"""The file of an element that is included or attached."""


def without_comments(text: str) -> str:
    """Return an XML text without comments and processing instructions, with the same lines."""
    kept: list[str] = []
    position = 0
    while found := _NOT_CONTENT.search(text, position):
        end = text.find(_ENDS[found.group()], found.end())
        if end < 0:
            break  # which the parser reports
        kept += text[position : found.start()], "\n" * text.count("\n", found.start(), end)
        position = end + len(_ENDS[found.group()])
    return "".join((*kept, text[position:]))


@dataclass(frozen=True, slots=True)
class _Element:
    tag: str
    attributes: dict[str, str]
    folder: Path
    """Folder of the file that it is in."""

    @property
    def files(self) -> Iterator[str]:
        return (self.attributes[name] for name in _FILES if self.attributes.get(name))


@dataclass(slots=True)
class _Model:
    """One MJCF with the files that it includes.

    Attributes:
        name: Path that the parser is given, which can lead through an archive.
        documents: Content by path, also of the models that it attaches.
        elements: Its elements that name files or folders, but for includes.
        attached: Files of the models that it attaches, by kind and name.
    """

    name: Path
    where: str
    packages: Mapping[str, Path] | None = None
    documents: dict[str, bytes] = field(default_factory=dict)
    elements: list[_Element] = field(default_factory=list)
    attached: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.name.parent

    def path(self, file: str, folder: str = "") -> Path:
        """Return the absolute path of a file that it names, with symbolic links."""
        return Path(os.path.normpath(self.folder / folder / file))


def read_mjcf(path: Path, where: str, packages: Mapping[str, Path] | None = None) -> mujoco.MjSpec:
    """Read an MJCF file; the paths in the spec are absolute.

    Args:
        packages: Folders of packages by name, for URIs.

    Raises:
        MissingAssetError: A file that it names does not exist, or must not be read.
        UserInputError: The file cannot be read, or MuJoCo's parser rejects it.
    """
    content = read_file(path, "model file", largest=LARGEST_TEXT)
    return _read(_Model(path, where, packages), content, ())


def read_mjcf_text(text: str, where: str) -> mujoco.MjSpec:
    """Read the text of an MJCF, as `read_mjcf` a file; it includes none, and paths are absolute."""
    return _read(_Model(NO_FOLDER / "model.xml", where), text.encode(), ())


def _read(model: _Model, content: bytes, above: tuple[str, ...]) -> mujoco.MjSpec:
    """Read a model; `above` are the files of the models that attach it."""
    _add_document(model, model.name, content)
    for element in model.elements:
        if element.tag == "model":
            _add_attached(model, element, above)
        elif element.tag == "flexcomp":  # which the parser reads
            folders = {
                element.attributes.get(key, "") for element in model.elements for key in _FOLDERS
            }
            for file in element.files:
                for folder in ("", *folders):
                    path = model.path(file, folder)
                    if os.path.lexists(on_disk(path)):
                        model.documents[str(path)] = _named(model, path, "file")
    try:
        with mujoco.MjVfs() as files:
            for name, document in model.documents.items():
                files[name] = document
            spec = mujoco.MjSpec.from_file(str(model.name), vfs=files)
    except ENGINE_ERRORS as error:
        raise engine_error(model.where, error) from error
    _make_paths_absolute(spec, model)
    return spec


def engine_error(where: str, error: Exception) -> UserInputError:
    """Return the error for an exception of MuJoCo's parser or compiler."""
    message = " ".join(str(error).split())
    kind = MissingAssetError if "Error opening file" in message else ParseError
    return kind(f"{where}: {message}")


def _add_document(model: _Model, path: Path, content: bytes) -> None:
    """Add a file of a model, and the files that it includes."""
    where = model.where if path == model.name else f"{model.where}: '{path}'"
    try:
        # Both parsers get the same text, so that no element is hidden from one of them.
        text = _with_paths(model, without_comments(content.decode()), path.parent)
        elements = _elements(text, path.parent)
    except (UnicodeDecodeError, expat.ExpatError) as error:
        if is_for_client():
            raise ParseError(f"{where}: not well-formed XML: {error}") from error
        model.documents[str(path)] = content  # MuJoCo reports the error, or tolerates it
        return
    model.documents[str(path)] = text.encode()
    for element in elements:
        if element.tag != "include":
            model.elements.append(element)
            continue
        file = element.attributes.get("file", "")
        if model.folder == NO_FOLDER:
            raise ParseError(f"{where} includes a file; only a model file can include files")
        included = _find(file, model.folder, path.parent)
        if file and str(included) not in model.documents:  # MuJoCo rejects a second one
            _add_document(model, included, _named(model, included, "included file"))


def _with_paths(model: _Model, text: str, folder: Path) -> str:
    """Return the text of a file with absolute paths for URIs and for documents in archives."""

    def path_of(found: re.Match[str]) -> str:
        path = resolve(html.unescape(found["uri"]).strip(), folder, model.packages)
        return f"{found['before']}{found['quote']}{html.escape(str(path))}{found['quote']}"

    def document_of(found: re.Match[str]) -> str:
        file, is_part = html.unescape(found["file"]), found["tag"] == "include"
        path = _find(file, *((model.folder, folder) if is_part else (folder, model.folder)))
        real = on_disk(path) if is_part else model_on_disk(path)
        if real == path:
            return found.group()
        return f"{found['before']}{found['quote']}{html.escape(str(real))}{found['quote']}"

    return _DOCUMENT.sub(document_of, _URI.sub(path_of, text))


def _find(file: str, *folders: Path) -> Path:
    """Return the path of a file in the first folder that has it, or else in the first one."""
    paths = [Path(os.path.normpath(folder / file)) for folder in folders]
    return next((path for path in paths if os.path.lexists(on_disk(path))), paths[0])


def _elements(text: str, folder: Path) -> list[_Element]:
    """Return the elements of an XML text in a folder that name files or folders."""
    found: list[_Element] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if tag == "include" or attributes.keys() & {*_FILES, *_FOLDERS}:
            found.append(_Element(tag, attributes, folder))

    def reject(*_arguments: object) -> None:
        raise ParseError("an MJCF with a DOCTYPE is not accepted; remove the declaration")

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = begin, reject
    parser.Parse(text.encode(), True)
    return found


def _add_attached(model: _Model, element: _Element, above: tuple[str, ...]) -> None:
    """Read a model that a model attaches, with the files that it names."""
    path = _find(element.attributes.get("file", ""), element.folder, model.folder)
    stack = (*above, str(model.name))
    if str(path) in stack:
        raise ParseError(f"{model.where}: '{path}' attaches itself")
    below = _Model(path, f"{model.where}: '{path}'", model.packages)
    spec = _read(below, _named(model, path, "attached model"), stack)
    model.documents.update(below.documents)
    for reference in referenced_files(spec):
        model.attached[reference.kind, reference.asset] = str(reference.path)


def _named(model: _Model, path: Path, kind: str) -> bytes:
    """Return the content of a file that a model names."""
    if path.is_relative_to(NO_FOLDER):
        name = path.relative_to(NO_FOLDER)
        raise MissingAssetError(f"{model.where}: {kind} '{name}' {_NO_FOLDER_HINT}")
    try:
        return read_file(on_disk(path), kind)
    except MissingFileError as error:
        raise MissingAssetError(f"{model.where}: {error}") from error


def _make_paths_absolute(spec: mujoco.MjSpec, model: _Model) -> None:
    """Make the paths in a spec absolute; the spec lacks the folders of attached models."""
    own = {
        (kind, element.attributes.get("name") or Path(file).stem)
        for element in model.elements
        if (kind := _ASSETS.get(element.tag))
        for file in element.files
    }
    for reference in list(referenced_files(spec)):
        path = model.path(str(reference.path))
        if (reference.kind, reference.asset) not in own:
            found = (
                file
                for (kind, name), file in model.attached.items()
                if kind == reference.kind and reference.asset.endswith(name)
            )
            path = Path(next(found, path))
        if path.is_relative_to(NO_FOLDER):
            raise MissingAssetError(
                f"{model.where}: {reference.kind} '{reference.asset}' is the file "
                f"'{reference.path}', {_NO_FOLDER_HINT}"
            )
        if is_archive(path):  # MuJoCo would read the model in it
            raise ParseError(
                f"{model.where}: {reference.kind} '{reference.asset}' is the archive '{path}'; "
                f"name a file in it, as '{path.name}/<file>'"
            )
        reference.rename(str(on_disk(path)))
    spec.strippath = False  # would strip the folders


_LOCK = threading.Lock()


@contextmanager
def silence_compiler() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings about models that this thread reads and compiles.

    One thread at a time: both warning handlers belong to the whole process.
    """
    with _LOCK, warnings.catch_warnings(record=True) as caught, _silent_engine():
        warnings.simplefilter("always")
        yield caught


@contextmanager
def _silent_engine() -> Iterator[None]:
    """Drop the engine's warnings of this thread; Python's warnings carry the same text."""
    previous, compiling = mujoco.get_mju_user_warning(), threading.get_ident()

    def warn(message: str) -> None:
        if previous is not None and threading.get_ident() != compiling:
            previous(message)

    mujoco.set_mju_user_warning(warn)
    try:
        yield
    finally:
        if mujoco.get_mju_user_warning() is warn:  # no other handler was set in the meantime
            mujoco.set_mju_user_warning(previous)
