"""The topics of sensors that are published together, or as arrays."""

from itertools import accumulate
from operator import mul

from control_msgs.msg import DynamicJointState, InterfaceValue
from ros_gz_interfaces.msg import Contacts
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from mujoco_ros.bridge.publishing.robot_topic import robot_topic
from mujoco_ros.bridge.publishing.template_publisher import NumberSource, Topic
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.sensor_arrays import ARRAY, SensorArray
from mujoco_ros.model.sensors.sensor_states import STATES

CONTACTS = "contact_states"


def sensor_states_topic(index: int, robot: RobotLayout) -> Topic:
    """Return the topic with the named values of the sensors of a robot.

    Args:
        index: Index of the robot in the layout.
        robot: The robot.
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
        robot: The robot.
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
        robot: The robot.
    """
    message = Contacts()
    message.header.frame_id = "world"
    return robot_topic(index, robot, CONTACTS, "", message, {})
