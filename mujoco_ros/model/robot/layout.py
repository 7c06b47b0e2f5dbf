"""The elements of a model, resolved to addresses: each robot's joints, sensors and frames."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import free_joint
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.actuators import find_gripper
from mujoco_ros.model.robot.drive import PLANAR, Drive, NoDriveError, find_drive, planar_drive
from mujoco_ros.model.robot.rollers import HIDDEN_JOINTS
from mujoco_ros.model.robot.scope import SCALAR_JOINTS, Scope, cameras_of
from mujoco_ros.model.robot.wheels import NO_WHEELS, Wheels, find_wheels, has_wheels
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.scene.config import RobotConfig
from mujoco_ros.model.sensors.cameras import Camera, resolve_camera
from mujoco_ros.model.sensors.lidars import Lidar, resolve_lidar
from mujoco_ros.model.sensors.robot_sensors import RobotSensor, SensorFrame, find_all_sensors
from mujoco_ros.model.sensors.sensor_arrays import SensorArray, find_arrays
from mujoco_ros.model.sensors.sensor_states import SensorState, find_states


@dataclass(frozen=True, kw_only=True)
class Joints:
    """A robot's scalar joints in model order."""

    names: tuple[str, ...]  # without the prefix
    ids: np.ndarray  # (n,) joint id
    qpos: np.ndarray  # (n,) address in qpos
    dof: np.ndarray  # (n,) address in qvel


@dataclass(frozen=True, kw_only=True)
class FloatingBase:
    """A body on a free joint; `qpos` and `dof` are the joint's addresses."""

    name: str
    body: int
    joint: int
    qpos: int
    dof: int


@dataclass(frozen=True, kw_only=True)
class RobotLayout:
    """The elements of a robot that have ROS interfaces."""

    name: str
    prefix: str  # prefix of its names in the model
    namespace: str
    frame_prefix: str  # prefix of its TF frames
    bodies: tuple[int, ...]
    roots: tuple[int, ...]  # its bodies whose parent is the world
    joints: Joints
    bases: tuple[FloatingBase, ...]
    sensors: Mapping[str, tuple[RobotSensor, ...]]
    states: tuple[SensorState, ...]  # its MuJoCo sensors that are published as named values
    arrays: tuple[SensorArray, ...]  # its MuJoCo sensors that are published as arrays
    cameras: tuple[Camera, ...]
    lidars: tuple[Lidar, ...]
    unused_sensors: tuple[str, ...]  # names of its MuJoCo sensors without a topic
    wheels: Wheels = NO_WHEELS
    drive: Drive | None = None  # what drives its wheels
    no_drive: str = ""  # why nothing drives them
    gripper: int | None = None  # index of the joint of the gripper controller
    gripper_tendon: int | None = None  # index in the model of its tendon instead, if it moves one

    @property
    def base(self) -> FloatingBase | None:
        """The floating base; None if the robot has none, or several."""
        return self.bases[0] if len(self.bases) == 1 else None

    @property
    def every_sensor(self) -> tuple[RobotSensor, ...]:
        """Return the sensors of all kinds."""
        return tuple(sensor for sensors in self.sensors.values() for sensor in sensors)

    def frame(self, name: str) -> str:
        """Return the TF frame of an element by its name in the model."""
        return self.frame_prefix + name.removeprefix(self.prefix)

    def sensor_frame(self, frame: SensorFrame) -> str:
        """Return the TF frame of a sensor."""
        return frame.name if frame.is_global else self.frame_prefix + frame.name


@dataclass(frozen=True, kw_only=True)
class ModelLayout:
    """The robots of a model, and the elements of no robot."""

    robots: tuple[RobotLayout, ...]
    # TF frame and base of each free body that is no robot's base
    free_objects: tuple[tuple[str, FloatingBase], ...]
    cameras: tuple[Camera, ...]  # cameras of the world and of objects
    lidars: tuple[Lidar, ...]  # lidars of the world

    @property
    def columns(self) -> tuple[slice, ...]:
        """Return the slice of each robot's joints in arrays of the joints of all robots."""
        ends = [0, *accumulate(len(robot.joints.names) for robot in self.robots)]
        return tuple(slice(first, end) for first, end in pairwise(ends))

    @property
    def every_camera(self) -> tuple[Camera, ...]:
        """Return the cameras of all robots, the world and objects."""
        return (*(camera for robot in self.robots for camera in robot.cameras), *self.cameras)

    @property
    def every_lidar(self) -> tuple[Lidar, ...]:
        """Return the lidars of all robots and the world."""
        return (*(lidar for robot in self.robots for lidar in robot.lidars), *self.lidars)


