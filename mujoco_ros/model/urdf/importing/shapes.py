"""Import of the shapes of URDF links as geoms, and of their meshes as assets."""

from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import numbered_name
from mujoco_ros.model.urdf.importing.markup import Vector
from mujoco_ros.model.urdf.importing.mesh_file import find_mesh, is_native, read_mesh
from mujoco_ros.model.urdf.importing.urdf_file import UrdfGeometry, UrdfLink

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

    def __init__(self, spec: mujoco.MjSpec, path: Path, meshdir: str) -> None:
        """Add shapes to a spec; `path` and `meshdir` are as for `find_mesh`."""
        self._spec, self._path, self._meshdir = spec, path, meshdir
        self._meshes: dict[tuple[Path, Vector], tuple[str, Vector | None]] = {}
        self._names: set[str] = set()

    def add(
        self, body: mujoco.MjsBody, link: UrdfLink, shape: UrdfGeometry, **attributes: float
    ) -> None:
        """Add a shape of a link to its body, with further attributes of the geom."""
        geom = body.add_geom(
            type=_GEOM_TYPES[shape.shape],
            pos=shape.origin.position,
            quat=shape.origin.quat_wxyz,
            **attributes,
        )
        rgba = shape.rgba
        if shape.shape == "mesh":
            geom.meshname, mesh_rgba = self._mesh(shape, link)
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

    def _mesh(self, shape: UrdfGeometry, link: UrdfLink) -> tuple[str, Vector | None]:
        """Return the name of the mesh asset, and the colour in its file."""
        try:
            path = find_mesh(shape.mesh, self._path, self._meshdir)
            key = (path, shape.size)
            if key not in self._meshes:
                self._meshes[key] = self._add_mesh(path, shape.size)
        except UserInputError as error:
            raise type(error)(f"{self._path}: link '{link.name}': {error}") from error
        return self._meshes[key]

    def _add_mesh(self, path: Path, scale: Vector) -> tuple[str, Vector | None]:
        name = numbered_name(path.stem, {mesh.name for mesh in self._spec.meshes})
        mesh = self._spec.add_mesh(name=name, scale=scale)
        # Visual meshes are often open or flat, which only this inertia accepts.
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        if is_native(path):
            mesh.file = str(path)
            return name, None
        data = read_mesh(path)
        mesh.uservert = data.vertices.ravel()
        mesh.userface = data.faces.ravel()
        return name, data.rgba
