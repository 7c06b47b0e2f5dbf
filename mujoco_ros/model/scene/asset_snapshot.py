"""Snapshots of the files of a model, so that later changes on disk do not matter."""

import os
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mujoco

from mujoco_ros.model.errors import MissingAssetError, MissingFileError
from mujoco_ros.model.file_access import is_for_client, read_file
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.scene.limits import MAX_CELLS, MAX_TEXELS, too_large
from mujoco_ros.model.scene.resources import is_provided, path_of, read_resource

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_SIZE = struct.Struct(">16xII")
_MAX_PIXELS = {"texture": MAX_TEXELS, "height field": MAX_CELLS}

Stamp = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class AssetFile:
    """The content of a mesh, texture or other asset file when it was read."""

    path: str
    # Modification time [ns] and size; None if MuJoCo must not open the file, because it is a
    # client's and other users can exchange it
    stamp: Stamp | None
    content: bytes
    uri: str = ""  # by which a provider of the engine delivers it


def snapshot_files(spec: mujoco.MjSpec, folder: Path) -> tuple[AssetFile, ...]:
    """Read the files of a spec, and make its paths, relative to `folder`, absolute.

    Files that do not exist are left out, if they are not a client's; the compiler reports them.
    """
    found = {}
    for reference in referenced_files(spec):
        if reference.uri:
            content = read_resource(reference.uri)
            _check_pixels(content, reference.kind, reference.path)
            reference.rename(str(reference.path))
            found[reference.path] = AssetFile(
                path=str(reference.path), stamp=None, content=content, uri=reference.uri
            )
            continue
        path = folder / reference.path
        if _stamp(str(path)) is None and not is_for_client():
            continue
        note_file(path)
        reference.rename(str(path))
        try:
            found[path] = read_asset(path, reference.kind)
        except MissingFileError as error:
            raise MissingAssetError(f"{reference.kind} '{reference.asset}': {error}") from error
    return tuple(found.values())


def read_asset(path: Path, kind: str) -> AssetFile:
    """Read an asset file of a model, which is no image with too many pixels."""
    content = read_file(path, kind)
    _check_pixels(content, kind, path)
    stamp = None if is_for_client() and _can_be_exchanged(path) else _stamp(str(path))
    return AssetFile(path=str(path), stamp=stamp, content=content)


def _check_pixels(content: bytes, kind: str, path: Path) -> None:
    """Reject a PNG image that the compiler would decode to gigabytes."""
    limit = _MAX_PIXELS.get(kind)
    if limit is None or not content.startswith(_PNG) or len(content) < _PNG_SIZE.size:
        return
    width, height = _PNG_SIZE.unpack_from(content)
    if width * height > limit.value:
        raise too_large(f"{kind} '{path}'", f"{width} x {height} pixels", limit)


def _can_be_exchanged(path: Path) -> bool:
    """Whether a user other than this one and root can replace a file or a folder above it."""
    for each in (path, *path.resolve().parents):
        status = os.stat(each)
        if status.st_uid not in (0, os.getuid()):
            return True
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
            return True
    return False


class FileReference(NamedTuple):
    """A reference to a file in a spec."""

    kind: str
    asset: str
    path: Path  # path from the folder of the model
    rename: Callable[[str], object]  # writes another path into the spec
    uri: str = ""  # of what a provider of the engine delivers, which is no file


def referenced_files(spec: mujoco.MjSpec) -> Iterator[FileReference]:
    """Yield the references to files in a spec."""
    for kind, assets, folder in (
        ("mesh", spec.meshes, spec.meshdir),
        ("texture", spec.textures, spec.texturedir),
        ("height field", spec.hfields, spec.meshdir),
        ("skin", spec.skins, spec.meshdir),
    ):
        for asset in assets:
            named = [(asset.file, partial(setattr, asset, "file"))]
            if kind == "texture":
                sides = asset.cubefiles
                named += [(f, partial(sides.__setitem__, i)) for i, f in enumerate(sides)]
            for file, rename in named:
                if is_provided(file):
                    path = Path(path_of(file, getattr(asset, "content_type", "")))
                    yield FileReference(kind, asset.name, path, rename, file)
                elif file:
                    path = Path(folder) / (Path(file).name if spec.strippath else file)
                    yield FileReference(kind, asset.name, path, rename)


def restore_files(spec: mujoco.MjSpec, files: Iterable[AssetFile]) -> None:
    """Make a spec compile with the snapshot of its files; MuJoCo caches the unchanged ones."""
    spec.assets = {
        file.path: file.content
        for file in files
        if file.stamp is None or _stamp(file.path) != file.stamp
    }


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
