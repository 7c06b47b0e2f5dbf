"""A cache of meshes whose conversion takes long, in files named by the content of their source."""

import hashlib
import zipfile
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.file_cache import FileCache, user_folder

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
    cache = FileCache(user_folder("converted_meshes"), ".npz", _LIMIT_BYTES)
    # A file that another program cut short is converted again.
    with suppress(OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        if (path := cache.find(name)) is not None:
            with np.load(path, allow_pickle=False) as found:
                return found["vertices"], found["faces"], found["rgba"]
    vertices, faces, rgba = convert()
    buffer = BytesIO()
    np.savez(buffer, vertices=vertices, faces=faces, rgba=rgba)
    with suppress(OSError):  # without the cache, the next import only takes longer
        cache.write(name, buffer.getvalue())
    return vertices, faces, rgba
