"""The parts of a URDF link, written from a compiled model: origins, inertials, shapes, colours."""

import logging
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mujoco_ros.model.urdf.pose import Pose

_LOGGER = logging.getLogger(__name__)

_GEOM = mujoco.mjtGeom
_GREY = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default rgba, which a material replaces
_VISIBLE_GROUPS = 3  # the viewer shows groups 0, 1 and 2


def text(values: ArrayLike, digits: int = 9) -> str:
    """Write numbers with `digits` significant digits, and what is below 1e-12 as 0.

    Rounding hides the last bits, in which two machines compiling one model differ.
    """
    rounded = np.round(np.atleast_1d(np.asarray(values, dtype=float)), 12) + 0.0
    return " ".join(f"{value:.{digits}g}" for value in rounded)


def add_origin(parent: ET.Element, pose: Pose) -> None:
    """Add ``<origin>`` unless the pose is the identity."""
    # Rounding settles the sign of zeros, so that a half turn is always +pi.
    mat = np.round(pose.mat, 12) + 0.0
    level = math.hypot(mat[0, 0], mat[1, 0])
    pitch = math.atan2(-mat[2, 0], level)
    if level > 1e-8:
        roll, yaw = math.atan2(mat[2, 1], mat[2, 2]), math.atan2(mat[1, 0], mat[0, 0])
    else:
        roll, yaw = math.atan2(-mat[1, 2], mat[1, 1]), 0.0
    xyz, rpy = text(pose.pos), text((roll, pitch, yaw))
    if (xyz, rpy) != ("0 0 0", "0 0 0"):
        ET.SubElement(parent, "origin", xyz=xyz, rpy=rpy)


def add_inertial(link: ET.Element, model: mujoco.MjModel, body: int) -> None:
    """Add ``<inertial>``, its tensor in the axes of the link, unless the body has no mass."""
    mass = float(model.body_mass[body])
    if mass == 0:
        return
    frame = Pose.of(model.body_ipos[body], model.body_iquat[body]).mat
    tensor = frame @ np.diag(model.body_inertia[body]) @ frame.T
    # What rotation and rounding leave beside the diagonal.
    tensor[np.abs(tensor) < 1e-12 * np.trace(tensor)] = 0.0
    inertial = ET.SubElement(link, "inertial")
    add_origin(inertial, Pose.of(model.body_ipos[body]))
    ET.SubElement(inertial, "mass", value=text(mass))
    entries = {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }
    ET.SubElement(
        inertial, "inertia", {key: f"{tensor[index]:.9g}" for key, index in entries.items()}
    )


