"""What a model is made of, resolved to addresses once: each robot's joints, sensors, frames."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.assembly import Assembly
from mujoco_ros.model.errors import ModelError, unknown
from mujoco_ros.model.frames import site_frame
from mujoco_ros.model.scene import RobotConfig

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_FREE = mujoco.mjtJoint.mjJNT_FREE


@dataclass(frozen=True, kw_only=True)
class Joints:
    """A robot's scalar joints in model order."""

    names: tuple[str, ...]  # without the prefix
    ids: np.ndarray  # (n,) joint id
    qpos: np.ndarray  # (n,) address in qpos
    dof: np.ndarray  # (n,) address in qvel


@dataclass(frozen=True, kw_only=True)
class SiteSensor:
    """Something measured at a site: its name and TF frame (without the prefix), and the site."""

    name: str
    frame: str
    site: int


@dataclass(frozen=True, kw_only=True)
class Imu(SiteSensor):
    """Gyroscope, accelerometer and orientation on one site; None where there is no sensor."""

    gyro: int | None
    accelerometer: int | None
    orientation: int | None


@dataclass(frozen=True, kw_only=True)
class ForceTorque(SiteSensor):
    """Force and torque on one site, addresses in sensordata."""

    force: int
    torque: int


@dataclass(frozen=True, kw_only=True)
class Touch(SiteSensor):
    """A touch sensor: normal force on its site, address in sensordata."""

    force: int


@dataclass(frozen=True, kw_only=True)
class FloatingBase:
    """A body on a free joint."""

    name: str
    body: int
    joint: int
    qpos: int
    dof: int


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A camera of the model."""

    name: str
    camera: int
    body: int


@dataclass(frozen=True, kw_only=True)
class Robot:
    """One robot: everything of it that ROS speaks of.

    `prefix` is what its names carry in the model, `frame_prefix` what its TF frames carry in ROS.
    `roots` are its bodies that hang on the world. `gripper` is the index of the joint that the
    gripper controller serves.
    """

    name: str
    prefix: str
    namespace: str
    frame_prefix: str
    bodies: tuple[int, ...]
    roots: tuple[int, ...]
    joints: Joints
    bases: tuple[FloatingBase, ...]
    imus: tuple[Imu, ...]
    force_torques: tuple[ForceTorque, ...]
    touches: tuple[Touch, ...]
    cameras: tuple[Camera, ...]
    unused_sensors: tuple[str, ...]
    gripper: int | None = None

    @property
    def site_sensors(self) -> tuple[SiteSensor, ...]:
        """Return every sensor that has a site."""
        return (*self.imus, *self.force_torques, *self.touches)

    def frame(self, name: str) -> str:
        """Return the TF frame of an element given by its name in the model."""
        return self.frame_prefix + name.removeprefix(self.prefix)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """All robots of a model, and its free bodies that belong to none (TF frame, base)."""

    robots: tuple[Robot, ...]
    free_objects: tuple[tuple[str, FloatingBase], ...]

    @property
    def columns(self) -> tuple[slice, ...]:
        """Return where each robot's joints are among those of all robots, one after the other."""
        ends = [0, *accumulate(len(robot.joints.names) for robot in self.robots)]
        return tuple(slice(first, end) for first, end in pairwise(ends))


def lay_out(assembly: Assembly) -> Layout:
    """Resolve every name to its address.

    Raises:
        ModelError: The TF frame of a free object would be that of something else, or a robot has
            not the joint that is named as its gripper.
    """
    model, config = assembly.model, assembly.config
    prefixes = tuple(part.prefix for part in assembly.parts if part.prefix)
    robots = []
    for robot, part in zip(config.robots, assembly.robots, strict=True):
        namespace = config.namespace(robot)
        frame_prefix = part.prefix if namespace else ""
        others = tuple(prefix for prefix in prefixes if prefix != part.prefix)
        found = _robot(model, robot.name, part.prefix, namespace, frame_prefix, others)
        robots.append(replace(found, gripper=_gripper(robot, found.joints.names)))
    claimed = {base.body for robot in robots for base in robot.bases}
    owners = {body: robot for robot in robots for body in robot.bodies}
    of_robots, objects = [], []
    for base in _free_bases(model, range(1, model.nbody), ""):
        if base.body in claimed:
            continue
        if base.body in owners:
            of_robots.append((owners[base.body].frame(base.name), base))
        else:
            objects.append((base.name.partition("/")[0], base))
    named = _distinct_frames(objects)
    _check_frames(model, robots, [frame for frame, _ in named])
    return Layout(robots=tuple(robots), free_objects=(*of_robots, *named))


