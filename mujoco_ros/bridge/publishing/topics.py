"""The topics of a robot: its joints, bases, sensors and trajectory controller."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import mul
from typing import Any

from control_msgs.msg import DynamicJointState, InterfaceValue, JointTrajectoryControllerState
from geometry_msgs.msg import AccelStamped, PoseStamped, TransformStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from ros_gz_interfaces.msg import Contacts
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.publishing.template_publisher import NumberSource, Topic
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.layout import FloatingBase, RobotLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind
from mujoco_ros.model.sensors.robot_sensors import RobotSensor
from mujoco_ros.model.sensors.sensor_arrays import ARRAY, SensorArray
from mujoco_ros.model.sensors.sensor_states import STATES
from mujoco_ros.wire.message_template import message_type, set_field
from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.parameter_spec import WrenchSign
from mujoco_ros.wire.qos import DEEP, RELIABLE, SENSOR, TF


def robot_topic(
    index: int,
    robot: RobotLayout,
    kind: str,
    element: str,
    message: Any,
    numbers: Mapping[str, NumberSource],
    qos: QoSProfile = SENSOR,
    stamps: tuple[str, ...] = ("header.stamp",),
) -> Topic:
    """Return the topic ``<namespace>/<kind>/<element>`` with the rate of its kind."""
    parts = (robot.namespace, kind, topic_token(element) if element else "")
    return Topic(
        name=in_namespace(*parts),
        rate=kind,
        message=message,
        numbers=numbers,
        stamps=stamps,
        qos=qos,
        robot=index,
    )


CONTACTS = "contact_states"


def sensor_states_topic(index: int, robot: RobotLayout) -> Topic:
    """Return the topic with the named values of the sensors of a robot.

    Args:
        index: Index of the robot in the layout.
    """
    message = DynamicJointState()
    numbers: dict[str, NumberSource] = {}
    for row, state in enumerate(robot.states):
        interfaces = state.quantity.interfaces
        message.joint_names.append(state.name)
        values = [0.0] * len(interfaces)
        message.interface_values.append(
            InterfaceValue(interface_names=list(interfaces), values=values)
        )
        for column in range(len(interfaces)):
            source = NumberSource("sensordata", state.address + column)
            numbers[f"interface_values.{row}.values.{column}"] = source
    return robot_topic(index, robot, STATES, "", message, numbers)


def sensor_array_topic(index: int, robot: RobotLayout, sensor: SensorArray) -> Topic:
    """Return the topic of a sensor that is published as an array.

    Args:
        index: Index of the robot in the layout.
        sensor: One of its arrays.
    """
    message = Float64MultiArray()
    sizes = [size for _, size in sensor.dimensions]
    strides = list(accumulate(reversed(sizes), mul))[::-1]
    message.layout.dim = [
        MultiArrayDimension(label=label, size=size, stride=stride)
        for (label, size), stride in zip(sensor.dimensions, strides, strict=True)
    ]
    message.data = [0.0] * strides[0]
    source = "distances" if sensor.is_range else "sensordata"
    numbers = {f"data.{i}": NumberSource(source, sensor.address + i) for i in range(strides[0])}
    return robot_topic(index, robot, ARRAY, sensor.name, message, numbers, stamps=())


def contact_states_topic(index: int, robot: RobotLayout) -> Topic:
    """Return the topic of the contacts of a robot, whose messages `ContactStates` fills.

    Args:
        index: Index of the robot in the layout.
    """
    message = Contacts()
    message.header.frame_id = "world"
    return robot_topic(index, robot, CONTACTS, "", message, {})


GROUND_TRUTH = "ground_truth"
"""Namespace of topics without the imperfections of odometry and sensors, inside the robot's."""
CARTESIAN_STATE = "cartesian_state"
JOINT_REFERENCES = "joint_references"
CONTROLLER_STATE = "joint_trajectory_controller/controller_state"


def clock_topic() -> Topic:
    """Return /clock, which is published with every other message."""
    return Topic(
        name="/clock", rate="clock", message=Clock(), numbers={}, stamps=("clock",), qos=RELIABLE
    )


