"""Reading of an MJCF with all files that it names, before MuJoCo would open them.

MuJoCo opens whatever an MJCF names, wherever it is, reads files recursively, and ends the process
if there is no end. So the documents (the file, its includes, and the models that it attaches) are
read and counted here, then handed to MuJoCo's parser in memory. The paths of all other files become
absolute, so that they can be checked and read before the model is compiled.
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
from mujoco_ros.model.file_access import LARGEST_FILE, LARGEST_TEXT, is_for_client, read_file
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.scene import limits
from mujoco_ros.model.scene.asset_snapshot import (
    referenced_files,
    restore_files,
    snapshot_files,
)
from mujoco_ros.model.scene.config import NO_FOLDER
from mujoco_ros.model.scene.mjcf_checks import Copies, ElementCount, check_numbers, may_be_special
from mujoco_ros.model.scene.resources import is_provided, path_of, read_resource, with_suffix
from mujoco_ros.model.urdf.importing.mesh_file import embed_mesh
from mujoco_ros.model.uri import resolve

ENGINE_ERRORS = (ValueError, RuntimeError, MemoryError, mujoco.FatalError)
"""Exceptions of MuJoCo's parser and compiler."""
_NO_FOLDER_HINT = "but a model given as text has no folder; give the absolute path"
_NOT_CONTENT = re.compile(r"<\?|<!--")
_ENDS = {"<?": "?>", "<!--": "-->"}
_ASSETS = {"mesh": "mesh", "texture": "texture", "hfield": "height field", "skin": "skin"}
_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FOLDERS = ("assetdir", "meshdir", "texturedir")
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


def read_mjcf(path: Path, where: str, packages: Mapping[str, Path] | None = None) -> mujoco.MjSpec:
    """Read an MJCF file; the paths in the spec are absolute, `packages` are for URIs."""
    note_file(path)
    content = read_file(path, "model file", largest=LARGEST_TEXT)
    return _complete(_Reader(packages).read(path, where, content, ()))


def read_mjcf_text(text: str, where: str) -> mujoco.MjSpec:
    """Read the text of an MJCF, as `read_mjcf` a file; it includes none, and paths are absolute."""
    return _complete(_Reader(None).read(NO_FOLDER / "model.xml", where, text.encode(), ()))


@dataclass(frozen=True, slots=True)
class _Element:
    tag: str
    attributes: Mapping[str, str]

    @property
    def files(self) -> Iterator[str]:
        return (self.attributes[name] for name in _FILES if self.attributes.get(name))


@dataclass(slots=True)
class _Model:
    """One MJCF with the files that it includes."""

    name: Path  # that the parser is given; it can lead through an archive
    where: str
    count: ElementCount
    documents: dict[str, bytes] = field(default_factory=dict)  # content by path
    elements: list[_Element] = field(default_factory=list)  # that name files or folders
    attached: dict[Path, "_Model"] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.name.parent

    def path(self, file: str, folder: str = "") -> Path:
        """Return the absolute path of a file that it names, with symbolic links."""
        return Path(os.path.normpath(self.folder / folder / file))


