"""A URDF file as checked data: names exist, numbers are finite, links form one tree."""

import logging
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.pose import Pose, PoseConfig, quaternion_wxyz
from mujoco_ros.model.scene.limits import MAX_LINK_DEPTH, MAX_LINKS, check_count, too_large
from mujoco_ros.model.urdf.importing.markup import (
    Vector,
    attribute,
    name_of,
    number,
    numbers,
    parse_robot,
    required,
    scale,
)

SCALAR_TYPES = ("revolute", "continuous", "prismatic")
"""Joint types with a scalar position."""

JOINT_TYPES = (*SCALAR_TYPES, "fixed", "floating", "planar", "spherical")
"""URDF's joint types, and ``spherical``, an extension for ball joints by MuJoCo and Bullet."""

Drive = Literal["motor", "velocity", "none"]
"""Drive of a joint: a torque motor, a servo that takes velocities, or none."""

HARDWARE = ("ros2_control", "transmission", "gazebo", "mujoco_inputs")
"""Elements that declare drives and sensors, also of other simulators."""

_LOGGER = logging.getLogger(__name__)
_LEAST_M = 0.001  # size of shapes, which MuJoCo requires to be positive
_SHAPES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class UrdfInertial:
    """Mass [kg] and inertia about the centre of mass, in the frame `origin` [kg·m²]."""

    origin: Pose
    mass: float
    inertia: np.ndarray  # (3, 3)


@dataclass(frozen=True, kw_only=True, slots=True)
class UrdfGeometry:
    """A visual or collision element.

    `size` is as in URDF: box edges, radius, or radius and length [m]; the scale of a mesh.
    `mesh` is the URI of a mesh. `rgba` is None without a colour.
    """

    name: str
    origin: Pose
    shape: str
    size: Vector
    mesh: str
    rgba: Vector | None


