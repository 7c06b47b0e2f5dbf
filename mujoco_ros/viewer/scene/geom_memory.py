"""The geoms of an abstract scene as one array, without a copy.

MuJoCo's Python module has an object for each geom, whose attributes take half a microsecond each.
"""

import ctypes
from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

_INTEGERS = (
    *("type", "dataid", "objtype", "objid", "category"),
    *("matid", "texid", "texuniform", "texcoord", "segid"),
)
GEOM = np.dtype(
    [
        *((name, "<i4") for name in _INTEGERS),
        ("size", "<f4", 3),
        ("pos", "<f4", 3),
        ("mat", "<f4", 9),
        ("rgba", "<f4", 4),
        *((name, "<f4") for name in ("emission", "specular", "shininess", "reflectance")),
        ("texrepeat", "<f4", 2),
        ("castshadow", "u1"),
        ("label", "S100"),
    ],
    align=True,
)
"""The members of ``mjvGeom`` up to its label (mjvisualize.h of MuJoCo 4.0)."""
_FIRST_ARRAY = "size"


class SceneGeoms:
    """The geoms of an `MjvScene`."""

    def __init__(self, scene: mujoco.MjvScene) -> None:
        """Find the memory of the geoms; raise `RuntimeError` with another version of MuJoCo."""
        self._scene = scene
        begin, following = (_address(geom) for geom in _two(scene))
        self._stride = following - begin
        memory = (ctypes.c_ubyte * (self._stride * scene.maxgeom)).from_address(begin)
        self._bytes = np.frombuffer(memory, np.uint8).reshape(scene.maxgeom, self._stride)
        layout: Any = {
            "names": list(GEOM.names or ()),
            "formats": [field[0] for field in (GEOM.fields or {}).values()],
            "offsets": [field[1] for field in (GEOM.fields or {}).values()],
            "itemsize": self._stride,
        }
        self._rows: np.ndarray = self._bytes.view(np.dtype(layout))[:, 0]
        _check(mujoco.MjvGeom(), self._stride)

    @property
    def rows(self) -> np.ndarray:
        """The geoms of the scene, with the fields of `GEOM`.  # (ngeom,)"""
        return self._rows[: self._scene.ngeom]

    @property
    def words(self) -> np.ndarray:
        """The same memory in words of 4 bytes.  # (ngeom, n) uint32"""
        return self._bytes.view(np.uint32)[: self._scene.ngeom]

    def append(self, geoms: Iterable[mujoco.MjvGeom]) -> None:
        """Add geoms to the scene, as many as it has room for."""
        scene, stride = self._scene, self._stride
        first = scene.ngeom
        for at, geom in zip(range(first, scene.maxgeom), geoms, strict=False):
            ctypes.memmove(self._bytes[at].ctypes.data, _address(geom), stride)
            scene.ngeom = at + 1

    def append_rows(self, rows: np.ndarray) -> None:
        """Add rows with the fields of `GEOM`, as many as the scene has room for.  # (n,)"""
        first = self._scene.ngeom
        count = min(len(rows), self._scene.maxgeom - first)
        self._rows[first : first + count] = rows[:count]
        self._scene.ngeom = first + count


def _two(scene: mujoco.MjvScene) -> tuple[mujoco.MjvGeom, mujoco.MjvGeom]:
    first, second = scene.geoms[:2]
    return first, second


def _address(geom: mujoco.MjvGeom) -> int:
    """Return the address of the struct of a geom."""
    assert GEOM.fields is not None
    return int(geom.size.__array_interface__["data"][0]) - GEOM.fields[_FIRST_ARRAY][1]


def _check(geom: mujoco.MjvGeom, stride: int) -> None:
    """Raise `RuntimeError` unless `GEOM` describes the members of `geom`."""
    mujoco.mjv_initGeom(
        geom, 2, np.arange(1.0, 4.0), np.arange(4.0, 7.0), np.arange(9.0), np.arange(4, dtype="f4")
    )
    for number, name in enumerate(_INTEGERS):
        setattr(geom, name, number + 3)
    geom.emission, geom.specular, geom.shininess, geom.reflectance = 0.5, 0.25, 0.75, 1.5
    geom.texrepeat[:] = 6.0, 7.0
    geom.castshadow, geom.label = 1, "label"
    struct = (ctypes.c_ubyte * stride).from_address(_address(geom))
    if stride < GEOM.itemsize or stride % 4:
        raise RuntimeError(f"a geom of MuJoCo {mujoco.__version__} has {stride} bytes")
    row = np.frombuffer(bytes(struct)[: GEOM.itemsize], GEOM)[0]
    for name in GEOM.names or ():
        value = getattr(geom, name)
        expected = value.encode() if isinstance(value, str) else np.ravel(value)
        if not np.array_equal(np.ravel(row[name]), np.ravel(expected)):
            raise RuntimeError(f"MuJoCo {mujoco.__version__} has another layout of geoms: {name}")
