"""Mesh files of a URDF: paths, triangles of formats that MuJoCo lacks, and their cache."""

import hashlib
import io
import logging
import struct
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import mujoco
import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.errors import MissingAssetError, MissingFileError, UserInputError
from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.file_cache import FileCache, user_folder
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.scene.resources import is_decoded
from mujoco_ros.model.uri import resolve


class MeshData(NamedTuple):
    """Triangles, and the colour of the material with the largest area."""

    vertices: NDArray[np.float32]  # [m] (n, 3)
    faces: NDArray[np.int32]  # (m, 3)
    colour: NDArray[np.float64]  # (4,), empty without one

    @property
    def rgba(self) -> tuple[float, ...] | None:
        """Return the colour, if there is one."""
        return tuple(self.colour.tolist()) or None


_VERSION = b"2"  # changes with the result of conversions
_LIMIT_BYTES = 1024 * 1024 * 1024


def converted(content: bytes, kind: str, convert: Callable[[], MeshData]) -> MeshData:
    """Return a mesh from the cache, or else from `convert`, whose errors are not cached.

    All of the mesh is in the content of the file, whose suffix is `kind`.
    """
    name = hashlib.sha256(b"\0".join((_VERSION, kind.encode(), content))).hexdigest()[:32]
    cache = FileCache(user_folder("converted_meshes"), ".npz", _LIMIT_BYTES)
    # A file that another program cut short is converted again.
    with suppress(OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        if (path := cache.find(name)) is not None:
            with np.load(path, allow_pickle=False) as found:
                return MeshData(found["vertices"], found["faces"], found["rgba"])
    mesh, buffer = convert(), io.BytesIO()
    np.savez(buffer, vertices=mesh.vertices, faces=mesh.faces, rgba=mesh.colour)
    with suppress(OSError):  # without the cache, the next import only takes longer
        cache.write(name, buffer.getvalue())
    return mesh


if TYPE_CHECKING:
    from trimesh import Trimesh

_NATIVE = ("msh", "obj")
_CONVERTED = ("dae", "glb", "gltf", "off", "ply", "stl", "stl_ascii")
"""Formats that trimesh reads without further packages; archives, whose content may be of any size,
are not among them."""
_READ = (*_CONVERTED, "obj")
_STL_HEADER = 84
_STL_TRIANGLE = 50
_MOST_TRIANGLES = 200_000  # which MuJoCo's decoder of STL reads
_FOLDERS_ABOVE = 3  # in which a relative path is looked up
_LOGGER = logging.getLogger(__name__)

_UNTEXTURED = "0.8 0.8 0.8 1"  # colour in place of a texture


def find_mesh(
    uri: str, urdf: Path, meshdir: str = "", packages: Mapping[str, Path] | None = None
) -> Path:
    """Return the file of a URI in a URDF: ``package://``, ``file://`` or a relative path.

    A relative path can begin in a folder above the URDF, as simulators with a folder of assets
    write it; the folder of the URDF precedes. A package around the URDF need not be installed.
    `meshdir` is relative to the URDF, from the ``<mujoco><compiler>`` extension.
    """
    base = urdf.parent.resolve()
    named = [uri]
    if meshdir and "://" not in uri:
        named.append(str(Path(meshdir) / uri))
    candidates, problems = [], []
    for each in named:
        try:
            candidates.append(resolve(each, base, packages))
        except MissingFileError as error:
            problems.append(str(error))
    others = [(other, base) for each in named for other in _other_cases(each)]
    if "://" not in uri:
        others += [(uri, folder) for folder in base.parents[:_FOLDERS_ABOVE]]
    for other, folder in others:
        with suppress(UserInputError):  # there is none, or a client may not name it
            candidates.append(resolve(other, folder, packages))
    for candidate in candidates:
        if candidate.exists():
            return candidate
    if problems:
        raise MissingAssetError(f"mesh '{uri}': {problems[0]}")
    listing = "; ".join(dict.fromkeys(map(str, candidates)))
    raise MissingAssetError(f"mesh '{uri}' not found; looked for: {listing}")


def _other_cases(uri: str) -> list[str]:
    """Return a path with its suffix in lower and in upper case, as Windows finds both."""
    stem, dot, suffix = uri.rpartition(".")
    return [f"{stem}{dot}{other}" for other in (suffix.lower(), suffix.upper()) if other != suffix]


def mesh_for_engine(path: Path) -> MeshData | None:
    """Return the mesh of a file that MuJoCo does not read, with all its triangles; else None."""
    if _is_native(path):
        return None
    mesh = read_mesh(path)
    if len(mesh.faces) > _MOST_TRIANGLES and path.suffix.lower() == ".stl":
        _LOGGER.info(
            "mesh '%s' has %d triangles, more than the %d that MuJoCo reads from an STL file: they "
            "are read here, and all are kept",
            path,
            len(mesh.faces),
            _MOST_TRIANGLES,
        )
    return mesh


def embed_mesh(mesh: mujoco.MjsMesh, path: Path) -> None:
    """Write the triangles of the file of a mesh into the spec, if MuJoCo does not read the file."""
    if path.suffix.lower().removeprefix(".") not in _CONVERTED:
        return  # the compiler or an engine plugin reads it, or reports it
    if (found := mesh_for_engine(path)) is not None:
        mesh.name = mesh.name or path.stem
        mesh.file = ""
        mesh.uservert, mesh.userface = found.vertices.ravel(), found.faces.ravel()


def _is_native(path: Path) -> bool:
    """Whether MuJoCo reads the file: OBJ, MSH, binary STL up to `_MOST_TRIANGLES`, own formats."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix != "stl":
        return suffix in _NATIVE or (suffix not in _READ and is_decoded(path))
    header = read_file(path, "mesh", first=_STL_HEADER)
    if len(header) < _STL_HEADER:
        return False
    (triangles,) = struct.unpack_from("<I", header, 80)
    size = _STL_HEADER + _STL_TRIANGLE * triangles
    return triangles <= _MOST_TRIANGLES and bool(path.stat().st_size == size)


def read_mesh(path: Path) -> MeshData:
    """Read a COLLADA, glTF, PLY, OFF, STL or OBJ file as one mesh, through a cache.

    COLLADA's unit is applied and its up axis ignored, as in RViz.
    """
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in _READ:
        known = ", ".join(f".{known}" for known in sorted({*_NATIVE, *_READ} - {suffix}))
        raise UserInputError(f"mesh '{path}': '{path.suffix}' is not one of {known}")
    content = read_file(path, "mesh")
    if suffix == "gltf":  # whose mesh is in further files
        return _convert(path, content, suffix)
    return converted(content, suffix, lambda: _convert(path, content, suffix))


class _Folder:
    """The further files of a glTF file, for trimesh, which would open devices and named pipes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, uri: str) -> bytes:
        path = self._folder / unquote(uri)
        note_file(path)
        return read_file(path, "file")


