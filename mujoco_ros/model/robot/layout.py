"""What a model is made of, resolved to addresses once: each robot's joints, sensors, frames."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.scope import Scope, cameras_of, is_of
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig
from mujoco_ros.model.sensors.cameras import Camera, resolve_camera
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.sensors.lidars import Lidar, resolve_lidar
from mujoco_ros.model.sensors.site_sensors import SiteSensor, find_sensors

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
class FloatingBase:
    """A body on a free joint."""

    name: str
    body: int
    joint: int
    qpos: int
    dof: int


@dataclass(frozen=True, kw_only=True)
class RobotLayout:
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
    sensors: Mapping[str, tuple[SiteSensor, ...]]
    cameras: tuple[Camera, ...]
    lidars: tuple[Lidar, ...]
    unused_sensors: tuple[str, ...]
    gripper: int | None = None

    @property
    def every_sensor(self) -> tuple[SiteSensor, ...]:
        """Return the sensors of all kinds."""
        return tuple(sensor for sensors in self.sensors.values() for sensor in sensors)

    def frame(self, name: str) -> str:
        """Return the TF frame of an element given by its name in the model."""
        return self.frame_prefix + name.removeprefix(self.prefix)


@dataclass(frozen=True, kw_only=True)
class ModelLayout:
    """All robots of a model, and what belongs to none.

    Attributes:
        robots: The robots.
        free_objects: TF frame and base of each free body that is no robot's.
        cameras: Those of the world and of objects.
        lidars: Those of the world.
    """

    robots: tuple[RobotLayout, ...]
    free_objects: tuple[tuple[str, FloatingBase], ...]
    cameras: tuple[Camera, ...]
    lidars: tuple[Lidar, ...]

    @property
    def columns(self) -> tuple[slice, ...]:
        """Return where each robot's joints are among those of all robots, one after the other."""
        ends = [0, *accumulate(len(robot.joints.names) for robot in self.robots)]
        return tuple(slice(first, end) for first, end in pairwise(ends))

    @property
    def every_camera(self) -> tuple[Camera, ...]:
        """Return the cameras of the robots and the others."""
        return (*(camera for robot in self.robots for camera in robot.cameras), *self.cameras)

    @property
    def every_lidar(self) -> tuple[Lidar, ...]:
        """Return the lidars of the robots and the others."""
        return (*(lidar for robot in self.robots for lidar in robot.lidars), *self.lidars)


def lay_out(assembly: Assembly) -> ModelLayout:
    """Resolve every name to its address.

    Raises:
        ModelError: The TF frame of something in the scene would be that of something else, two
            cameras or lidars would have the same topics, a camera has an impossible resolution, or
            a robot has not the joint that is named as its gripper or the site of a lidar.
    """
    model, config = assembly.model, assembly.config
    prefixes = tuple(part.prefix for part in assembly.parts if part.prefix)
    robots = []
    for robot, part in zip(config.robots, assembly.robots, strict=True):
        namespace = config.namespace(robot)
        frame_prefix = part.prefix if namespace else ""
        others = tuple(prefix for prefix in prefixes if prefix != part.prefix)
        found = _robot(model, robot, part.prefix, namespace, frame_prefix, others)
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
    layout = ModelLayout(
        robots=tuple(robots),
        free_objects=(*of_robots, *named),
        cameras=_other_cameras(model, config, robots),
        lidars=tuple(
            resolve_lidar(model, it, where=f"lidar '{it.name}' of the scene")
            for it in config.lidars
        ),
    )
    _check_frames(model, layout, [frame for frame, _ in named])
    _check_topics(layout)
    return layout


def _gripper(config: RobotConfig, joints: tuple[str, ...]) -> int | None:
    if config.gripper is None:
        return None
    if config.gripper not in joints:
        raise unknown("joint", config.gripper, joints, where=f"gripper of robot '{config.name}'")
    return joints.index(config.gripper)


