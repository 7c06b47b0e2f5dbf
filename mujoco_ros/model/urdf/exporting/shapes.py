"""Export of geoms as shapes, colours, origins and inertials of URDF."""

import logging
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.exporting import meshes

_LOGGER = logging.getLogger(__name__)


def number_text(values: ArrayLike, digits: int = 12) -> str:
    """Return numbers as text with `digits` significant digits, and 0 below 1e-12.

    Rounding hides the last bits, which differ between machines.
    """
    numbers = np.asarray(values, dtype=float).ravel().tolist()
    # As np.round, which takes longer for so few numbers.
    return " ".join(f"{round(number * 1e12) / 1e12 + 0.0:.{digits}g}" for number in numbers)


def add_origin(parent: ET.Element, pose: Pose) -> None:
    """Add ``<origin>`` unless the pose is the identity."""
    # Rounding removes the sign of zeros, so that a half turn is always +pi.
    mat = np.round(pose.matrix, 12) + 0.0
    level = math.hypot(mat[0, 0], mat[1, 0])
    pitch = math.atan2(-mat[2, 0], level)
    if level > 1e-8:
        roll, yaw = math.atan2(mat[2, 1], mat[2, 2]), math.atan2(mat[1, 0], mat[0, 0])
    else:
        roll, yaw = math.atan2(-mat[1, 2], mat[1, 1]), 0.0
    xyz, rpy = number_text(pose.position), number_text((roll, pitch, yaw))
    if (xyz, rpy) != ("0 0 0", "0 0 0"):
        ET.SubElement(parent, "origin", xyz=xyz, rpy=rpy)


def add_inertial(link: ET.Element, model: mujoco.MjModel, body: int) -> None:
    """Add ``<inertial>`` in the axes of the link, unless the body has no mass."""
    mass = float(model.body_mass[body])
    if mass == 0:
        return
    frame = Pose(position=model.body_ipos[body], quat_wxyz=model.body_iquat[body]).matrix
    tensor = frame @ np.diag(model.body_inertia[body]) @ frame.T
    # The last digits depend on the processor; `+ 0.0` turns -0 into 0.
    if trace := np.trace(tensor):
        tensor = np.round(tensor, 12 - math.ceil(math.log10(trace))) + 0.0
    inertial = ET.SubElement(link, "inertial")
    add_origin(inertial, Pose(position=model.body_ipos[body]))
    ET.SubElement(inertial, "mass", value=number_text(mass))
    entries = {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }
    ET.SubElement(
        inertial, "inertia", {key: f"{tensor[index]:.12g}" for key, index in entries.items()}
    )


_GEOM = mujoco.mjtGeom
_GREY = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default rgba, which a material overrides
_VISIBLE_GROUPS = 3  # the viewer shows groups 0, 1 and 2
_SHEET_M = 1e-3  # thickness of the box that is drawn for a plane
_UNBOUNDED_M = 20.0  # how far a plane without bounds is drawn to each side


class _Form(NamedTuple):
    """A shape of URDF with its pose in the geom."""

    pose: Pose
    shape: str
    attributes: dict[str, str]