class _Reader:
    """Reads each document once; `packages` are folders of packages by name."""

    def __init__(self, packages: Mapping[str, Path] | None) -> None:
        self._packages = packages
        self._models: dict[Path, _Model] = {}
        self._copies = Copies()
        self._provided: dict[Path, str] = {}  # URIs of what providers deliver

    def read(self, path: Path, where: str, content: bytes, above: tuple[Path, ...]) -> _Model:
        """Read a model; `above` are the files that contain it, outermost first."""
        self._models[path] = model = _Model(path, where, ElementCount(self._copies))
        self._add(model, path, content, _below(path, above))
        return model

    def _add(self, model: _Model, path: Path, content: bytes, above: tuple[Path, ...]) -> None:
        """Add a file of a model, the last of `above`, and the files that it names."""
        where = model.where if path == model.name else f"{model.where}: '{path}'"
        text = content.decode(errors="replace")
        limits.check_characters(text, where)
        # Both parsers get the same text, so that no element is hidden from one of them.
        text = self._with_paths(model, without_comments(text), path.parent)
        count, is_special = model.count, may_be_special(text)
        depth = len(count.open)

        def begin(tag: str, attributes: dict[str, str]) -> None:
            if is_special:
                check_numbers(tag, attributes, where)
            count.begin(tag, attributes, where)
            file = attributes.get("file", "")
            if tag == "include":
                self._include(model, file, path.parent, where, above)
            elif attributes.keys() & {*_FILES, *_FOLDERS}:
                model.elements.append(_Element(tag, attributes))
            if tag == "model" and file:
                self._attach(model, attributes.get("name", ""), file, path.parent, above)

        parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler, parser.EndElementHandler = begin, count.end
        parser.StartDoctypeDeclHandler = _reject_doctype
        try:
            parser.Parse(text.encode(), True)
            content.decode()
            content = text.encode()
        except (UnicodeDecodeError, expat.ExpatError) as error:
            if is_for_client():
                raise ParseError(f"{where}: not well-formed XML: {error}") from error
            while len(count.open) > depth:
                count.end()
            # MuJoCo gets the content as it is, and reports the error, or tolerates it.
        model.documents[str(path)] = content

    def _include(
        self, model: _Model, file: str, folder: Path, where: str, above: tuple[Path, ...]
    ) -> None:
        if model.folder == NO_FOLDER:
            raise ParseError(f"{where} includes a file; only a model file can include files")
        path = _find(file, model.folder, folder)
        below = _below(path, above)
        if file and str(path) not in model.documents:  # MuJoCo rejects a second one
            model.documents[str(path)] = content = self._content(model, path, "included file")
            self._add(model, path, content, below)

    def _attach(
        self, model: _Model, name: str, file: str, folder: Path, above: tuple[Path, ...]
    ) -> None:
        """Read a model that a model may attach."""
        path = _find(file, folder, model.folder)
        _below(path, above)
        below = self._models.get(path)
        if below is None:
            content = self._content(model, path, "attached model")
            below = self.read(path, f"{model.where}: '{path}'", content, above)
        model.attached[path] = below
        model.count.add_model(name, below.count, model.where)

    def _content(self, model: _Model, path: Path, kind: str) -> bytes:
        uri = self._provided.get(path)
        return read_resource(uri, LARGEST_TEXT) if uri else _content(model, path, kind)

    def _with_paths(self, model: _Model, text: str, folder: Path) -> str:
        """Return the text of a file with absolute paths for URIs and for documents in archives."""

        def path_in(found: re.Match[str]) -> str:
            uri = html.unescape(found["uri"]).strip()
            if is_provided(uri):
                return found.group()
            path = resolve(uri, folder, self._packages)
            return f"{found['before']}{found['quote']}{html.escape(str(path))}{found['quote']}"

        def document_of(found: re.Match[str]) -> str:
            file, is_part = html.unescape(found["file"]), found["tag"] == "include"
            if is_provided(file):
                path = Path(path_of(file))
                self._provided[path] = file
                return f"{found['before']}{found['quote']}{path}{found['quote']}"
            path = _find(file, *((model.folder, folder) if is_part else (folder, model.folder)))
            real = on_disk(path) if is_part else model_on_disk(path)
            if real == path:
                return found.group()
            return f"{found['before']}{found['quote']}{html.escape(str(real))}{found['quote']}"

        return _DOCUMENT.sub(document_of, _URI.sub(path_in, text))


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


def _reject_doctype(*_arguments: object) -> None:
    raise ParseError("an MJCF with a DOCTYPE is not accepted; remove the declaration")