def robot_topics(
    index: int,
    robot: RobotLayout,
    first_base: int,
    wrench_sign: WrenchSign,
    controlled: Sequence[tuple[int, int]] = (),
    base: str = "",
    commanded: Mapping[str, int] | None = None,
) -> Iterator[Topic]:
    """Yield the topics of a robot except TF.

    Args:
        index: Index of the robot in the layout.
        first_base: Row of its first floating base in the array ``base_motion``.
        wrench_sign: Sign of wrenches.
        controlled: Joints of its trajectory controller: index among the robot's joints, and among
            the joints of all robots.
        base: Base of the frame that its Cartesian controller moves; empty without one.
        commanded: Addresses in the array ``position_commands`` of what takes commands, by name.
    """
    # MuJoCo's force and torque sensors report the load of the parent on the child.
    load_sign = -1.0 if wrench_sign == "child_on_parent" else 1.0
    if robot.joints.names:
        yield _joint_states(index, robot)
    if commanded:
        yield _joint_references(index, robot, commanded)
    if controlled:
        yield _controller_state(index, robot, controlled)
    if base:
        yield from _cartesian_state(index, robot, base)
    for kind in SENSOR_KINDS:
        for sensor in robot.sensors[kind.key]:
            yield _sensor(index, robot, kind, sensor, load_sign)
    if robot.states:
        yield sensor_states_topic(index, robot)
    for sensor_array in robot.arrays:
        yield sensor_array_topic(index, robot, sensor_array)
    yield contact_states_topic(index, robot)
    for row, floating in enumerate(robot.bases, first_base):
        yield _odom(index, robot, floating, row)
        yield _base_accel(index, robot, floating, row)


def vector(path: str, array_name: str, start: int) -> dict[str, NumberSource]:
    """Map ``path.x``, ``.y``, ``.z`` to three numbers from an address on."""
    return {f"{path}.{axis}": NumberSource(array_name, start + i) for i, axis in enumerate("xyz")}


def quaternion(path: str, array_name: str, start: int) -> dict[str, NumberSource]:
    """Map a quaternion of a message to wxyz numbers from an address on."""
    return {f"{path}.{axis}": NumberSource(array_name, start + i) for i, axis in enumerate("wxyz")}


def frame_motion(
    array_name: str, start: int
) -> tuple[dict[str, NumberSource], dict[str, NumberSource]]:
    """Map a PoseStamped and a TwistStamped to the 13 numbers of `FrameMotions` from an address."""
    pose = vector("pose.position", array_name, start)
    pose |= quaternion("pose.orientation", array_name, start + 3)
    twist = vector("twist.linear", array_name, start + 7)
    return pose, twist | vector("twist.angular", array_name, start + 10)


def transform_topic(frames: Sequence[tuple[str, str, str, int]]) -> Topic:
    """Return /tf; a row is (parent frame, child frame, array, address of its 7 numbers)."""
    message = TFMessage()
    numbers: dict[str, NumberSource] = {}
    for i, (parent, child, array_name, start) in enumerate(frames):
        transform = TransformStamped()
        transform.header.frame_id, transform.child_frame_id = parent, child
        message.transforms.append(transform)
        numbers |= vector(f"transforms.{i}.transform.translation", array_name, start)
        numbers |= quaternion(f"transforms.{i}.transform.rotation", array_name, start + 3)
    return Topic(
        name="/tf",
        rate="tf",
        message=message,
        numbers=numbers,
        stamps=tuple(f"transforms.{i}.header.stamp" for i in range(len(frames))),
        qos=TF,
    )


def _joint_states(index: int, robot: RobotLayout) -> Topic:
    joints = robot.joints
    zeros = array("d", [0.0] * len(joints.names))
    message = JointState(name=list(joints.names), position=zeros, velocity=zeros, effort=zeros)
    numbers: dict[str, NumberSource] = {}
    for field, source, addresses in (
        ("position", "measured_qpos", joints.qpos),
        ("velocity", "measured_qvel", joints.dof),
        ("effort", "measured_effort", joints.dof),
    ):
        numbers |= {f"{field}.{i}": NumberSource(source, int(a)) for i, a in enumerate(addresses)}
    return robot_topic(index, robot, "joint_states", "", message, numbers, RELIABLE)


def _joint_references(index: int, robot: RobotLayout, commanded: Mapping[str, int]) -> Topic:
    zeros = array("d", [0.0] * len(commanded))
    message = JointState(name=list(commanded), position=zeros, velocity=zeros, effort=zeros)
    numbers: dict[str, NumberSource] = {}
    for i, (name, address) in enumerate(commanded.items()):
        numbers[f"position.{i}"] = NumberSource("position_commands", address)
        if name in robot.joints.names:  # not a tendon
            numbers[f"velocity.{i}"] = NumberSource("reference_velocity", address)
            numbers[f"effort.{i}"] = NumberSource("reference_effort", address)
    return robot_topic(index, robot, JOINT_REFERENCES, "", message, numbers, DEEP)


