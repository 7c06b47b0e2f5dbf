"""Export of a robot in a compiled MuJoCo model as URDF."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carried, joints_of
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import OPTICAL_WXYZ, numbered_name, optical_frame, site_frame
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.actuators import joint_actuators, joint_effort
from mujoco_ros.model.robot.scope import SCALAR_JOINTS
from mujoco_ros.model.urdf.exporting.meshes import MeshCache
from mujoco_ros.model.urdf.exporting.shapes import (
    ExportedShapes,
    add_inertial,
    add_origin,
    number_text,
)

WORLD = "world"

_JOINT = mujoco.mjtJoint

# Limits of unlimited prismatic joints, for which URDF requires limits.
_UNBOUNDED = 1e9

_OPTICAL = Pose(quat_wxyz=np.array(OPTICAL_WXYZ))


def export_urdf(
    model: mujoco.MjModel,
    *,
    root: str | None = None,
    prefix: str = "",
    name: str = "robot",
    mesh_uri: Callable[[Path], str] = Path.as_uri,
    mesh_cache: MeshCache | None = None,
    frames: Iterable[str] = (),
) -> str:
    """Return the URDF of a robot; equal models give equal text.

    docs/reference/robot_description.md says what becomes of the elements. Besides:

    - Root bodies that move on joints, mocap bodies, and several root bodies are children of a link
      ``world``; free ones and mocap bodies by ``floating`` joints: their value is the body's pose.
    - A ball joint alone in its body has the value of the pose of the body in its parent, others
      a rotation about their anchor.
    - Limits are 0 if unlimited; velocity limits are the joint's first user number.
    - Repeated names are numbered: ``_2``, … Without `mesh_cache`, shapes without a file are left
      out with a warning. `frames` are more sites to export, with or without the prefix.
    """
    robot = _Robot(model, root, prefix, frames)
    shapes = ExportedShapes(model, mesh_uri, mesh_cache, robot.strip)
    return _Writer(robot, shapes).write(name)


class _Robot:
    """The bodies of a robot, and the names of its links by MuJoCo id."""

    def __init__(
        self, model: mujoco.MjModel, root: str | None, prefix: str, frames: Iterable[str]
    ) -> None:
        self.model = model
        self._prefix = prefix
        if root is None:
            self.roots = [
                body
                for body in range(1, model.nbody)
                if model.body_parentid[body] == 0 and model.body(body).name.startswith(prefix)
            ]
            if not self.roots:
                raise UserInputError(
                    f"no body under the world has a name that starts with '{prefix}'"
                )
        else:
            names = [model.body(body).name for body in range(1, model.nbody)]
            if root not in names:
                raise unknown("body", root, [name for name in names if name])
            self.roots = [int(model.body(root).id)]
        self._name_links(np.flatnonzero(carried(model, self.roots)).tolist(), frames)

    def strip(self, name: str) -> str:
        return name.removeprefix(self._prefix)

    def joints(self, body: int) -> range:
        """Return the joints of a body; none for a root inside a larger tree."""
        is_inside = body in self.roots and self.model.body_parentid[body] != 0
        return range(0) if is_inside else joints_of(self.model, body)

    def is_free(self, body: int) -> bool:
        return any(self.model.jnt_type[joint] == _JOINT.mjJNT_FREE for joint in self.joints(body))

    @property
    def has_world(self) -> bool:
        """Whether the root link is the world rather than the root body."""
        return len(self.roots) > 1 or (
            len(self.joints(self.roots[0])) > 0 and not self.is_free(self.roots[0])
        )

    def _name_links(self, inside: list[int], frames: Iterable[str]) -> None:
        """Name the links of bodies, of sites with sensors or in `frames`, and of fixed cameras."""
        model = self.model
        taken = {WORLD} if self.has_world else set()
        self.bodies = {
            body: _unique(self.strip(model.body(body).name) or f"body{index}", taken)
            for index, body in enumerate(inside)
        }
        wanted = set(model.sensor_objid[model.sensor_objtype == mujoco.mjtObj.mjOBJ_SITE].tolist())
        wanted |= {self._site(name) for name in frames}
        self.sites: dict[int, str] = {}
        for site in sorted(wanted):
            if int(model.site_bodyid[site]) in self.bodies:
                name = self.strip(model.site(site).name) or f"site{len(self.sites)}"
                self.sites[site] = _unique(site_frame(name, self.bodies.values()), taken)
        self.cameras: dict[int, str] = {}
        for camera in range(model.ncam):
            is_fixed = model.cam_mode[camera] == mujoco.mjtCamLight.mjCAMLIGHT_FIXED
            if is_fixed and int(model.cam_bodyid[camera]) in self.bodies:
                name = self.strip(model.camera(camera).name) or f"camera{len(self.cameras)}"
                self.cameras[camera] = _unique(optical_frame(name), taken)

    def _site(self, name: str) -> int:
        names = {
            self.model.site(site).name: site
            for site in range(self.model.nsite)
            if int(self.model.site_bodyid[site]) in self.bodies
        }
        for candidate in (name, self._prefix + name):
            if candidate in names:
                return names[candidate]
        raise unknown("site", name, [self.strip(known) for known in names if known])


def _unique(name: str, taken: set[str]) -> str:
    """Return a name, numbered if it is taken, and add it to the taken ones."""
    taken.add(unique := numbered_name(name, taken))
    return unique


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mimic:
    master: int
    multiplier: float
    offset: float


class _Writer:
    def __init__(self, robot: _Robot, shapes: ExportedShapes) -> None:
        self._robot, self._shapes = robot, shapes
        self._model = robot.model
        links = (robot.bodies, robot.sites, robot.cameras)
        self._taken_links = {WORLD, *(name for named in links for name in named.values())}
        self._joint_names: dict[int, str] = {}
        self._taken_joints: set[str] = set()
        for body in robot.bodies:
            for joint in robot.joints(body):
                wanted = robot.strip(self._model.joint(joint).name)
                self._joint_names[joint] = _unique(
                    wanted or f"{robot.bodies[body]}_joint", self._taken_joints
                )
        self._mimics = dict(self._read_mimics())
        self._elements: list[ET.Element] = []

    def write(self, name: str) -> str:
        if self._robot.has_world:
            self._elements.append(ET.Element("link", name=WORLD))
        for body in self._robot.bodies:
            if body not in self._robot.roots:
                self._connect(self._robot.bodies[int(self._model.body_parentid[body])], body)
            elif self._robot.has_world:
                self._connect(WORLD, body)
            self._add_body(body)
        urdf = ET.Element("robot", name=name)
        urdf.extend(self._shapes.materials())
        urdf.extend(self._elements)
        self._shapes.report()
        ET.indent(urdf)
        return f'<?xml version="1.0"?>\n{ET.tostring(urdf, encoding="unicode")}\n'

    def _add_body(self, body: int) -> None:
        model = self._model
        link = self._robot.bodies[body]
        element = ET.Element("link", name=link)
        add_inertial(element, model, body)
        self._shapes.add(element, body)
        self._elements.append(element)
        for site, name in self._robot.sites.items():
            if model.site_bodyid[site] == body:
                self._add_frame(
                    link, name, Pose(position=model.site_pos[site], quat_wxyz=model.site_quat[site])
                )
        for camera, name in self._robot.cameras.items():
            if model.cam_bodyid[camera] == body:
                pose = Pose(position=model.cam_pos[camera], quat_wxyz=model.cam_quat[camera])
                self._add_frame(link, name, pose @ _OPTICAL)

    def _add_frame(self, parent: str, name: str, pose: Pose) -> None:
        self._elements.append(ET.Element("link", name=name))
        self._add_fixed(parent, name, pose)

    def _add_fixed(self, parent: str, child: str, pose: Pose) -> None:
        name = _unique(f"{child}_fixed", self._taken_joints)
        self._add_joint(name, "fixed", parent, child, pose)

    def _add_joint(self, name: str, kind: str, parent: str, child: str, pose: Pose) -> ET.Element:
        element = ET.Element("joint", name=name, type=kind)
        add_origin(element, pose)
        ET.SubElement(element, "parent", link=parent)
        ET.SubElement(element, "child", link=child)
        self._elements.append(element)
        return element

    def _connect(self, parent: str, body: int) -> None:
        """Write the joints from the parent link to the body's link."""
        model = self._model
        child = self._robot.bodies[body]
        joints = self._robot.joints(body)
        pose = Pose(position=model.body_pos[body], quat_wxyz=model.body_quat[body])
        is_ball = len(joints) == 1 and model.jnt_type[joints[0]] == _JOINT.mjJNT_BALL
        if self._robot.is_free(body) or is_ball:
            self._add_joint(self._joint_names[joints[0]], "floating", parent, child, Pose())
            return
        if model.body_mocapid[body] >= 0:
            name = _unique(f"{child}_floating", self._taken_joints)
            self._add_joint(name, "floating", parent, child, Pose())
            return
        anchor = np.zeros(3)  # of the last link, in the frame of the body
        for joint in joints:
            last = joint == joints[-1]
            kind = model.jnt_type[joint]
            if kind != _JOINT.mjJNT_SLIDE:
                target = model.jnt_pos[joint]
            else:  # the anchor does not affect a translation
                target = np.zeros(3) if last else anchor
            pose = pose @ Pose(position=target - anchor)
            anchor = target
            reached = child
            if not last or anchor.any():
                reached = _unique(f"{self._joint_names[joint]}_link", self._taken_links)
                self._elements.append(ET.Element("link", name=reached))
            self._add_moving(joint, parent, reached, pose)
            parent, pose = reached, Pose()
        if not joints or anchor.any():
            self._add_fixed(parent, child, pose @ Pose(position=-anchor))

    def _add_moving(self, joint: int, parent: str, child: str, pose: Pose) -> None:
        model = self._model
        name = self._joint_names[joint]
        dof = int(model.jnt_dofadr[joint])
        kind = model.jnt_type[joint]
        if kind == _JOINT.mjJNT_BALL:
            self._add_joint(name, "floating", parent, child, pose)
            return
        axis = model.jnt_axis[joint]
        limited = bool(model.jnt_limited[joint])
        reference = float(model.qpos0[model.jnt_qposadr[joint]])
        if kind == _JOINT.mjJNT_SLIDE:
            urdf_type = "prismatic"
            pose = pose @ Pose(position=-reference * axis)
        else:
            urdf_type = "revolute" if limited else "continuous"
            quat = np.zeros(4)
            mujoco.mju_axisAngle2Quat(quat, axis, -reference)
            pose = pose @ Pose(quat_wxyz=quat)
        element = self._add_joint(name, urdf_type, parent, child, pose)
        ET.SubElement(element, "axis", xyz=number_text(axis))
        limit = ET.SubElement(element, "limit")
        if urdf_type != "continuous":
            lower, upper = model.jnt_range[joint] if limited else (-_UNBOUNDED, _UNBOUNDED)
            limit.set("lower", number_text(lower))
            limit.set("upper", number_text(upper))
        velocity = model.jnt_user[joint, 0] if model.nuser_jnt else 0.0
        effort = joint_effort(model, joint)
        limit.set("effort", number_text(effort if math.isfinite(effort) else 0.0))
        limit.set("velocity", number_text(velocity))
        damping, friction = model.dof_damping[dof], model.dof_frictionloss[dof]
        armature = model.dof_armature[dof]
        if damping or friction or armature:
            dynamics = ET.SubElement(element, "dynamics", damping=number_text(damping))
            dynamics.set("friction", number_text(friction))
            if armature:  # no attribute of URDF; readers ignore it, and the importer reads it
                dynamics.set("armature", number_text(armature))
        if joint in self._mimics:
            mimic = self._mimics[joint]
            ET.SubElement(
                element,
                "mimic",
                joint=self._joint_names[mimic.master],
                multiplier=number_text(mimic.multiplier),
                offset=number_text(mimic.offset),
            )

    def _read_mimics(self) -> Iterator[tuple[int, _Mimic]]:
        """Yield the joints that follow another one linearly, by an equality constraint."""
        model = self._model
        for equality in range(model.neq):
            first, second = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
            # With the reference positions: q1 - r1 = c0 + c1 (q2 - r2) + …
            c0, c1, *higher = (float(c) for c in model.eq_data[equality, :5])
            is_linear = (
                model.eq_type[equality] == mujoco.mjtEq.mjEQ_JOINT
                and model.eq_active0[equality]
                and {first, second} <= self._joint_names.keys()
                and all(model.jnt_type[joint] in SCALAR_JOINTS for joint in (first, second))
                and c1 != 0
                and not any(higher)
            )
            if not is_linear:
                continue
            r1, r2 = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (first, second))
            offset = c0 + r1 - c1 * r2
            if joint_actuators(model, first) and not joint_actuators(model, second):
                yield second, _Mimic(master=first, multiplier=1 / c1, offset=-offset / c1)
            else:
                yield first, _Mimic(master=second, multiplier=c1, offset=offset)