class Shapes:
    """Writes the geoms of a model as URDF shapes and collects the colours they use."""

    def __init__(
        self, model: mujoco.MjModel, mesh_uri: Callable[[Path], str], strip: Callable[[str], str]
    ) -> None:
        """Prepare for `model`.

        Args:
            model: The compiled model.
            mesh_uri: Gives the URI to write for a mesh file.
            strip: Takes the robot's prefix off a name.
        """
        self._model = model
        self._mesh_uri = mesh_uri
        self._strip = strip
        self._colours: dict[tuple[str, str], str] = {}  # (material, rgba) -> name
        self._skipped: dict[str, list[str]] = {}

    def add(self, link: ET.Element, body: int) -> None:
        """Add the visuals, then the collisions of a body."""
        model = self._model
        start = int(model.body_geomadr[body])
        geoms = range(start, start + int(model.body_geomnum[body]))
        for geom in geoms:
            visible = model.geom_group[geom] < _VISIBLE_GROUPS and self._rgba(geom)[1][3] > 0
            if visible:
                self._add_geom(link, "visual", geom)
        for geom in geoms:
            if model.geom_contype[geom] | model.geom_conaffinity[geom]:
                self._add_geom(link, "collision", geom)

    def materials(self) -> list[ET.Element]:
        """Return the ``<material>`` definitions the visuals refer to."""
        elements = []
        for (_, rgba), name in self._colours.items():
            material = ET.Element("material", name=name)
            ET.SubElement(material, "color", rgba=rgba)
            elements.append(material)
        return elements

    def report(self) -> None:
        """Log the geoms that URDF cannot express."""
        for what, names in self._skipped.items():
            _LOGGER.warning("URDF export: left out %s: %s", what, ", ".join(names))

    def _add_geom(self, link: ET.Element, tag: str, geom: int) -> None:
        pose = Pose.of(self._model.geom_pos[geom], self._model.geom_quat[geom])
        name = self._strip(self._model.geom(geom).name)
        for offset, shape, attributes in self._forms(geom, name or f"a geom of {link.get('name')}"):
            element = ET.SubElement(link, tag, {"name": name} if name else {})
            add_origin(element, pose @ offset)
            ET.SubElement(ET.SubElement(element, "geometry"), shape, attributes)
            if tag == "visual":
                ET.SubElement(element, "material", name=self._colour(geom))
            name = ""  # of a shape in several parts, the first has the name

    def _forms(self, geom: int, name: str) -> Iterable[tuple[Pose, str, dict[str, str]]]:
        """Return the URDF shapes that make up a geom, each with its pose in the geom's frame."""
        kind = _GEOM(self._model.geom_type[geom])
        size = self._model.geom_size[geom]
        here = Pose.of()
        if kind == _GEOM.mjGEOM_BOX:
            return [(here, "box", {"size": text(2 * size)})]
        if kind == _GEOM.mjGEOM_SPHERE:
            return [(here, "sphere", {"radius": text(size[0])})]
        if kind in (_GEOM.mjGEOM_CYLINDER, _GEOM.mjGEOM_CAPSULE):
            forms = [(here, "cylinder", {"radius": text(size[0]), "length": text(2 * size[1])})]
            if kind == _GEOM.mjGEOM_CAPSULE:
                forms += [
                    (Pose.of((0, 0, end)), "sphere", {"radius": text(size[0])})
                    for end in (size[1], -size[1])
                ]
            return forms
        if kind == _GEOM.mjGEOM_MESH:
            return self._mesh_forms(int(self._model.geom_dataid[geom]), name)
        what = f"{kind.name.removeprefix('mjGEOM_').lower()} geoms, which URDF has not"
        self._skip(what, name)
        return []

    def _mesh_forms(self, mesh: int, name: str) -> Iterable[tuple[Pose, str, dict[str, str]]]:
        model = self._model
        address = int(model.mesh_pathadr[mesh])
        if address < 0:
            self._skip("meshes without a file", name)
            return []
        path = Path(model.paths[address : model.paths.index(b"\0", address)].decode()).resolve()
        attributes = {"filename": self._mesh_uri(path)}
        if (model.mesh_scale[mesh] != 1).any():
            attributes["scale"] = text(model.mesh_scale[mesh])
        # The compiler moved the vertices into the mesh's inertial frame, unlike the file's.
        return [
            (Pose.of(model.mesh_pos[mesh], model.mesh_quat[mesh]).inverse(), "mesh", attributes)
        ]

    def _skip(self, what: str, name: str) -> None:
        names = self._skipped.setdefault(what, [])
        if name not in names:
            names.append(name)

    def _rgba(self, geom: int) -> tuple[str, NDArray[np.float32]]:
        """Return the material's name, if it decides, and the colour that the renderer shows."""
        own = self._model.geom_rgba[geom]
        material = int(self._model.geom_matid[geom])
        if material >= 0 and np.allclose(own, _GREY):
            return self._strip(self._model.mat(material).name), self._model.mat_rgba[material]
        return "", own

    def _colour(self, geom: int) -> str:
        material, values = self._rgba(geom)
        rgba = text(values, digits=6)
        if (material, rgba) not in self._colours:
            digits = "".join(f"{round(255 * float(value)):02x}" for value in values)
            self._colours[material, rgba] = material or f"rgba_{digits}"
        return self._colours[material, rgba]
