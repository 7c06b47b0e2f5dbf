"""URDF files into MuJoCo specs that keep every link, frame, name and limit.

MuJoCo's own URDF parser takes two meshes of one base name for one file, gives links without an
``<inertial>`` the mass of their collision shapes, ignores mimics and velocity limits, and refuses
the massless links between the axes of a joint. So the spec is built here, from checked data, and
agrees with that parser on all else.
"""

import logging
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.importing.contacts import exclude_base_neighbours
from mujoco_ros.model.urdf.importing.inertia import WATER, mend
from mujoco_ros.model.urdf.importing.joints import add_joint
from mujoco_ros.model.urdf.importing.shapes import ImportedShapes
from mujoco_ros.model.urdf.importing.urdf_file import (
    Urdf,
    UrdfInertial,
    UrdfJoint,
    UrdfLink,
    read_urdf,
)

VISUAL_GROUP = 2
COLLISION_GROUP = 3

WORLD = "world"
"""A URDF root link of this name is the world itself, as in MuJoCo's and Gazebo's reading."""

_LOGGER = logging.getLogger(__name__)

# Settings of the <mujoco><compiler> extension that this module decides itself.
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


def load_urdf(path: Path, text: str | None = None) -> mujoco.MjSpec:
    """Read a URDF file into a spec that compiles.

    - Every link is a body of its name; a root link named ``world`` is the world. The base is fixed
      unless a joint of type ``floating`` leaves the root link; see `free_base`.
    - Visuals are geoms of group 2 without collision, collisions are geoms of group 3.
    - A revolute, continuous or prismatic joint that mimics no other gets a torque motor of its
      name, with a control range of ± effort [N·m or N], unlimited where the effort is zero or
      missing. Its velocity limit [rad/s or m/s] is the joint's first user number, 0 for none.
    - ``<mimic>`` becomes a joint equality constraint named ``<joint>_mimic``.
    - A moving link without mass or shape that only carries one further joint, the usual way to
      write a joint with several axes, becomes part of the next link, exactly. Any other moving link
      without mass gets that of its collision shapes filled with water, with a warning; without
      such shapes it is an error, for no simulator can move it.
    - An inertia that no body can have is mended, with a warning.

    Args:
        path: The file; mesh paths may be relative to it. It must be plain URDF, not xacro.
        text: What would be in it, if there is no such file.

    Raises:
        ModelError: Something in the file or its meshes is wrong; the message names the culprit.
    """
    urdf = read_urdf(path, text)
    spec = _base_spec(urdf)
    builder = _Builder(urdf, spec)
    builder.build()
    exclude_base_neighbours(spec)
    try:
        spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(f"{path}: MuJoCo refuses the model: {_one_line(error)}") from error
    return spec


def free_base(spec: mujoco.MjSpec) -> None:
    """Let the robot's root body move freely: it gets a free joint named ``<body>_free_joint``.

    Raises:
        ModelError: There is no single root body, it already has a joint, or nothing there has mass.
    """
    roots = spec.worldbody.bodies
    if len(roots) != 1:
        listing = ", ".join(body.name for body in roots) or "none"
        raise UserInputError(f"a free base needs one root body; '{spec.modelname}' has: {listing}")
    (root,) = roots
    if root.joints:
        held = root.joints[0].name
        raise UserInputError(
            f"the base '{root.name}' cannot be freed: it already moves on '{held}'"
        )
    joint = root.add_freejoint(name=f"{root.name}_free_joint")
    try:
        spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        spec.delete(joint)
        raise UserInputError(
            f"the base '{root.name}' cannot be freed: {_one_line(error)}"
        ) from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).removeprefix("Error: ").split())


def _base_spec(urdf: Urdf) -> mujoco.MjSpec:
    """Return an empty spec with the settings of the ``<mujoco>`` extension."""
    root = ET.Element("mujoco", model=urdf.name)
    # Servos need their damping integrated implicitly, which MuJoCo's default does not do.
    ET.SubElement(root, "option", integrator="implicitfast")
    for tag in ("compiler", "option", "size"):
        element = None if urdf.mujoco is None else urdf.mujoco.find(tag)
        if element is not None:
            settings = {k: v for k, v in element.items() if k not in _OWN_SETTINGS}
            ET.SubElement(root, tag, settings).extend(element)
    try:
        spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
    except (ValueError, mujoco.FatalError) as error:
        message = _one_line(error)
        raise UserInputError(f"{urdf.path}: in its <mujoco> extension: {message}") from error
    spec.compiler.degree = False
    return spec