def _gripper(config: RobotConfig, joints: tuple[str, ...]) -> int | None:
    if config.gripper is None:
        return None
    if config.gripper not in joints:
        raise unknown("joint", config.gripper, joints, where=f"gripper of robot '{config.name}'")
    return joints.index(config.gripper)


def _check_frames(model: mujoco.MjModel, robots: Iterable[Robot], frames: Iterable[str]) -> None:
    """Refuse free objects whose TF frame is another's already."""
    taken = {"world": "the world"}
    for robot in robots:
        for body in robot.bodies:
            taken[robot.frame(model.body(body).name)] = f"a body of robot '{robot.name}'"
    for frame in frames:
        if frame in taken:
            raise ModelError(
                f"free object '{frame}': its TF frame would be that of {taken[frame]}; "
                "give the object another name"
            )


def _distinct_frames(
    objects: list[tuple[str, FloatingBase]],
) -> tuple[tuple[str, FloatingBase], ...]:
    """Give each free body its own frame: the object's name, or its own where there are several."""
    owners = [frame for frame, _ in objects]
    return tuple(
        (frame if owners.count(frame) == 1 else base.name, base) for frame, base in objects
    )


@dataclass(frozen=True)
class _Scope:
    """The part of a model that is one robot's: everything on its bodies."""

    model: mujoco.MjModel
    prefix: str
    others: tuple[str, ...]  # prefixes of the parts that are not this robot
    bodies: frozenset[int]
    body_names: frozenset[str]

    def owns(self, body: int, name: str) -> bool:
        """Whether something on `body` is the robot's; a bare model owns the world's as well."""
        if int(body) in self.bodies:
            return True
        return not self.prefix and body == 0 and not name.startswith(self.others)

    def short(self, name: str) -> str:
        return name.removeprefix(self.prefix)

    def sites(self) -> list[int]:
        model = self.model
        return [
            s for s in range(model.nsite) if self.owns(model.site_bodyid[s], model.site(s).name)
        ]

    def site(self, site: int) -> dict[str, Any]:
        """Return the name, frame and id of a site, as the sensors on it have them."""
        name = self.short(self.model.site(site).name) or f"site{site}"
        return {"name": name, "frame": site_frame(name, self.body_names), "site": site}

    def sensors(self, kind: mujoco.mjtSensor) -> dict[int, int]:
        """Return the robot's sensors of a kind that are relative to nothing: site to sensor id."""
        model, sites = self.model, set(self.sites())
        return {
            int(model.sensor_objid[s]): s
            for s in reversed(range(model.nsensor))
            if model.sensor_type[s] == kind
            and model.sensor_objtype[s] == mujoco.mjtObj.mjOBJ_SITE
            and model.sensor_refid[s] < 0
            and int(model.sensor_objid[s]) in sites
        }


def _robot(
    model: mujoco.MjModel,
    name: str,
    prefix: str,
    namespace: str,
    frame_prefix: str,
    others: tuple[str, ...],
) -> Robot:
    all_names = [model.body(b).name for b in range(model.nbody)]
    bodies = tuple(b for b in range(1, model.nbody) if _is_of(all_names[b], prefix, others))
    names = frozenset(all_names[b].removeprefix(prefix) for b in bodies)
    scope = _Scope(model, prefix, others, frozenset(bodies), names)
    free = _free_bases(model, bodies, prefix)
    articulated = tuple(b for b in free if _has_scalar_joint(model, b.body))
    joints = _joints(scope)
    imus, imu_sensors = _imus(scope)
    force_torques, wrench_sensors = _force_torques(scope)
    touches, touch_sensors = _touches(scope)
    used = imu_sensors | wrench_sensors | touch_sensors
    return Robot(
        name=name,
        prefix=prefix,
        namespace=namespace,
        frame_prefix=frame_prefix,
        bodies=bodies,
        roots=tuple(b for b in bodies if model.body_parentid[b] == 0),
        joints=joints,
        bases=articulated or (() if joints.names else free),
        imus=imus,
        force_torques=force_torques,
        touches=touches,
        cameras=tuple(
            Camera(
                name=scope.short(model.cam(c).name) or f"camera{c}",
                camera=c,
                body=int(model.cam_bodyid[c]),
            )
            for c in range(model.ncam)
            if scope.owns(model.cam_bodyid[c], model.cam(c).name)
        ),
        unused_sensors=tuple(
            scope.short(model.sensor(s).name)
            for s in range(model.nsensor)
            if s not in used and _is_of(model.sensor(s).name, prefix, others)
        ),
    )