class ExportedShapes:
    """Writes geoms as URDF shapes and collects their colours."""

    def __init__(
        self,
        model: mujoco.MjModel,
        mesh_uri: Callable[[Path], str],
        mesh_cache: meshes.MeshCache | None,
        strip: Callable[[str], str],
    ) -> None:
        self._model = model
        self._mesh_uri = mesh_uri
        self._mesh_cache = mesh_cache
        self._strip = strip
        self._colours: dict[tuple[str, str], str] = {}  # (material, rgba) -> name
        self._materials: dict[int, NDArray[np.float64]] = {}  # material -> rgba
        self._is_grey = np.isclose(model.geom_rgba, _GREY).all(axis=1)  # (ngeom,)
        self._forms: dict[int, Sequence[_Form]] = {}  # geom -> its shapes
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
        """Return the ``<material>`` elements of the visuals."""
        elements = []
        for (_, rgba), name in self._colours.items():
            material = ET.Element("material", name=name)
            ET.SubElement(material, "color", rgba=rgba)
            elements.append(material)
        return elements

    def report(self) -> None:
        """Log the geoms that were left out."""
        for what, names in self._skipped.items():
            _LOGGER.warning("URDF export: left out %s: %s", what, ", ".join(names))

    def _add_geom(self, link: ET.Element, tag: str, geom: int) -> None:
        kind = _GEOM(self._model.geom_type[geom])
        pose = Pose(position=self._model.geom_pos[geom], quat_wxyz=self._model.geom_quat[geom])
        name = self._strip(self._model.geom(geom).name)
        where = name or f"a geom of {link.get('name')}"
        if tag == "collision" and kind in _ONE_SIDED:
            self._skip(f"collisions of {_noun(kind)}, which URDF does not have", where)
            return
        if geom not in self._forms:
            self._forms[geom] = _FORMS[kind](self, geom, where)
        for form in self._forms[geom]:
            element = ET.SubElement(link, tag, {"name": name} if name else {})
            add_origin(element, pose @ form.pose)
            ET.SubElement(ET.SubElement(element, "geometry"), form.shape, form.attributes)
            if tag == "visual":
                ET.SubElement(element, "material", name=self._colour(geom))
            name = ""  # only the first shape of a geom has the name

    def _box(self, geom: int, _where: str) -> Sequence[_Form]:
        return [_Form(Pose(), "box", {"size": number_text(2 * self._model.geom_size[geom])})]

    def _sphere(self, geom: int, _where: str) -> Sequence[_Form]:
        return [_ball(self._model.geom_size[geom][0])]

    def _cylinder(self, geom: int, _where: str) -> Sequence[_Form]:
        radius, half, _ = self._model.geom_size[geom]
        attributes = {"radius": number_text(radius), "length": number_text(2 * half)}
        return [_Form(Pose(), "cylinder", attributes)]

    def _capsule(self, geom: int, where: str) -> Sequence[_Form]:
        radius, half, _ = self._model.geom_size[geom]
        balls = [_ball(radius, (0, 0, end)) for end in (half, -half)]
        return [*self._cylinder(geom, where), *balls]

    def _ellipsoid(self, geom: int, where: str) -> Sequence[_Form]:
        scale = self._model.geom_size[geom]
        return self._written(meshes.unit_sphere, _noun(_GEOM.mjGEOM_ELLIPSOID), where, scale)

    def _plane(self, geom: int, _where: str) -> Sequence[_Form]:
        x, y = (float(half) or _UNBOUNDED_M for half in self._model.geom_size[geom][:2])
        attributes = {"size": number_text((2 * x, 2 * y, _SHEET_M))}
        return [_Form(Pose(position=np.array((0, 0, -_SHEET_M / 2))), "box", attributes)]

    def _height_field(self, geom: int, where: str) -> Sequence[_Form]:
        model, field = self._model, int(self._model.geom_dataid[geom])
        noun = _noun(_GEOM.mjGEOM_HFIELD)
        return self._written(lambda: meshes.height_field_triangles(model, field), noun, where)

    def _mesh(self, geom: int, where: str) -> Sequence[_Form]:
        model, mesh = self._model, int(self._model.geom_dataid[geom])
        path = meshes.mesh_file(model, mesh)
        # A missing file may exist where the URDF is read.
        replaceable = path is not None and (self._mesh_cache is not None or path.is_file())
        if path is not None and (meshes.equals_file(model, mesh, path) or not replaceable):
            attributes = {"filename": self._mesh_uri(path)}
            if (model.mesh_scale[mesh] != 1).any():
                attributes["scale"] = number_text(model.mesh_scale[mesh])
            return [_Form(meshes.file_pose(model, mesh), "mesh", attributes)]
        what = "meshes without a file" if path is None else "meshes that differ from their files"
        return self._written(lambda: meshes.mesh_triangles(model, mesh), what, where)

    def _written(
        self,
        triangles: Callable[[], meshes.Triangles],
        what: str,
        where: str,
        scale: ArrayLike = (1.0, 1.0, 1.0),
    ) -> Sequence[_Form]:
        """Return triangles as a mesh of the cache; without a cache, report them as left out."""
        path = None if self._mesh_cache is None else self._mesh_cache.store(triangles().stl())
        if path is None:
            self._skip(what, where)
            return []
        attributes = {"filename": self._mesh_uri(path)}
        if not np.array_equal(scale, (1.0, 1.0, 1.0)):
            attributes["scale"] = number_text(scale)
        return [_Form(Pose(), "mesh", attributes)]

    def _skip(self, what: str, name: str) -> None:
        names = self._skipped.setdefault(what, [])
        if name not in names:
            names.append(name)

    def _rgba(self, geom: int) -> tuple[str, NDArray[np.float64]]:
        """Return the name of the applied material, or "", and the rendered colour."""
        own = self._model.geom_rgba[geom]
        material = int(self._model.geom_matid[geom])
        if material >= 0 and self._is_grey[geom]:
            if material not in self._materials:
                self._materials[material] = material_rgba(self._model, material)
            return self._strip(self._model.mat(material).name), self._materials[material]
        return "", own

    def _colour(self, geom: int) -> str:
        material, values = self._rgba(geom)
        rgba = number_text(values, digits=6)
        if (material, rgba) not in self._colours:
            digits = "".join(f"{round(255 * float(value)):02x}" for value in values)
            self._colours[material, rgba] = material or f"rgba_{digits}"
        return self._colours[material, rgba]