def scopes(assembly: Assembly) -> Iterator[Scope]:
    """Yield the elements of each robot of a scene."""
    prefixes = [part.prefix for part in assembly.parts if part.prefix]
    for part in assembly.robots:
        others = tuple(other for other in prefixes if other != part.prefix)
        yield Scope(assembly.model, part.prefix, others)


def lay_out(assembly: Assembly) -> ModelLayout:
    """Resolve the elements of a scene to addresses; TF frames and topics must differ."""
    model, config = assembly.model, assembly.config
    robots = tuple(
        _robot(scope, robot, config.namespace(robot))
        for robot, scope in zip(config.robots, scopes(assembly), strict=True)
    )
    bases = {base.body for robot in robots for base in robot.bases}
    owners = {body: robot for robot in robots for body in robot.bodies}
    of_robots, objects = [], []
    for base in _free_bases(model, range(1, model.nbody), ""):
        if base.body in bases:
            continue
        if base.body in owners:
            of_robots.append((owners[base.body].frame(base.name), base))
        else:
            objects.append((base.name.partition("/")[0], base))
    # The name of an object with several free bodies is ambiguous for a frame.
    names = [name for name, _ in objects]
    objects = [(name if names.count(name) == 1 else base.name, base) for name, base in objects]
    of_robot = {camera.camera for robot in robots for camera in robot.cameras}
    layout = ModelLayout(
        robots=robots,
        free_objects=(*of_robots, *objects),
        cameras=tuple(
            resolve_camera(model, camera, name=name, configs=config.cameras)
            for camera, name in cameras_of(model)
            if camera not in of_robot
        ),
        lidars=tuple(
            resolve_lidar(model, lidar, where=f"lidar '{lidar.name}' of the scene")
            for lidar in config.lidars
        ),
    )
    _check_frames(model, layout, [frame for frame, _ in objects])
    _check_topics(layout)
    return layout


def _check_frames(model: mujoco.MjModel, layout: ModelLayout, objects: Iterable[str]) -> None:
    """Reject objects and lidars of the world whose TF frame is taken."""
    taken = {"world": "the world"}
    for robot in layout.robots:
        for body in robot.bodies:
            taken[robot.frame(model.body(body).name)] = f"a body of robot '{robot.name}'"
        sensors = [
            robot.sensor_frame(sensor.frame)
            for sensor in robot.every_sensor
            if sensor.frame.body >= 0
        ]
        for frame in (*sensors, *(lidar.frame for lidar in robot.lidars)):
            taken.setdefault(frame, f"a sensor of robot '{robot.name}'")
    own = [(f"free object '{frame}'", frame) for frame in objects]
    sites = {lidar.site: lidar for lidar in layout.lidars}
    own += [(f"the site of lidar '{lidar.name}'", lidar.frame) for lidar in sites.values()]
    for element, frame in own:
        if frame in taken:
            raise UserInputError(
                f"{element}: its TF frame would be the frame of {taken[frame]}; "
                "give it another name"
            )
        taken[frame] = element


def _check_topics(layout: ModelLayout) -> None:
    """Reject cameras and lidars that would have the same topics."""
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
    named: dict[str, str] = {}
    for lidar in layout.every_lidar:
        if lidar.topic in named:
            raise UserInputError(
                f"lidars '{named[lidar.topic]}' and '{lidar.name}' have the same topic, "
                f"/{lidar.topic}; change the 'topic' of one"
            )
        named[lidar.topic] = lidar.name


