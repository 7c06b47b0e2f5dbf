"""Hardware descriptions for a controller_manager in robot_description."""

from dataclasses import replace
from xml.etree import ElementTree

from rclpy.node import Node

from mujoco_ros.control.modes import command_interfaces
from mujoco_ros.model.naming import within
from mujoco_ros.model.robot.description import RobotDescription
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.urdf.exporting.ros2_control import HardwareJoint, write_ros2_control
from mujoco_ros.sim.plant import Plant


def with_hardware(
    node: Node, plant: Plant, described: list[RobotDescription]
) -> list[RobotDescription]:
    """Return the descriptions of all robots with ``<ros2_control>`` blocks for their joints.

    Raises:
        UserInputError: A limit of a joint in a URDF is not a number.
    """
    found = []
    first = 0
    for robot, description in zip(plant.layout.robots, described, strict=True):
        tree = ElementTree.fromstring(description.urdf)
        write_ros2_control(
            tree,
            _joints(plant, robot, first),
            commands_topic=_resolved(node, robot, "joint_commands"),
            states_topic=_resolved(node, robot, "joint_states"),
        )
        found.append(replace(description, urdf=ElementTree.tostring(tree, encoding="unicode")))
        first += len(robot.joints.names)
    return found


def _joints(plant: Plant, robot: RobotLayout, first: int) -> list[HardwareJoint]:
    """Return the joints of a robot with their positions; `first` is the index of its first one."""
    positions = plant.data.qpos[robot.joints.qpos]
    return [
        HardwareJoint(
            name=name,
            takes=command_interfaces(plant.drives.modes(first + index)),
            position=float(positions[index]),
        )
        for index, name in enumerate(robot.joints.names)
    ]


def _resolved(node: Node, robot: RobotLayout, topic: str) -> str:
    """Return the name of a topic of the robot after remappings."""
    return str(node.resolve_topic_name(within(robot.namespace, topic)))