@dataclass(kw_only=True, slots=True)
class _Mount:
    """Where a link's body sits in its parent body, and the joints in between, outermost first.

    Each joint comes with its anchor and axis in the frame of the link.
    """

    parent: str
    pose: Pose
    joints: list[tuple[UrdfJoint, np.ndarray, np.ndarray]] = field(default_factory=list)

    def through(self, joint: UrdfJoint) -> "_Mount":
        """Return the mount of the link on `joint`, itself on the massless link mounted here."""
        inverse = joint.origin.inverse()
        inner = [
            (above, inverse.position + inverse.matrix @ anchor, inverse.matrix @ axis)
            for above, anchor, axis in self.joints
        ]
        return _Mount(parent=self.parent, pose=self.pose @ joint.origin, joints=inner)


class _Builder:
    """Turns the links and joints of one URDF into bodies, geoms, joints, motors and constraints."""

    def __init__(self, urdf: Urdf, spec: mujoco.MjSpec) -> None:
        self._urdf = urdf
        self._spec = spec
        compiler = None if urdf.mujoco is None else urdf.mujoco.find("compiler")
        settings = {} if compiler is None else compiler.attrib
        self._shapes = ImportedShapes(
            spec, urdf.path, settings.get("meshdir", settings.get("assetdir", ""))
        )
        self._masses = self._carried_masses()
        self._from_shape: set[str] = set()  # links whose mass is taken from their shape
        self._notes: dict[str, list[str]] = {}  # what was mended, and where

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
                add_joint(self._spec, body, above, anchor, axis, self._note)
            if mount.joints:
                self._check_mass(joint, link)
            self._fill(body, link)

        for what, names in self._notes.items():
            _LOGGER.warning("%s: %s: %s", self._urdf.path, what, ", ".join(names))

    def _note(self, what: str, name: str) -> None:
        self._notes.setdefault(what, []).append(name)

    def _where(self, kind: str, name: str) -> str:
        return f"{self._urdf.path}: {kind} '{name}'"

    def _carried_masses(self) -> dict[str, float]:
        """Return, per link, its mass with that of all links fixed to it."""
        masses: dict[str, float] = {}
        for joint, link in reversed(list(self._urdf.depth_first())):
            own = link.inertial.mass if link.inertial else 0.0
            masses[link.name] = masses.get(link.name, 0.0) + own
            if joint is not None and joint.type == "fixed":
                masses[joint.parent] = masses.get(joint.parent, 0.0) + masses[link.name]
        return masses

    def _is_folded(self, joint: UrdfJoint, link: UrdfLink) -> bool:
        """Tell whether the link is only there to join two moving axes."""
        below = self._urdf.joints_below[link.name]
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
            # MuJoCo lets only children of the world float, and the root link is at its origin.
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
            rigid += [j.child for j in self._urdf.joints_below[name] if j.type == "fixed"]
        solid = [name for name in rigid if self._urdf.links[name].collisions]
        where = self._where("link", link.name)
        if not solid:
            raise UserInputError(
                f"{where}: moves on joint '{joint.name}' but has no mass; give it an <inertial>"
            )
        self._note("moving links without mass; their collision shapes get that of water", link.name)
        self._from_shape.update(solid)

    def _fill(self, body: mujoco.MjsBody, link: UrdfLink) -> None:
        """Add the link's mass and shapes."""
        if link.inertial is not None and link.name != WORLD:
            tensor, fault = mend(_tensor(link.inertial), link.inertial.mass)
            if fault:
                self._note(f"links with {fault}", link.name)
            turn = link.inertial.origin.matrix
            body.explicitinertial = True
            body.mass = link.inertial.mass
            body.ipos = link.inertial.origin.position
            body.fullinertia = _full(turn @ tensor @ turn.T)
        for visual in link.visuals:
            self._shapes.add(
                body, link, visual, group=VISUAL_GROUP, contype=0, conaffinity=0, density=0.0
            )
        # A link without <inertial> has no mass in URDF, whatever its shape.
        shaped = link.name in self._from_shape or self._spec.compiler.inertiafromgeom == 1
        for collision in link.collisions:
            self._shapes.add(
                body, link, collision, group=COLLISION_GROUP, density=WATER if shaped else 0.0
            )


def _tensor(inertial: UrdfInertial) -> np.ndarray:
    i = inertial
    return np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])


def _full(tensor: np.ndarray) -> list[float]:
    """Return a symmetric tensor in the order of MuJoCo's ``fullinertia``."""
    return [float(tensor[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