def _robot(scope: Scope, config: RobotConfig, namespace: str) -> RobotLayout:
    model, prefix = scope.model, scope.prefix
    frame_prefix = prefix if namespace else ""
    bases = _free_bases(model, scope.bodies, prefix)
    articulated = tuple(base for base in bases if _has_scalar_joint(model, base.body))
    joints = _joints(scope)
    gripper, tendon = None, None
    if config.gripper is not None:
        where = f"gripper of robot '{config.name}'"
        gripper, tendon = find_gripper(scope, joints.names, joints.ids, config.gripper, where)
    sensors = find_all_sensors(scope)
    used = {
        element for found in sensors.values() for sensor in found for element in sensor.elements
    }
    states = find_states(scope)
    used.update(state.element for state in states)
    arrays = find_arrays(scope, used)
    used.update(array.element for array in arrays)
    root = bases[0].body if bases else scope.bodies[0] if scope.bodies else 0
    wheels, drive, no_drive = _drive(scope, config, root, is_free=bool(articulated))
    return RobotLayout(
        name=config.name,
        prefix=prefix,
        namespace=namespace,
        frame_prefix=frame_prefix,
        bodies=scope.bodies,
        roots=tuple(body for body in scope.bodies if model.body_parentid[body] == 0),
        joints=joints,
        bases=articulated or (() if joints.names else bases),
        sensors=sensors,
        states=states,
        arrays=arrays,
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
                bodies=scope.body_names,
            )
            for lidar in config.lidars
        ),
        unused_sensors=tuple(
            scope.short(model.sensor(sensor).name) for sensor in scope.sensors if sensor not in used
        ),
        wheels=wheels,
        drive=drive,
        no_drive=no_drive,
        gripper=gripper,
        gripper_tendon=tendon,
    )


def _drive(
    scope: Scope, config: RobotConfig, root: int, *, is_free: bool
) -> tuple[Wheels, Drive | None, str]:
    """Return the wheels of a robot, and their drive or why there is none."""
    if config.drive != "none" and (planar := _planar_drive(scope)) is not None:
        return NO_WHEELS, planar, ""
    if not has_wheels(scope.model, scope.bodies):
        return NO_WHEELS, None, ""
    wheels = find_wheels(scope.model, root, scope.prefix)
    if not wheels.wheels or config.drive == "none":
        return wheels, None, ""
    if not is_free:
        return wheels, None, "its base is fixed"
    try:
        is_holonomic = config.drive == "omnidirectional"
        return wheels, find_drive(wheels, is_holonomic=is_holonomic), ""
    except NoDriveError as error:
        return wheels, None, str(error)


def _planar_drive(scope: Scope) -> Drive | None:
    """Return the drive of the first planar joint of a URDF whose three parts have actuators."""
    model = scope.model
    names = {scope.short(model.joint(joint).name): joint for joint in range(model.njnt)}
    driven = {int(model.actuator_trnid[actuator, 0]) for actuator in range(model.nactuator)}
    for name, joint in names.items():
        stem, body = name.removesuffix(PLANAR[0]), int(model.jnt_bodyid[joint])
        parts = [names.get(stem + end) for end in PLANAR]
        if stem != name and body in scope.bodies and all(part in driven for part in parts):
            parent = int(model.body_parentid[body])
            links = [scope.short(model.body(link).name) for link in (parent, body)]
            return planar_drive(stem, *links)
    return None


def _joints(scope: Scope) -> Joints:
    model = scope.model
    ids = [
        joint
        for joint in range(model.njnt)
        if model.jnt_type[joint] in SCALAR_JOINTS
        and int(model.jnt_bodyid[joint]) in scope.bodies
        and model.jnt_group[joint] != HIDDEN_JOINTS
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
    return tuple(
        FloatingBase(
            name=model.body(body).name.removeprefix(prefix) or f"body{body}",
            body=body,
            joint=joint,
            qpos=int(model.jnt_qposadr[joint]),
            dof=int(model.jnt_dofadr[joint]),
        )
        for body in bodies
        if (joint := free_joint(model, body)) is not None
    )


def _has_scalar_joint(model: mujoco.MjModel, root: int) -> bool:
    in_tree = model.body_treeid == model.body_treeid[root]
    return bool(np.isin(model.jnt_type[in_tree[model.jnt_bodyid]], SCALAR_JOINTS).any())


def all_joints(layout: ModelLayout) -> Joints:
    """Concatenate the joints of all robots; names carry the robot's prefix."""
    robots, none = layout.robots, np.empty(0, dtype=np.intp)
    return Joints(
        names=tuple(r.prefix + n for r in robots for n in r.joints.names),
        ids=np.concatenate([none, *(r.joints.ids for r in robots)]),
        qpos=np.concatenate([none, *(r.joints.qpos for r in robots)]),
        dof=np.concatenate([none, *(r.joints.dof for r in robots)]),
    )
