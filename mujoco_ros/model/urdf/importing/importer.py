"""Import of URDF files as MuJoCo specs with every link, frame, name and inertia.

MuJoCo's own URDF parser confuses meshes with the same base name, gives links without an
``<inertial>`` the mass of their collision shapes, ignores mimics and velocity limits, and rejects
the massless links between the axes of a joint. Otherwise the result is the same.
"""

import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.reading import computed_once
from mujoco_ros.model.robot.drive import PLANAR
from mujoco_ros.model.scene.limits import check_spec
from mujoco_ros.model.urdf.importing.base import decide_base
from mujoco_ros.model.urdf.importing.hardware.hardware import read_hardware
from mujoco_ros.model.urdf.importing.imported_urdf import ImportedUrdf, engine_message
from mujoco_ros.model.urdf.importing.joints import add_joint
from mujoco_ros.model.urdf.importing.shapes import WATER, ImportedShapes, corrected
from mujoco_ros.model.urdf.importing.urdf_file import (
    Urdf,
    UrdfInertial,
    UrdfJoint,
    UrdfLink,
    read_urdf,
    with_direct_mimics,
)
from mujoco_ros.model.urdf.importing.wheel_joints import has_mecanum_meshes, prepare_wheels

SECTIONS = (
    "compiler",
    "option",
    "size",
    "statistic",
    "default",
    "contact",
    "equality",
    "tendon",
    "actuator",
    "sensor",
    "keyframe",
    "custom",
)
"""Sections that are read; they name links and joints of the URDF, and no file."""

REFERENCE = "reference"
"""Element with the name of a link, for `REFERENCED` elements in its body (mujoco_ros2_control)."""
REFERENCED = ("site", "geom", "camera", "light")

# Settings of <compiler> that the importer decides.
_OWN_SETTINGS = (
    "angle",
    "assetdir",
    "discardvisual",
    "eulerseq",
    "fusestatic",
    "meshdir",
    "strippath",
    "texturedir",
)

_LOGGER = logging.getLogger(__name__)


def extension_spec(urdf: Urdf) -> mujoco.MjSpec:
    """Return a spec without bodies that has the sections of the ``<mujoco>`` extension.

    A warning names the other elements.
    """
    root = ET.Element("mujoco", model=urdf.name)
    # Stiff servos, and mimics between light links, need an implicit integrator.
    ET.SubElement(root, "option", integrator="discrete")
    ignored: list[str] = []
    for element in urdf.mujoco:
        if element.tag == REFERENCE:
            ignored += [
                f"<{each.tag}> of a reference" for each in element if each.tag not in REFERENCED
            ]
            continue
        if element.tag not in SECTIONS:
            ignored.append(f"<{element.tag}>")
            continue
        if next(element.iter("include"), None) is not None:
            raise UserInputError(
                f"{urdf.path}: in its <mujoco> extension: <{element.tag}> includes a file; "
                "write its content in its place"
            )
        own = _OWN_SETTINGS if element.tag == "compiler" else ()
        settings = {key: value for key, value in element.items() if key not in own}
        ET.SubElement(root, element.tag, settings).extend(element)
    if ignored:
        _LOGGER.warning(
            "%s: elements of its <mujoco> extension are ignored: %s; these are read: %s",
            urdf.path,
            ", ".join(ignored),
            ", ".join((*SECTIONS, REFERENCE)),
        )
    spec = _parsed(root, urdf)
    spec.compiler.degree = False
    return spec


def _parsed(root: ET.Element, urdf: Urdf) -> mujoco.MjSpec:
    try:
        return mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
    except (ValueError, mujoco.FatalError) as error:
        text = engine_message(error)
        raise UserInputError(f"{urdf.path}: in its <mujoco> extension: {text}") from error


def _add_references(urdf: Urdf, bodies: Mapping[str, mujoco.MjsBody]) -> None:
    """Add what the ``<reference>`` elements of the extension have for the bodies of links."""
    for number, element in enumerate(urdf.mujoco.iter(REFERENCE)):
        name = element.get("name", "")
        if name not in bodies:
            where = f"{urdf.path}: in its <mujoco> extension: <{REFERENCE}>"
            raise unknown("link", name, bodies, where=where)
        root = ET.Element("mujoco")
        ET.SubElement(root, "compiler", angle="radian")
        frame = ET.SubElement(ET.SubElement(root, "worldbody"), "frame", name=REFERENCE)
        for each in element:
            if each.tag in REFERENCED:
                ET.SubElement(frame, each.tag, dict(each.items()))
        prefix = f"{REFERENCE} {number}/"  # MuJoCo attaches nothing without one
        bodies[name].attach_frame(_parsed(root, urdf).frame(REFERENCE), prefix, "")
        for kind in REFERENCED:
            for added in getattr(bodies[name], f"{kind}s"):
                added.name = added.name.removeprefix(prefix)


