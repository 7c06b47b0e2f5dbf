"""The files a model names, kept so that it compiles to the same whatever becomes of them."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import mujoco

Stamp = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class AssetFile:
    """A mesh, texture or the like as it was read.

    Attributes:
        path: Its whole path.
        stamp: When it was modified [ns], and its size, by which a change shows.
        content: What was in it.
    """

    path: str
    stamp: Stamp
    content: bytes


def keep_files(spec: mujoco.MjSpec, folder: Path) -> tuple[AssetFile, ...]:
    """Read the files that a spec names, and name them by their whole paths.

    Args:
        spec: The spec.
        folder: Where its relative paths start.

    Returns:
        The files; one that cannot be read is left to the compiler, which says so.
    """
    kept = {}
    for named in named_files(spec):
        path = folder / named.path
        if (stamp := _stamp(str(path))) is not None:
            named.rename(str(path))
            kept[path] = AssetFile(path=str(path), stamp=stamp, content=path.read_bytes())
    return tuple(kept.values())


class FileReference(NamedTuple):
    """A file as a spec names it.

    Attributes:
        kind: What it is of.
        asset: Name of that.
        path: Where it is, from the folder of the model on.
        rename: Has the spec name another one.
    """

    kind: str
    asset: str
    path: Path
    rename: Callable[[str], object]


def named_files(spec: mujoco.MjSpec) -> Iterator[FileReference]:
    """Yield the files that a spec names."""
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
    """Have a spec compile with its files as they were; those that still are so, MuJoCo caches."""
    spec.assets = {file.path: file.content for file in files if _stamp(file.path) != file.stamp}


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