def _convert(path: Path, content: bytes, suffix: str) -> MeshData:
    import trimesh  # takes a second of processor time, and few models need it

    try:
        if suffix == "dae":
            content = _with_plain_colours(content)
        files: Any = _Folder(path.parent)
        resolver = files if suffix == "gltf" else None  # other formats need no further files
        scene = trimesh.load_scene(io.BytesIO(content), file_type=suffix, resolver=resolver)
        dumped = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
        parts = [part for part in dumped if len(part.faces)]
    except ImportError as error:
        message = f"{path}: reading .{suffix} needs the Python package '{error.name}'"
        raise UserInputError(message) from error
    except UserInputError:
        raise
    # trimesh and its readers raise exceptions of any type.
    except Exception as error:
        raise UserInputError(f"{path}: cannot be read as .{suffix}: {error}") from error
    if not parts:
        raise UserInputError(f"{path}: contains no triangles")
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts]) * _metres(parts[0])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)])
    largest = max(parts, key=lambda part: float(part.area))
    colour = np.array(_main_colour(largest) or (), dtype=float)
    return MeshData(vertices.astype(np.float32), faces.astype(np.int32), colour)


def _with_plain_colours(collada: bytes) -> bytes:
    """Replace textures and malformed colours by a colour: pycollada silently drops their geometry.

    A wrong name of a texture is enough, or a missing space as in ``0.0 0.0 0.01.0``.
    """
    document = ET.fromstring(collada)
    namespace = document.tag.removesuffix("COLLADA")
    for profile in document.iter(f"{namespace}profile_COMMON"):
        for parameter in profile.findall(f"{namespace}newparam"):
            profile.remove(parameter)
        for slot in profile.iter():
            texture = slot.find(f"{namespace}texture")
            if texture is not None:
                slot.remove(texture)
                ET.SubElement(slot, f"{namespace}color").text = _UNTEXTURED
            if slot.tag == f"{namespace}color" and not _is_colour(slot.text or ""):
                slot.text = _UNTEXTURED
    return ET.tostring(document)


def _is_colour(text: str) -> bool:
    try:
        return len([float(word) for word in text.split()]) == 4
    except ValueError:
        return False


def _metres(part: "Trimesh") -> float:
    """Return the unit of the file [m], for trimesh ``"meters"`` or ``"0.01 * meters"``."""
    factor, star, _ = str(part.metadata.get("units", "")).partition(" * ")
    return float(factor) if star else 1.0


def _main_colour(part: "Trimesh") -> tuple[float, ...] | None:
    visual: Any = part.visual  # its class depends on the file
    if visual is None or visual.kind is None:
        return None
    coloured = visual.material if visual.kind == "texture" else visual
    colour = np.asarray(coloured.main_color, dtype=float)
    # COLLADA files disagree on the meaning of transparency, so alpha is ignored.
    return (*np.round(colour[:3] / 255.0, 4).tolist(), 1.0)
