"""Import of the shapes of URDF links as geoms, and of their meshes as assets."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import numbered_name
from mujoco_ros.model.scene.asset_snapshot import AssetFile, read_asset, restore_files
from mujoco_ros.model.scene.resources import is_provided, path_of, read_resource, with_suffix
from mujoco_ros.model.urdf.importing.markup import Vector
from mujoco_ros.model.urdf.importing.mesh_file import find_mesh, mesh_for_engine
from mujoco_ros.model.urdf.importing.urdf_file import UrdfGeometry, UrdfLink

WATER = 1000.0
"""Density in kg/m³; also MuJoCo's default for shapes."""

_LEAST_MOMENT = 1e-12  # kg·m²; MuJoCo rejects smaller ones


def corrected(tensor: NDArray[np.float64], mass: float) -> tuple[NDArray[np.float64], str, str]:
    """Return the nearest physically possible inertia, the fault, and its principal moments.

    The symmetric tensor is about the centre of mass [kg·m²] (3, 3), the mass positive [kg]. The
    fault is empty up to rounding.
    """
    moments, axes = np.linalg.eigh(tensor)
    given = moments.copy()
    slack = 1e-6 * float(np.abs(moments).max())
    fault = ""
    # Smaller than the inertia of the mass at 1 µm from the centre: a point mass.
    if np.abs(moments).max() < 1e-12 * mass:
        radius = (0.75 * mass / (np.pi * WATER)) ** (1 / 3)
        moments[:] = 0.4 * mass * radius**2
        fault = "mass without inertia, which get the inertia of a ball of water"
    else:
        excess = moments[2] - max(moments[0], 0.0) - max(moments[1], 0.0)
        if moments[0] < -slack or excess > slack:
            fault = "an impossible inertia, whose smaller principal moments are raised"
        moments = np.maximum(moments, 0.0)
        # A plate has A + B = C exactly, which MuJoCo must not reject after rounding.
        moments[:2] += max(excess / 2 + 1e-3 * slack, 0.0)
    moments = np.maximum(moments, _LEAST_MOMENT)
    before, after = (" ".join(f"{moment:.3g}" for moment in each) for each in (given, moments))
    numbers = f"{mass:.3g} kg, {before} becomes {after} kg m²"
    return axes @ np.diag(moments) @ axes.T, fault, numbers


_GREY = (0.5, 0.5, 0.5, 1.0)
_GEOM_TYPES = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}


class ImportedShapes:
    """Adds shapes to bodies; shapes share the asset of a mesh file."""

    def __init__(
        self, spec: mujoco.MjSpec, path: Path, meshdir: str, packages: Mapping[str, Path] | None
    ) -> None:
        """Add shapes to a spec; the other arguments are as for `find_mesh`."""
        self._spec, self._path = spec, path
        self._find = cache(
            lambda uri: self._provided(uri) or find_mesh(uri, path, meshdir, packages)
        )
        self._meshes: dict[tuple[Path, Vector, bool], tuple[str, Vector | None]] = {}
        self._names: set[str] = set()
        self._files: list[AssetFile] = []
        self._uris: dict[Path, str] = {}  # of what providers of the engine deliver

    def restore_files(self) -> None:
        """Make the spec compile with the files of its meshes as they were read."""
        restore_files(self._spec, self._files)

    def add(
        self,
        body: mujoco.MjsBody,
        link: UrdfLink,
        shape: UrdfGeometry,
        *,
        density: float = 0.0,
        **attributes: float,
    ) -> None:
        """Add a shape of a link to its body; a mesh with a density [kg/m³] is solid."""
        geom = body.add_geom(
            type=_GEOM_TYPES[shape.shape],
            pos=shape.origin.position,
            quat=shape.origin.quat_wxyz,
            density=density,
            **attributes,
        )
        rgba = shape.rgba
        if shape.shape == "mesh":
            geom.meshname, mesh_rgba = self._mesh(shape, link, solid=density > 0)
            rgba = rgba or mesh_rgba
        elif shape.shape == "box":
            geom.size = np.array(shape.size) / 2
        else:
            radius, *length = shape.size
            geom.size = [radius, length[0] / 2 if length else 0.0, 0.0]
        geom.rgba = rgba or _GREY
        if shape.name not in self._names:
            geom.name = shape.name
            self._names.add(shape.name)

    def _mesh(
        self, shape: UrdfGeometry, link: UrdfLink, *, solid: bool
    ) -> tuple[str, Vector | None]:
        """Return the name of the mesh asset, and the colour in its file."""
        try:
            path = self._find(shape.mesh)
            key = (path, shape.size, solid)
            if key not in self._meshes:
                self._meshes[key] = self._add_mesh(*key)
        except UserInputError as error:
            raise type(error)(f"{self._path}: link '{link.name}': {error}") from error
        return self._meshes[key]

    def _provided(self, uri: str) -> Path | None:
        """Return a path for the content of a URI that a provider of the engine delivers."""
        if not is_provided(uri):
            return None
        read_resource(uri)  # an error names the link
        path = Path(path_of(uri))
        self._uris[path] = uri
        return path

    def _add_mesh(self, path: Path, scale: Vector, solid: bool) -> tuple[str, Vector | None]:
        name = numbered_name(path.stem, {mesh.name for mesh in self._spec.meshes})
        uri = self._uris.get(path, "")
        content: dict[str, Any] = {"file": with_suffix(uri) or str(path)}
        rgba = None
        files: list[AssetFile] = []
        data = None if uri else mesh_for_engine(path)
        if data is None:
            files = [] if uri else [read_asset(path, "mesh")]
        else:
            content = {"uservert": data.vertices.ravel(), "userface": data.faces.ravel()}
            rgba = data.rgba
        # Visual meshes are often open or flat, which only this inertia accepts.
        inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        if solid:
            inertia = _solid_inertia(path, files, scale=scale, **content)
        self._files += files
        self._spec.add_mesh(name=name, scale=scale, inertia=inertia, **content)
        return name, rgba


def _solid_inertia(path: Path, files: list[AssetFile], **content: Any) -> mujoco.mjtMeshInertia:
    """Return how MuJoCo computes the mass of a solid mesh: exactly if closed, else of its hull."""
    kinds = mujoco.mjtMeshInertia
    found = None
    for inertia in (kinds.mjMESH_INERTIA_CONVEX, kinds.mjMESH_INERTIA_EXACT):
        trial = mujoco.MjSpec()
        restore_files(trial, files)
        trial.add_mesh(name="mesh", inertia=inertia, **content)
        body = trial.worldbody.add_body()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh", density=WATER)
        body.add_freejoint()
        try:
            model = trial.compile()
        except (ValueError, mujoco.FatalError):
            break
        found = inertia
        if not _is_closed(model.mesh_vert, model.mesh_face):
            break
    if found is None:
        raise UserInputError(f"mesh '{path}' has no volume; give the link an <inertial>")
    return found


def _is_closed(vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> bool:
    """Whether each edge of a triangle is the reverse edge of another; vertices may repeat."""
    _, merged = np.unique(vertices, axis=0, return_inverse=True)
    corners = merged.reshape(-1)[faces]
    first, second = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    count = len(vertices)
    return np.array_equal(np.sort(first * count + second), np.sort(second * count + first))