@dataclass(frozen=True, kw_only=True, slots=True)
class UrdfLink:
    """A link; `inertial` is None without mass."""

    name: str
    inertial: UrdfInertial | None
    visuals: tuple[UrdfGeometry, ...]
    collisions: tuple[UrdfGeometry, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class UrdfMimic:
    """q = multiplier · q(joint) + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, kw_only=True, slots=True)
class UrdfJoint:
    """A joint; limits are None where the file has none, or a zero effort or velocity."""

    name: str
    type: str
    parent: str
    child: str
    origin: Pose
    axis: Vector
    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None
    damping: float
    friction: float
    armature: float | None
    mimic: UrdfMimic | None
    drive: Drive = "motor"


@dataclass(frozen=True, kw_only=True, slots=True)
class Urdf:
    """A robot.

    `child_joints` has the joints below each link, `mujoco` the content of the extension, and
    `hardware` the elements that declare drives and sensors.
    """

    path: Path
    name: str
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]
    child_joints: dict[str, list[UrdfJoint]]
    root: str
    mujoco: ET.Element
    hardware: tuple[ET.Element, ...] = ()

    def with_joints(self, joints: dict[str, UrdfJoint]) -> "Urdf":
        """Return the robot with other joints of the same names and links."""
        below = {link: [joints[it.name] for it in its] for link, its in self.child_joints.items()}
        return replace(self, joints=joints, child_joints=below)

    def depth_first(self) -> Iterator[tuple[UrdfJoint | None, UrdfLink]]:
        """Yield each link after its parent, with the joint between them; None for the root link."""
        stack: list[tuple[UrdfJoint | None, str]] = [(None, self.root)]
        while stack:
            joint, name = stack.pop()
            yield joint, self.links[name]
            stack += [(below, below.child) for below in reversed(self.child_joints[name])]


Named = TypeVar("Named", UrdfLink, UrdfJoint)


def read_urdf(path: Path, text: str | None = None) -> Urdf:
    """Read and check a URDF file, or `text` in its place."""
    robot = parse_robot(path, text)
    colours = _colours(robot, str(path))
    elements = robot.findall("link")
    check_count("links", elements, MAX_LINKS, str(path))
    links = _by_name("link", (_link(element, colours, str(path)) for element in elements), path)
    if not links:
        raise UserInputError(f"{path}: the robot has no link")
    joints = _by_name(
        "joint", (_joint(element, str(path)) for element in robot.findall("joint")), path
    )
    root, below = _tree(links, joints, str(path))
    for joint in joints.values():
        _check_mimic(joint, joints, str(path))
    extension = ET.Element("mujoco")
    for element in robot.findall("mujoco"):
        extension.extend(element)
    return Urdf(
        path=path,
        name=robot.get("name", path.stem),
        links=links,
        joints=joints,
        child_joints=below,
        root=root,
        mujoco=extension,
        hardware=tuple(element for element in robot if element.tag in HARDWARE),
    )


def _by_name(kind: str, elements: Iterable[Named], path: Path) -> dict[str, Named]:
    found: dict[str, Named] = {}
    for element in elements:
        if found.setdefault(element.name, element) is not element:
            raise UserInputError(f"{path}: two {kind}s are named '{element.name}'")
    return found


def _origin(parent: ET.Element, where: str) -> Pose:
    element = parent.find("origin")
    zero = (0.0, 0.0, 0.0)
    xyz = np.array(numbers(element, "xyz", 3, where, zero))
    roll, pitch, yaw = numbers(element, "rpy", 3, where, zero)
    return Pose(position=xyz, quat_wxyz=quaternion_wxyz(PoseConfig(rpy=(roll, pitch, yaw))))


def _colours(robot: ET.Element, where: str) -> dict[str, Vector]:
    """Return the named colours of the whole file; the first one of each name is used."""
    colours: dict[str, Vector] = {}
    for material in robot.iter("material"):
        colour = material.find("color")
        name = material.get("name", "")
        if colour is not None and name:
            rgba = numbers(colour, "rgba", 4, f"{where}: material '{name}'")
            colours.setdefault(name, rgba)
    return colours


def _link(element: ET.Element, colours: dict[str, Vector], path: str) -> UrdfLink:
    name = name_of(element, path)
    where = f"{path}: link '{name}'"
    return UrdfLink(
        name=name,
        inertial=_inertial(element, where),
        visuals=tuple(_geometry(e, colours, where) for e in element.findall("visual")),
        collisions=tuple(_geometry(e, colours, where) for e in element.findall("collision")),
    )


def _inertial(link: ET.Element, where: str) -> UrdfInertial | None:
    element = link.find("inertial")
    if element is None:
        return None
    mass = number(required(element, "mass", where), "value", where)
    if mass < 0:
        raise UserInputError(f"{where}: its mass is negative: {mass:g} kg")
    inertia = element.find("inertia")
    ixx = iyy = izz = ixy = ixz = iyz = 0.0  # which the import reports and corrects
    if inertia is not None:
        ixx, iyy, izz = (number(inertia, key, where) for key in ("ixx", "iyy", "izz"))
        ixy, ixz, iyz = (number(inertia, key, where, 0.0) for key in ("ixy", "ixz", "iyz"))
    if mass == 0:
        if any((ixx, iyy, izz)):
            _LOGGER.warning("%s: its inertia is ignored, because it has no mass", where)
        return None
    tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    return UrdfInertial(origin=_origin(element, where), mass=mass, inertia=tensor)


def _geometry(element: ET.Element, colours: dict[str, Vector], link: str) -> UrdfGeometry:
    where = f"{link}: {element.tag}"
    geometry = required(element, "geometry", where)
    mesh = ""
    for shape, attributes in _SHAPES.items():
        form = geometry.find(shape)
        if form is not None:
            size = tuple(x for key, count in attributes for x in numbers(form, key, count, where))
            if min(size) < 0:
                raise UserInputError(f"{where}: the sizes of a {shape} must not be negative")
            if min(size) == 0:  # a point that touches the ground, or a sheet
                _LOGGER.warning("%s: a size of 0 of a %s becomes %g m", where, shape, _LEAST_M)
                size = tuple(length or _LEAST_M for length in size)
            break
    else:
        shape, form = "mesh", geometry.find("mesh")
        if form is None:
            found = ", ".join(f"<{child.tag}>" for child in geometry) or "nothing"
            known = ", ".join([*_SHAPES, "mesh"])
            raise UserInputError(f"{where}: <geometry> contains {found}; known shapes are {known}")
        size = scale(form, where)
        mesh = attribute(form, "filename", where)
    return UrdfGeometry(
        name=element.get("name", ""),
        origin=_origin(element, where),
        shape=shape,
        size=size,
        mesh=mesh,
        rgba=_rgba(element, colours, where),
    )


def _rgba(element: ET.Element, colours: dict[str, Vector], where: str) -> Vector | None:
    material = element.find("material")
    if material is None:
        return None
    colour = material.find("color")
    if colour is not None:
        return numbers(colour, "rgba", 4, where)
    return colours.get(material.get("name", ""))


def _joint(element: ET.Element, path: str) -> UrdfJoint:
    name = name_of(element, path)
    where = f"{path}: joint '{name}'"
    kind = element.get("type", "")
    if kind not in JOINT_TYPES:
        raise unknown("type", kind, JOINT_TYPES, where=where)
    axis = numbers(element.find("axis"), "xyz", 3, where, (1.0, 0.0, 0.0))
    if kind not in ("fixed", "floating") and math.hypot(*axis) < 1e-9:
        raise UserInputError(f"{where}: its axis is zero")
    limit, dynamics, mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
    lower = upper = None
    # URDF: the default of a missing bound is zero.
    if limit is not None and kind != "continuous" and {"lower", "upper"} & set(limit.keys()):
        lower = number(limit, "lower", where, 0.0)
        upper = number(limit, "upper", where, 0.0)
        if lower > upper:
            raise UserInputError(
                f"{where}: its lower limit {lower:g} exceeds the upper one {upper:g}"
            )
    return UrdfJoint(
        name=name,
        type=kind,
        parent=required(element, "parent", where).get("link", ""),
        child=required(element, "child", where).get("link", ""),
        origin=_origin(element, where),
        axis=axis,
        lower=lower,
        upper=upper,
        effort=abs(number(limit, "effort", where, 0.0)) or None,
        velocity=abs(number(limit, "velocity", where, 0.0)) or None,
        damping=number(dynamics, "damping", where, 0.0),
        friction=number(dynamics, "friction", where, 0.0),
        armature=None
        if dynamics is None or dynamics.get("armature") is None
        else number(dynamics, "armature", where),
        mimic=None
        if mimic is None
        else UrdfMimic(
            joint=mimic.get("joint", ""),
            multiplier=number(mimic, "multiplier", where, 1.0),
            offset=number(mimic, "offset", where, 0.0),
        ),
    )


def _tree(
    links: dict[str, UrdfLink], joints: dict[str, UrdfJoint], path: str
) -> tuple[str, dict[str, list[UrdfJoint]]]:
    """Return the root link and the child joints of each link, which must form one tree."""
    below: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    above: dict[str, UrdfJoint] = {}
    for joint in joints.values():
        where = f"{path}: joint '{joint.name}'"
        for role, name in (("parent link", joint.parent), ("child link", joint.child)):
            if name not in links:
                raise unknown(role, name, links, where=where)
        if joint.child in above:
            other = above[joint.child].name
            raise UserInputError(
                f"{where}: link '{joint.child}' is also the child of joint '{other}'"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        listing = ", ".join(roots)
        raise UserInputError(f"{path}: several links have no parent: {listing}; a URDF is one tree")
    depth = dict.fromkeys(roots, 1)
    reached = list(roots)
    for name in reached:
        for joint in below[name]:
            reached.append(joint.child)
            depth[joint.child] = depth[name] + 1
            if depth[joint.child] > MAX_LINK_DEPTH:
                what = f"a chain of {depth[joint.child]} links, to '{joint.child}'"
                raise too_large(path, what, MAX_LINK_DEPTH)
    seen = set(reached)
    loop = [name for name in links if name not in seen]
    if loop:
        raise UserInputError(f"{path}: these links form a loop: {', '.join(loop)}")
    return roots[0], below


def _check_mimic(joint: UrdfJoint, joints: dict[str, UrdfJoint], path: str) -> None:
    if joint.mimic is None:
        return
    where = f"{path}: joint '{joint.name}'"
    if joint.mimic.joint not in joints:
        raise unknown("mimicked joint", joint.mimic.joint, joints, where=where)
    if joint.mimic.joint == joint.name:
        raise UserInputError(f"{where}: mimics itself")
    master = joints[joint.mimic.joint]
    if joint.type in SCALAR_TYPES and master.type not in SCALAR_TYPES:
        raise UserInputError(f"{where}: mimics '{master.name}', which is {master.type}")
    chain = [joint.name]
    while master.mimic is not None and master.mimic.joint in joints:
        chain.append(master.name)
        if master.mimic.joint in chain:
            listing = ", ".join(chain)
            raise UserInputError(f"{where}: these joints mimic each other in a circle: {listing}")
        master = joints[master.mimic.joint]


def with_direct_mimics(urdf: Urdf) -> Urdf:
    """Return a URDF in which no joint mimics one that mimics another one itself."""

    def direct(mimic: UrdfMimic | None) -> UrdfMimic | None:
        above = None if mimic is None else urdf.joints[mimic.joint].mimic
        if mimic is None or above is None:
            return mimic
        return direct(
            UrdfMimic(
                joint=above.joint,
                multiplier=mimic.multiplier * above.multiplier,
                offset=mimic.multiplier * above.offset + mimic.offset,
            )
        )

    return urdf.with_joints(
        {name: replace(joint, mimic=direct(joint.mimic)) for name, joint in urdf.joints.items()}
    )