def exclude_base_neighbours(spec: mujoco.MjSpec) -> None:
    """Exclude contacts between links fixed to the world and the links that move on them.

    In a URDF, links overlap at their joint. MuJoCo ignores such contacts, but not if one of the
    links is welded to the world.
    """
    fixed = [body for root in spec.worldbody.bodies if not root.joints for body in _welded(root)]
    neighbours = [child for body in fixed for child in body.bodies if child.joints]
    links = [link.name for child in neighbours for link in _welded(child) if link.geoms]
    for base in fixed:
        if base.geoms:
            for link in links:
                spec.add_exclude(bodyname1=base.name, bodyname2=link)


def _welded(body: mujoco.MjsBody) -> Iterator[mujoco.MjsBody]:
    """Yield a body and all bodies that are fixed to it."""
    stack = [body]  # a loop, because a chain may exceed the recursion limit
    while stack:
        body = stack.pop()
        yield body
        stack += [child for child in reversed(body.bodies) if not child.joints]


_LEAST_KG = 0.001
"""Mass of a moving link without mass and shape, such as a virtual wheel."""
VISUAL_GROUP = 2
COLLISION_GROUP = 3

WORLD = "world"
"""A root link of this name is the world itself, as in MuJoCo and Gazebo."""


def import_urdf(
    path: Path, text: str | None = None, packages: Mapping[str, Path] | None = None
) -> ImportedUrdf:
    """Read a URDF file, or `text` in its place, into a spec that compiles.

    docs/reference/scenes.md says what becomes of the elements. Besides:

    - A root link named ``world`` is the world. The base is fixed unless the root link has a child
      on a ``floating`` joint; `decide_base` says what it should be, and `free_base` frees it.
    - Visuals are geoms of group 2 without collision, collisions are geoms of group 3.
    - The control range of a motor is ± effort [N·m or N], unlimited if that is zero or missing.
      The velocity limit [rad/s or m/s] is the joint's first user number, 0 for none.
    - A moving link without mass and shape that has one child on a moving joint is part of a joint
      with several axes, and merged with the child exactly.
    """
    urdf = read_urdf(path, text)
    hardware = read_hardware(urdf)
    urdf = with_direct_mimics(hardware.apply(urdf))
    spec = extension_spec(urdf)
    builder = _Builder(urdf, spec, packages)
    builder.build()
    exclude_base_neighbours(spec)
    hardware.edit_spec(spec, urdf)
    check_spec(spec, str(path))
    wheels, wheel_servos = prepare_wheels(spec, urdf, hardware.declared)
    model: mujoco.MjModel | None = None

    def masses() -> dict[str, float]:
        nonlocal model
        try:
            model = spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            text = engine_message(error)
            raise UserInputError(f"{path}: MuJoCo rejects the model: {text}") from error
        return {name: float(model.body(name).mass[0]) for name in builder.from_shape}

    builder.log_warnings(computed_once("masses", masses))
    hardware.log(urdf)
    servos = {joint.name for joint in urdf.joints.values() if joint.drive == "velocity"}
    servos.update(wheel_servos)
    planar = [joint.name for joint in urdf.joints.values() if joint.type == "planar"]
    servos.update(name + suffix for name in planar for suffix in PLANAR)
    return ImportedUrdf(
        spec=spec,
        model=model,
        cameras=hardware.cameras,
        lidars=hardware.lidars,
        start=hardware.control.initial,
        base=decide_base(urdf),
        velocity_servos=tuple(
            actuator.name for actuator in spec.actuators if actuator.name in servos
        ),
        wheels=wheels,
        is_holonomic=hardware.gazebo.is_holonomic or has_mecanum_meshes(urdf, wheels),
    )


@dataclass(kw_only=True, slots=True)
class _Mount:
    """Pose of a link in its parent body, and the joints in between, outermost first.

    Each joint has its anchor and axis in the frame of the link.
    """

    parent: str
    pose: Pose
    joints: list[tuple[UrdfJoint, np.ndarray, np.ndarray]] = field(default_factory=list)

    def through(self, joint: UrdfJoint) -> "_Mount":
        """Return the pose of the child of a joint whose massless parent is here."""
        inverse = joint.origin.inverse()
        inner = [
            (above, inverse.position + inverse.matrix @ anchor, inverse.matrix @ axis)
            for above, anchor, axis in self.joints
        ]
        return _Mount(parent=self.parent, pose=self.pose @ joint.origin, joints=inner)


