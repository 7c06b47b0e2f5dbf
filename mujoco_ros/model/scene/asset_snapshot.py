"""Snapshots of the files of a model, so that later changes on disk do not matter."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mujoco

from mujoco_ros.model.mjcf.file_stamps import note_file

Stamp = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class AssetFile:
    """The content of a mesh, texture or other asset file when it was read.

    Attributes:
        path: Absolute path.
        stamp: Modification time [ns] and size.
        content: Content.
    """

    path: str
    stamp: Stamp
    content: bytes


def snapshot_files(spec: mujoco.MjSpec, folder: Path) -> tuple[AssetFile, ...]:
    """Read the files of a spec, and make its paths, relative to `folder`, absolute.

    Files that cannot be read are left out; the compiler reports them.
    """
    found = {}
    for reference in referenced_files(spec):
        path = folder / reference.path
        if (stamp := _stamp(str(path))) is not None:
            note_file(path)
            reference.rename(str(path))
            found[path] = AssetFile(path=str(path), stamp=stamp, content=path.read_bytes())
    return tuple(found.values())


class FileReference(NamedTuple):
    """A reference to a file in a spec.

    Attributes:
        kind: Kind of asset.
        asset: Name of the asset.
        path: Path from the folder of the model.
        rename: Writes another path into the spec.
    """

    kind: str
    asset: str
    path: Path
    rename: Callable[[str], object]


def referenced_files(spec: mujoco.MjSpec) -> Iterator[FileReference]:
    """Yield the references to files in a spec."""
    for kind, assets, folder in (
        ("mesh", spec.meshes, spec.meshdir),
        ("texture", spec.textures, spec.texturedir),
        ("height field", spec.hfields, spec.meshdir),
        ("skin", spec.skins, spec.meshdir),
    ):
        for asset in assets:
            if asset.file:
                path = Path(folder) / asset.file
                yield FileReference(kind, asset.name, path, partial(setattr, asset, "file"))
    for texture in spec.textures:
        for side, file in enumerate(texture.cubefiles):
            if file:
                rename = partial(texture.cubefiles.__setitem__, side)
                yield FileReference("texture", texture.name, Path(spec.texturedir) / file, rename)


def restore_files(spec: mujoco.MjSpec, files: tuple[AssetFile, ...]) -> None:
    """Make a spec compile with the snapshot of its files; MuJoCo caches the unchanged ones."""
    spec.assets = {file.path: file.content for file in files if _stamp(file.path) != file.stamp}


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