def _controller_state(
    index: int, robot: RobotLayout, controlled: Sequence[tuple[int, int]]
) -> Topic:
    joints = robot.joints
    message = JointTrajectoryControllerState(
        joint_names=[joints.names[own] for own, _ in controlled]
    )
    numbers: dict[str, NumberSource] = {}
    for field, array_name in (
        ("reference.positions", "reference_position"),
        ("reference.velocities", "reference_velocity"),
        ("reference.accelerations", "reference_acceleration"),
        ("reference.effort", "reference_effort"),
        ("error.positions", "position_error"),
        ("error.velocities", "velocity_error"),
        ("output.positions", "reference_position"),
        ("output.velocities", "reference_velocity"),
        ("output.effort", "reference_effort"),
    ):
        numbers |= {
            f"{field}.{i}": NumberSource(array_name, among_all)
            for i, (_, among_all) in enumerate(controlled)
        }
    for field, array_name, addresses in (
        ("feedback.positions", "measured_qpos", joints.qpos),
        ("feedback.velocities", "measured_qvel", joints.dof),
        ("feedback.effort", "measured_effort", joints.dof),
    ):
        numbers |= {
            f"{field}.{i}": NumberSource(array_name, int(addresses[own]))
            for i, (own, _) in enumerate(controlled)
        }
    zeros = array("d", [0.0] * len(controlled))
    for field in {path.rpartition(".")[0] for path in numbers}:
        point, name = field.split(".")
        # A copy for each field: messages may keep the array itself.
        setattr(getattr(message, point), name, zeros[:])
    numbers["speed_scaling_factor"] = NumberSource("speed_scaling", index)
    return Topic(
        name=in_namespace(robot.namespace, CONTROLLER_STATE),
        rate="controller_state",
        message=message,
        numbers=numbers,
        stamps=("header.stamp",),
        durations={
            f"{point}.time_from_start": NumberSource("elapsed", index)
            for point in ("reference", "feedback", "error", "output")
        },
        qos=RELIABLE,
        robot=index,
    )


def _cartesian_state(index: int, robot: RobotLayout, base: str) -> Iterator[Topic]:
    pose, twist, first = PoseStamped(), TwistStamped(), 13 * index
    pose.header.frame_id = twist.header.frame_id = base
    numbers, velocities = frame_motion(CARTESIAN_STATE, first)
    for name, message, values in (
        ("current_pose", pose, numbers),
        ("current_twist", twist, velocities),
    ):
        yield Topic(
            name=in_namespace(robot.namespace, "cartesian_controller", name),
            rate=CARTESIAN_STATE,
            message=message,
            numbers=values,
            stamps=("header.stamp",),
            qos=RELIABLE,
            robot=index,
        )


def _sensor(
    index: int, robot: RobotLayout, kind: SensorKind, sensor: RobotSensor, load_sign: float
) -> Topic:
    message = message_type(kind.message)()
    message.header.frame_id = robot.sensor_frame(sensor.frame)
    for path, value in sensor.constants.items():
        set_field(message, path, value)
    numbers: dict[str, NumberSource] = {}
    for measurement in kind.measurements:
        if measurement.name not in sensor.addresses:
            continue
        array_name = "distances" if measurement.is_distance else "sensordata"
        sign = load_sign if measurement.is_load else 1.0
        for address, path in enumerate(measurement.paths, sensor.addresses[measurement.name]):
            numbers[path] = NumberSource(array_name, address, sign)
    return robot_topic(index, robot, kind.key, sensor.name, message, numbers)


def _base_suffix(robot: RobotLayout, base: FloatingBase) -> str:
    """Return the last token of the topics of a base: its body, if the robot has several bases."""
    return base.name if len(robot.bases) > 1 else ""


def _odom(index: int, robot: RobotLayout, base: FloatingBase, row: int) -> Topic:
    """Return the pose of a base: the true one of a robot with a drive, which has odometry."""
    message, measured = Odometry(), "" if robot.drive else "measured_"
    message.header.frame_id, message.child_frame_id = WORLD, robot.frame(base.name)
    numbers = vector("pose.pose.position", f"{measured}qpos", base.qpos)
    numbers |= quaternion("pose.pose.orientation", f"{measured}qpos", base.qpos + 3)
    numbers |= vector("twist.twist.linear", f"{measured}base_motion", 6 * row)
    numbers |= vector("twist.twist.angular", f"{measured}qvel", base.dof + 3)
    topic = robot_topic(index, robot, "odom", _base_suffix(robot, base), message, numbers, RELIABLE)
    if not robot.drive:
        return topic
    return replace(topic, name=in_namespace(robot.namespace, GROUND_TRUTH, "odom"))


def _base_accel(index: int, robot: RobotLayout, base: FloatingBase, row: int) -> Topic:
    message = AccelStamped()
    message.header.frame_id = robot.frame(base.name)
    numbers = vector("accel.linear", "base_motion", 6 * row + 3)
    numbers |= vector("accel.angular", "qacc", base.dof + 3)
    return robot_topic(index, robot, "base_accel", _base_suffix(robot, base), message, numbers)