def material_rgba(model: mujoco.MjModel, material: int) -> NDArray[np.float64]:
    """Return the colour of a material, times the mean of its texture."""
    rgba = np.array(model.mat_rgba[material], dtype=float)
    texture = int(model.mat_texid[material, int(mujoco.mjtTextureRole.mjTEXROLE_RGB)])
    if texture >= 0:
        channels = int(model.tex_nchannel[texture])
        first = int(model.tex_adr[texture])
        count = int(model.tex_height[texture]) * int(model.tex_width[texture])
        pixels = model.tex_data[first : first + count * channels].reshape(count, channels)
        # A texture of one channel is grey: it broadcasts.
        rgba[:3] *= np.broadcast_to(pixels[:, :3].mean(axis=0) / 255, 3)
    return rgba


def _ball(radius: float, centre: ArrayLike = (0.0, 0.0, 0.0)) -> _Form:
    return _Form(
        Pose(position=np.array(centre, dtype=float)), "sphere", {"radius": number_text(radius)}
    )


def _noun(kind: mujoco.mjtGeom) -> str:
    return {
        _GEOM.mjGEOM_PLANE: "planes",
        _GEOM.mjGEOM_HFIELD: "height fields",
        _GEOM.mjGEOM_ELLIPSOID: "ellipsoids",
    }[kind]


_ONE_SIDED = (_GEOM.mjGEOM_PLANE, _GEOM.mjGEOM_HFIELD)
"""Surfaces that push bodies to one side at any depth, which no solid URDF shape does."""

_FORMS: dict[mujoco.mjtGeom, Callable[[ExportedShapes, int, str], Sequence[_Form]]] = {
    _GEOM.mjGEOM_PLANE: ExportedShapes._plane,
    _GEOM.mjGEOM_HFIELD: ExportedShapes._height_field,
    _GEOM.mjGEOM_SPHERE: ExportedShapes._sphere,
    _GEOM.mjGEOM_CAPSULE: ExportedShapes._capsule,
    _GEOM.mjGEOM_ELLIPSOID: ExportedShapes._ellipsoid,
    _GEOM.mjGEOM_CYLINDER: ExportedShapes._cylinder,
    _GEOM.mjGEOM_BOX: ExportedShapes._box,
    _GEOM.mjGEOM_MESH: ExportedShapes._mesh,
    _GEOM.mjGEOM_SDF: ExportedShapes._mesh,
}
"""Exporting method of each type of geom."""