def _below(path: Path, above: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the files down to a path that those `above` contain, without symbolic links."""
    path = Path(os.path.realpath(path))
    if path in above:
        cycle = " → ".join(each.name for each in (*above[above.index(path) :], path))
        raise ParseError(f"'{path}' contains itself: {cycle}")
    if len(above) >= limits.MAX_FILE_DEPTH:
        what = f"files in files, {len(above) + 1} deep"
        raise limits.too_large(str(path), what, limits.MAX_FILE_DEPTH)
    return (*above, path)


def _find(file: str, *folders: Path) -> Path:
    """Return the path of a file in the first folder that has it, or else in the first one."""
    paths = [Path(os.path.normpath(folder / file)) for folder in folders]
    return next((path for path in paths if os.path.lexists(on_disk(path))), paths[0])


def _content(model: _Model, path: Path, kind: str) -> bytes:
    """Return the content of a file that a model names."""
    if path.is_relative_to(NO_FOLDER):
        name = path.relative_to(NO_FOLDER)
        raise MissingAssetError(
            f"{model.where}: {kind} '{name}' is a relative path, {_NO_FOLDER_HINT}"
        )
    largest = LARGEST_FILE if kind == "file" else LARGEST_TEXT
    try:
        note_file(path := on_disk(path))
        return read_file(path, kind, largest=largest)
    except MissingFileError as error:
        raise MissingAssetError(f"{model.where}: {error}") from error


def _parsed(model: _Model) -> mujoco.MjSpec:
    """Return the spec of a model, read by MuJoCo's parser from its documents."""
    attached: dict[tuple[str, str], str] = {}  # files of attached models by kind and name
    for below in model.attached.values():
        part = _parsed(below)
        for reference in referenced_files(part):
            if reference.uri:
                continue
            attached[reference.kind, reference.asset] = str(reference.path)
        model.documents |= below.documents
        if _attaches_keyframes(below):
            model.documents[str(below.name)] = _with_keyframes(part, below).to_xml().encode()
    folders = {element.attributes.get(key, "") for element in model.elements for key in _FOLDERS}
    for element in model.elements:
        if element.tag == "flexcomp":  # whose file the parser reads
            for file in element.files:
                paths = [] if is_provided(file) else [model.path(file, f) for f in ("", *folders)]
                for path in paths:
                    if os.path.lexists(on_disk(path)):
                        model.documents[str(path)] = _content(model, path, "file")
    # The parser knows suffixes in lower case only.
    main = str(model.name.with_suffix(model.name.suffix.lower()))
    documents = {main: model.documents[str(model.name)]} | model.documents
    try:
        with mujoco.MjVfs() as files:
            for name, document in documents.items():
                files[name] = document
            spec = mujoco.MjSpec.from_file(main, vfs=files)
    except ENGINE_ERRORS as error:
        raise engine_error(model.where, error) from error
    _make_paths_absolute(spec, model, attached)
    return spec


def _complete(model: _Model) -> mujoco.MjSpec:
    spec = _parsed(model)
    return _with_keyframes(spec, model) if _attaches_keyframes(model) else _with_meshes(spec)


def _with_meshes(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Convert the meshes of formats that MuJoCo does not read; a missing file is reported later."""
    for mesh in spec.meshes:
        if mesh.file and Path(mesh.file).is_file():
            embed_mesh(mesh, Path(mesh.file))
    for asset in (*spec.meshes, *spec.textures, *spec.hfields):
        asset.file = with_suffix(asset.file, asset.content_type)
    return spec


def _attaches_keyframes(model: _Model) -> bool:
    contents = (content for part in model.attached.values() for content in part.documents.values())
    return any(b"<key" in content for content in contents)


def _with_keyframes(spec: mujoco.MjSpec, model: _Model) -> mujoco.MjSpec:
    """Complete a spec with the keyframes of the models that it attaches, under their prefixes.

    MuJoCo does that when it compiles. It attaches a model that was not compiled without prefixes of
    such keyframes, so that two copies have the same names.
    """
    limits.check_spec(spec, model.where)
    restore_files(spec, snapshot_files(_with_meshes(spec).copy(), model.folder))
    try:
        with silence_compiler():
            spec.compile()
    except ENGINE_ERRORS as error:
        raise engine_error(model.where, error) from error
    return spec


def engine_error(where: str, error: Exception) -> UserInputError:
    """Return the error for an exception of MuJoCo's parser or compiler."""
    message = " ".join(str(error).split())
    kind = MissingAssetError if "Error opening file" in message else ParseError
    return kind(f"{where}: {message}")


def _make_paths_absolute(
    spec: mujoco.MjSpec, model: _Model, attached: Mapping[tuple[str, str], str]
) -> None:
    """Make the paths in a spec absolute; the spec lacks the folders of attached models."""
    own = {
        (kind, element.attributes.get("name") or Path(file).stem)
        for element in model.elements
        if (kind := _ASSETS.get(element.tag))
        for file in element.files
    }
    for reference in list(referenced_files(spec)):
        if reference.uri:
            continue
        path, asset = model.path(str(reference.path)), f"{reference.kind} '{reference.asset}'"
        if (reference.kind, reference.asset) not in own:
            found = (
                file
                for (kind, name), file in attached.items()
                if kind == reference.kind and reference.asset.endswith(name)
            )
            path = Path(next(found, path))
        if path.is_relative_to(NO_FOLDER):
            raise MissingAssetError(
                f"{model.where}: {asset} is the file '{reference.path}', {_NO_FOLDER_HINT}"
            )
        if is_archive(path):  # MuJoCo would read the model in it
            raise ParseError(
                f"{model.where}: {asset} is the archive '{path}'; "
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