def _is_of(name: str, prefix: str, others: tuple[str, ...]) -> bool:
    """Whether something is the robot's by its name; a bare model has what is nobody else's."""
    return name.startswith(prefix) and not (not prefix and name.startswith(others))


def _joints(scope: _Scope) -> Joints:
    model = scope.model
    ids = [
        j
        for j in range(model.njnt)
        if model.jnt_type[j] in _SCALAR and int(model.jnt_bodyid[j]) in scope.bodies
    ]
    return Joints(
        names=tuple(scope.short(model.joint(j).name) or f"joint{j}" for j in ids),
        ids=np.array(ids, dtype=np.intp),
        qpos=model.jnt_qposadr[ids].astype(np.intp),
        dof=model.jnt_dofadr[ids].astype(np.intp),
    )


def _free_bases(
    model: mujoco.MjModel, bodies: Iterable[int], prefix: str
) -> tuple[FloatingBase, ...]:
    bases = []
    for body in bodies:
        joint = int(model.body_jntadr[body])
        if joint >= 0 and model.jnt_type[joint] == _FREE:
            bases.append(
                FloatingBase(
                    name=model.body(body).name.removeprefix(prefix) or f"body{body}",
                    body=body,
                    joint=joint,
                    qpos=int(model.jnt_qposadr[joint]),
                    dof=int(model.jnt_dofadr[joint]),
                )
            )
    return tuple(bases)


def _has_scalar_joint(model: mujoco.MjModel, root: int) -> bool:
    in_tree = model.body_treeid == model.body_treeid[root]
    return bool(np.isin(model.jnt_type[in_tree[model.jnt_bodyid]], _SCALAR).any())


def _imus(scope: _Scope) -> tuple[tuple[Imu, ...], set[int]]:
    kinds = mujoco.mjtSensor
    gyros = scope.sensors(kinds.mjSENS_GYRO)
    accelerometers = scope.sensors(kinds.mjSENS_ACCELEROMETER)
    orientations = scope.sensors(kinds.mjSENS_FRAMEQUAT)
    imus, used = [], set()
    for site in scope.sites():
        if site not in gyros and site not in accelerometers:
            continue
        on_site = [found.get(site) for found in (gyros, accelerometers, orientations)]
        used |= {s for s in on_site if s is not None}
        gyro, accelerometer, orientation = (
            None if s is None else int(scope.model.sensor_adr[s]) for s in on_site
        )
        imus.append(
            Imu(
                **scope.site(site),
                gyro=gyro,
                accelerometer=accelerometer,
                orientation=orientation,
            )
        )
    return tuple(imus), used


def _force_torques(scope: _Scope) -> tuple[tuple[ForceTorque, ...], set[int]]:
    forces = scope.sensors(mujoco.mjtSensor.mjSENS_FORCE)
    torques = scope.sensors(mujoco.mjtSensor.mjSENS_TORQUE)
    both = [site for site in scope.sites() if site in forces and site in torques]
    sensors = tuple(
        ForceTorque(
            **scope.site(site),
            force=int(scope.model.sensor_adr[forces[site]]),
            torque=int(scope.model.sensor_adr[torques[site]]),
        )
        for site in both
    )
    return sensors, {forces[s] for s in both} | {torques[s] for s in both}


def _touches(scope: _Scope) -> tuple[tuple[Touch, ...], set[int]]:
    model, sites = scope.model, set(scope.sites())
    touches = [
        s
        for s in range(model.nsensor)
        if model.sensor_type[s] == mujoco.mjtSensor.mjSENS_TOUCH
        and int(model.sensor_objid[s]) in sites
    ]
    sensors = tuple(
        Touch(
            **scope.site(int(model.sensor_objid[s]))
            | {"name": scope.short(model.sensor(s).name) or f"touch{s}"},
            force=int(model.sensor_adr[s]),
        )
        for s in touches
    )
    return sensors, set(touches)