def _check_frames(model: mujoco.MjModel, layout: ModelLayout, free: Iterable[str]) -> None:
    """Refuse what belongs to no robot and whose TF frame is another's already."""
    taken = {"world": "the world"}
    for robot in layout.robots:
        for body in robot.bodies:
            taken[robot.frame(model.body(body).name)] = f"a body of robot '{robot.name}'"
        for sensor in robot.every_sensor:
            taken.setdefault(robot.frame_prefix + sensor.frame, f"a site of robot '{robot.name}'")
        for lidar in robot.lidars:
            taken.setdefault(lidar.frame, f"a site of robot '{robot.name}'")
    own = [(f"free object '{frame}'", frame) for frame in free]
    own += [(f"the site of lidar '{it.name}'", it.frame) for it in _one_each(layout.lidars)]
    for what, frame in own:
        if frame in taken:
            raise UserInputError(
                f"{what}: its TF frame would be that of {taken[frame]}; give it another name"
            )
        taken[frame] = what


def _one_each(lidars: Iterable[Lidar]) -> Iterable[Lidar]:
    """Return one lidar of each site."""
    return {lidar.site: lidar for lidar in lidars}.values()


def _check_topics(layout: ModelLayout) -> None:
    """Refuse cameras and lidars that would have the topics of others."""
    for kind, sensors in (("camera", layout.every_camera), ("lidar", layout.every_lidar)):
        found: dict[tuple[str, str], str] = {}
        for sensor in sensors:
            topic = (sensor.namespace, topic_token(sensor.name))
            if topic in found:
                names = " and ".join(dict.fromkeys((f"'{found[topic]}'", f"'{sensor.name}'")))
                where = f" in the namespace '{sensor.namespace}'" if sensor.namespace else ""
                raise UserInputError(
                    f"two {kind}s of the scene are named {names}{where}, which is '{topic[1]}' in "
                    "the names of topics; rename one"
                )
            found[topic] = sensor.name


def _distinct_frames(
    objects: list[tuple[str, FloatingBase]],
) -> tuple[tuple[str, FloatingBase], ...]:
    """Give each free body its own frame: the object's name, or its own where there are several."""
    owners = [frame for frame, _ in objects]
    return tuple(
        (frame if owners.count(frame) == 1 else base.name, base) for frame, base in objects
    )


def _other_cameras(
    model: mujoco.MjModel, config: SceneConfig, robots: Iterable[RobotLayout]
) -> tuple[Camera, ...]:
    claimed = {camera.camera for robot in robots for camera in robot.cameras}
    return tuple(
        resolve_camera(model, camera, name=name, configs=config.cameras)
        for camera, name in cameras_of(model)
        if camera not in claimed
    )


def _robot(
    model: mujoco.MjModel,
    config: RobotConfig,
    prefix: str,
    namespace: str,
    frame_prefix: str,
    others: tuple[str, ...],
) -> RobotLayout:
    all_names = [model.body(b).name for b in range(model.nbody)]
    bodies = tuple(b for b in range(1, model.nbody) if is_of(all_names[b], prefix, others))
    names = frozenset(all_names[b].removeprefix(prefix) for b in bodies)
    scope = Scope(model, prefix, others, frozenset(bodies), names)
    free = _free_bases(model, bodies, prefix)
    articulated = tuple(b for b in free if _has_scalar_joint(model, b.body))
    joints = _joints(scope)
    sensors = {kind.key: find_sensors(scope, kind) for kind in SENSOR_KINDS}
    used = {element for found in sensors.values() for it in found for element in it.elements}
    return RobotLayout(
        name=config.name,
        prefix=prefix,
        namespace=namespace,
        frame_prefix=frame_prefix,
        bodies=bodies,
        roots=tuple(b for b in bodies if model.body_parentid[b] == 0),
        joints=joints,
        bases=articulated or (() if joints.names else free),
        sensors=sensors,
        cameras=tuple(
            resolve_camera(
                model,
                camera,
                name=name,
                namespace=namespace,
                frame_prefix=frame_prefix,
                configs=config.cameras,
            )
            for camera, name in scope.cameras()
        ),
        lidars=tuple(
            resolve_lidar(
                model,
                lidar,
                where=f"lidar '{lidar.name}' of robot '{config.name}'",
                prefix=prefix,
                namespace=namespace,
                frame_prefix=frame_prefix,
                bodies=names,
            )
            for lidar in config.lidars
        ),
        unused_sensors=tuple(
            scope.short(model.sensor(s).name)
            for s in range(model.nsensor)
            if s not in used and is_of(model.sensor(s).name, prefix, others)
        ),
    )


def _joints(scope: Scope) -> Joints:
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
