"""A cache of meshes whose conversion takes long, in files named by the content of their source."""

import hashlib
import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from numpy.typing import NDArray

Mesh = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float64]]
"""Vertices (n, 3), triangles (m, 3) and colour (4,), empty without one."""

_VERSION = b"1"
"""Changes with the result of conversions."""
_LIMIT_BYTES = 1024 * 1024 * 1024


def converted(content: bytes, kind: str, convert: Callable[[], Mesh]) -> Mesh:
    """Return a mesh from the cache, or else from `convert`.

    Args:
        content: Content of the file, which contains all of the mesh.
        kind: Suffix of the file.
        convert: Converts it; its errors are passed on, and not cached.
    """
    name = hashlib.sha256(b"\0".join((_VERSION, kind.encode(), content))).hexdigest()[:32]
    path = _folder() / f"{name}.npz"
    # A file that another program cut short is converted again.
    with suppress(OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        with np.load(path, allow_pickle=False) as found:
            mesh = found["vertices"], found["faces"], found["rgba"]
        os.utime(path)
        return mesh
    vertices, faces, rgba = convert()
    buffer = BytesIO()
    np.savez(buffer, vertices=vertices, faces=faces, rgba=rgba)
    with suppress(OSError):  # without the cache, the next import only takes longer
        _write(path, buffer.getvalue())
    return vertices, faces, rgba


def _folder() -> Path:
    """Return ``$XDG_CACHE_HOME/mujoco_ros/converted_meshes``."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification requires relative paths to be ignored.
    home = named if named.is_absolute() else Path("~/.cache").expanduser()
    return home / "mujoco_ros" / "converted_meshes"


def _write(path: Path, content: bytes) -> None:
    """Write a file that appears atomically, and remove the longest unused ones beyond the limit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
    files = sorted((it.stat().st_mtime, it.stat().st_size, it) for it in path.parent.glob("*.npz"))
    size = sum(length for _, length, _ in files)
    for _, length, old in files:
        if size <= _LIMIT_BYTES or old == path:
            break
        old.unlink(missing_ok=True)
        size -= length
