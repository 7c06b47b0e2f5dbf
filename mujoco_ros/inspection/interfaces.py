"""The sensors, cameras and actuators of a robot, and their topics."""

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import INTERFACES, POSITION
from mujoco_ros.control.streams import FORWARDED
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.sensors.sensor_arrays import ARRAY
from mujoco_ros.model.sensors.sensor_states import STATES, sensor_type
from mujoco_ros.sim.actuator_controls import free_controls
from mujoco_ros.sim.plant import Plant

_ACTUATOR_CONTROLLER = "actuator_controller/commands"
_GRIPPER = f"{CommandSource.GRIPPER}/gripper_cmd"
_GRIPPER_ACTION = "control_msgs/action/ParallelGripperCommand"
_BY_NAME = "control_msgs/msg/DynamicJointState"
_ARRAY = "std_msgs/msg/Float64MultiArray"
_TRAJECTORY = f"{CommandSource.TRAJECTORY}/follow_joint_trajectory"
_UNITS = {
    (False, "position"): "rad",
    (False, "velocity"): "rad/s",
    (False, "effort"): "Nm",
    (True, "position"): "m",
    (True, "velocity"): "m/s",
    (True, "effort"): "N",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorEntry:
    """A sensor, camera or lidar."""

    name: str
    kind: str  # kinds of its MuJoCo sensors, ``camera`` or ``lidar``
    topic: str = ""  # its topic, or the namespace of its topics; empty without one
    message: str = ""  # type of the message; empty without a topic


@dataclass(frozen=True, kw_only=True, slots=True)
class ActuatorEntry:
    """A control input of the model."""

    name: str  # its name, without the prefix of its robot
    target: str  # what it acts on: kind and name
    limits: tuple[float, float] | None  # range of the command; None if unlimited
    command: str  # how it is commanded
    unit: str  # unit of the command; empty where MuJoCo defines none


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandInput:
    """A topic or action that commands a robot, with the type of its messages."""

    name: str
    message: str
    joints: tuple[str, ...]


def sensor_entries(model: mujoco.MjModel, robot: RobotLayout) -> tuple[SensorEntry, ...]:
    """Return the sensors of a robot: with a topic, without one, cameras and lidars."""

    def entries() -> Iterator[tuple[str, str, str, str]]:
        """Yield name, kind, topic and message of each."""
        for kind in SENSOR_KINDS:
            for sensor in robot.sensors[kind.key]:
                kinds = ", ".join(sensor_type(model, element) for element in sensor.elements)
                topic = _absolute(robot.namespace, kind.key, topic_token(sensor.name))
                yield sensor.name, kinds, topic, kind.message
        for state in robot.states:
            topic = _absolute(robot.namespace, STATES)
            yield state.name, sensor_type(model, state.element), topic, _BY_NAME
        for array in robot.arrays:
            topic = _absolute(robot.namespace, ARRAY, topic_token(array.name))
            yield array.name, sensor_type(model, array.element), topic, _ARRAY
        for name in robot.unused_sensors:
            yield name, sensor_type(model, model.sensor(robot.prefix + name).id), "", ""
        for camera in robot.cameras:
            topic = _absolute(camera.namespace, "camera", topic_token(camera.name), "image_raw")
            size = f"camera, {camera.width} x {camera.height} pixels"
            yield camera.name, size, topic, "sensor_msgs/msg/Image"
        for lidar in robot.lidars:
            message = "LaserScan" if lidar.is_scan else "PointCloud2"
            yield lidar.name, "lidar", _absolute("", lidar.topic), f"sensor_msgs/msg/{message}"

    return tuple(
        SensorEntry(name=name, kind=kind, topic=topic, message=message)
        for name, kind, topic, message in entries()
    )


def actuator_entries(plant: Plant, index: int) -> tuple[ActuatorEntry, ...]:
    """Return the control inputs of a robot, given by its index in the layout."""
    model, robot = plant.model, plant.layout.robots[index]
    first = plant.layout.columns[index].start
    controlled = plant.controls[index].joints
    entries = []
    for joint, name in enumerate(robot.joints.names):
        if not plant.drives.modes(first + joint):
            continue
        taken = controlled.interfaces[joint]
        interfaces = [interface for interface in INTERFACES if interface in taken]
        slides = bool(model.jnt_type[robot.joints.ids[joint]] == mujoco.mjtJoint.mjJNT_SLIDE)
        lower, upper = float(controlled.lower[joint]), float(controlled.upper[joint])
        limited = POSITION in interfaces and max(abs(lower), abs(upper)) < float("inf")
        entries.append(
            ActuatorEntry(
                name=name,
                target=f"joint {name}",
                limits=(lower, upper) if limited else None,
                command=f"joint: {', '.join(interfaces)}",
                unit=", ".join(_UNITS[slides, interface] for interface in interfaces),
            )
        )
    for control in free_controls(plant)[robot.name]:
        actuator = model.actuator(control.key).id
        lower, upper = map(float, model.actuator_ctrlrange[control.slot])
        entries.append(
            ActuatorEntry(
                name=control.name,
                target=_target(model, actuator, robot.prefix),
                limits=(lower, upper) if model.actuator_ctrllimited[control.slot] else None,
                command=f"{_absolute(robot.namespace, CommandSource.ACTUATORS)}, by its name",
                unit=_free_unit(model, actuator),
            )
        )
    return tuple(entries)


def command_inputs(plant: Plant, index: int) -> tuple[CommandInput, ...]:
    """Return the topics and actions that command a robot, given by its index in the layout."""
    robot, joints = plant.layout.robots[index], plant.controls[index].joints
    free = free_controls(plant)[robot.name]

    def taking(interface: str) -> list[str]:
        return [joints.names[joint] for joint in joints.with_interface(interface)]

    any_command = [
        name for name, taken in zip(joints.names, joints.interfaces, strict=True) if taken
    ]
    without_gripper = [control.name for control in free if not control.of_gripper]
    found = [
        (str(CommandSource.JOINT_COMMANDS), "sensor_msgs/msg/JointState", any_command),
        (_TRAJECTORY, "control_msgs/action/FollowJointTrajectory", taking(POSITION)),
        *(
            (f"{source}/commands", _ARRAY, taking(interface))
            for source, interface in FORWARDED.items()
        ),
        (_GRIPPER, _GRIPPER_ACTION, [joints.gripper_name] if joints.has_gripper else []),
        (str(CommandSource.ACTUATORS), _BY_NAME, [control.name for control in free]),
        (_ACTUATOR_CONTROLLER, _ARRAY, without_gripper),
    ]
    return tuple(
        CommandInput(
            name=_absolute(robot.namespace, name), message=message, joints=tuple(commanded)
        )
        for name, message, commanded in found
        if commanded
    )


def _absolute(namespace: str, *names: str) -> str:
    return f"/{in_namespace(namespace, *names)}"


def _target(model: mujoco.MjModel, actuator: int, prefix: str) -> str:
    kind = mujoco.mjtTrn(model.actuator_trntype[actuator])
    word: str = kind.name.removeprefix("mjTRN_").lower()
    index = int(model.actuator_trnid[actuator, 0])
    element = {"jointinparent": "joint", "slidercrank": "site"}.get(word, word)
    named = getattr(model, element, None)
    if named is None or index < 0:
        return word
    return f"{word.removesuffix('inparent')} {named(index).name.removeprefix(prefix)}".strip()


def _free_unit(model: mujoco.MjModel, actuator: int) -> str:
    if model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_MUSCLE:
        return "excitation, 0 to 1"
    if model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_BODY:
        return "adhesion"
    return "ctrl of MuJoCo"