class _Builder:
    def __init__(
        self, urdf: Urdf, spec: mujoco.MjSpec, packages: Mapping[str, Path] | None
    ) -> None:
        self._urdf = urdf
        self._spec = spec
        compiler = urdf.mujoco.find("compiler")
        settings = {} if compiler is None else compiler.attrib
        self._shapes = ImportedShapes(
            spec, urdf.path, settings.get("meshdir", settings.get("assetdir", "")), packages
        )
        self._masses = self._carried_masses()
        self.from_shape: set[str] = set()  # links with the mass of their shapes
        self._massless: set[str] = set()  # moving links without mass and shape
        self._warnings: dict[str, list[str]] = {}  # names by warning

    def build(self) -> None:
        bodies: dict[str, mujoco.MjsBody] = {WORLD: self._spec.worldbody}
        mounts: dict[str, _Mount] = {}  # of the folded links
        for joint, link in self._urdf.depth_first():
            if joint is None:
                if link.name != WORLD:
                    bodies[link.name] = self._spec.worldbody.add_body(name=link.name)
                self._fill(bodies[link.name], link)
                continue
            if link.name == WORLD:
                raise UserInputError(
                    f"{self._urdf.path}: only the root link may be named '{WORLD}'"
                )
            mount = self._mount(joint, mounts)
            if self._is_folded(joint, link):
                mounts[link.name] = mount
                continue
            body = bodies[mount.parent].add_body(
                name=link.name, pos=mount.pose.position, quat=mount.pose.quat_wxyz
            )
            bodies[link.name] = body
            for above, anchor, axis in mount.joints:
                add_joint(self._spec, body, above, anchor, axis, self._warn)
            if mount.joints:
                self._check_mass(joint, link)
            self._fill(body, link)

        _add_references(self._urdf, bodies)
        self._shapes.restore_files()

    def log_warnings(self, masses: Mapping[str, float]) -> None:
        """Log one line for each kind of warning, with the masses of links from shapes [kg]."""
        for name in sorted(self.from_shape):
            warning = "moving links without mass; their solid collision shapes become water"
            self._warn(warning, f"{name} ({masses[name]:.3g} kg)")
        for warning, names in self._warnings.items():
            _LOGGER.warning("%s: %s: %s", self._urdf.path, warning, ", ".join(names))

    def _warn(self, warning: str, name: str) -> None:
        self._warnings.setdefault(warning, []).append(name)

    def _where(self, kind: str, name: str) -> str:
        return f"{self._urdf.path}: {kind} '{name}'"

    def _carried_masses(self) -> dict[str, float]:
        """Return the mass of each link with all links fixed to it."""
        masses: dict[str, float] = {}
        for joint, link in reversed(list(self._urdf.depth_first())):
            own = link.inertial.mass if link.inertial else 0.0
            masses[link.name] = masses.get(link.name, 0.0) + own
            if joint is not None and joint.type == "fixed":
                masses[joint.parent] = masses.get(joint.parent, 0.0) + masses[link.name]
        return masses

    def _is_folded(self, joint: UrdfJoint, link: UrdfLink) -> bool:
        below = self._urdf.child_joints[link.name]
        return (
            joint.type not in ("fixed", "floating")
            and link.inertial is None
            and not (link.visuals or link.collisions)
            and len(below) == 1
            and below[0].type not in ("fixed", "floating")
        )

    def _mount(self, joint: UrdfJoint, folded: dict[str, _Mount]) -> _Mount:
        if joint.type == "floating" and joint.parent != self._urdf.root:
            where = self._where("joint", joint.name)
            root = self._urdf.root
            raise UserInputError(f"{where}: a floating joint must leave the root link, '{root}'")
        if joint.parent in folded:
            mount = folded[joint.parent].through(joint)
        else:
            # In MuJoCo only children of the world float; the root link is at its origin.
            parent = WORLD if joint.type == "floating" else joint.parent
            mount = _Mount(parent=parent, pose=joint.origin)
        if joint.type != "fixed":
            mount.joints.append((joint, np.zeros(3), np.array(joint.axis)))
        return mount

    def _check_mass(self, joint: UrdfJoint, link: UrdfLink) -> None:
        if self._masses[link.name] > 0 or self._spec.compiler.inertiafromgeom == 1:
            return
        rigid = [link.name]
        for name in rigid:
            rigid += [j.child for j in self._urdf.child_joints[name] if j.type == "fixed"]
        solid = [name for name in rigid if self._urdf.links[name].collisions]
        self.from_shape.update(solid)
        if not solid:
            self._warn("moving links without mass and shape become a gram of water", link.name)
            self._massless.add(link.name)

    def _fill(self, body: mujoco.MjsBody, link: UrdfLink) -> None:
        inertial = link.inertial
        if link.name in self._massless:
            inertial = UrdfInertial(origin=Pose(), mass=_LEAST_KG, inertia=np.zeros((3, 3)))
        if inertial is not None and link.name != WORLD:
            tensor, fault, numbers = corrected(inertial.inertia, inertial.mass)
            if fault and inertial is link.inertial:
                self._warn(f"links with {fault}", f"{link.name} ({numbers})")
            turn = inertial.origin.matrix
            body.explicitinertial = True
            body.mass = inertial.mass
            body.ipos = inertial.origin.position
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = (turn @ tensor @ turn.T).tolist()
            body.fullinertia = [xx, yy, zz, xy, xz, yz]
        for visual in link.visuals:
            self._shapes.add(body, link, visual, group=VISUAL_GROUP, contype=0, conaffinity=0)
        # A link without <inertial> has no mass in URDF, whatever its shape.
        shaped = link.name in self.from_shape or self._spec.compiler.inertiafromgeom == 1
        for collision in link.collisions:
            self._shapes.add(
                body, link, collision, group=COLLISION_GROUP, density=WATER if shaped else 0.0
            )
