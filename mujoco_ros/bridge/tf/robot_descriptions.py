"""The topic robot_description of every robot, also for a controller_manager."""

from dataclasses import replace
from xml.etree import ElementTree

from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.synchronize import synchronize
from mujoco_ros.control.joints import command_interfaces
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.urdf.exporting.ros2_control import HardwareJoint, write_ros2_control
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.qos import LATCHED


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
    return str(node.resolve_topic_name(in_namespace(robot.namespace, topic)))


class RobotDescriptions(Component):
    """Publishes each robot's robot_description while the robot exists."""

    def __init__(self, context: NodeContext) -> None:
        """Publish the descriptions of the robots; with ros2_control, they contain its hardware.

        Raises:
            UserInputError: A file that a description is made from is wrong.
        """
        self._node, self._endpoints = context.node, context.endpoints
        self._has_controllers = context.has_controllers
        self._publishers: dict[ScenePart, Publisher] = {}
        self._known: dict[ScenePart, RobotDescription] = {}
        self.build(context.simulation.plant)
        self.finish()

    def of(self, plant: Plant) -> list[RobotDescription]:
        """Return the descriptions of the plant that was built last."""
        assert self._next[0] is plant
        return self._next[1]

    def build(self, plant: Plant) -> None:
        """Describe the robots of the next plant.

        Raises:
            UserInputError: A file that a description is made from is wrong.
        """
        described = descriptions(plant.assembly, plant.layout, self._known)
        self._known = dict(zip(plant.assembly.robots, described, strict=True))
        if not self._has_controllers:
            described = with_hardware(self._node, plant, described)
        self._next = plant, described

    def finish(self) -> None:
        """Publish the descriptions of new robots; close the topics of deleted ones."""
        plant, described = self._next
        robots = dict(zip(plant.assembly.robots, described, strict=True))
        synchronize(self._publishers, robots, self._publish, self._endpoints.close)

    def _publish(self, _part: ScenePart, robot: RobotDescription) -> Publisher:
        topic = in_namespace(robot.namespace, "robot_description")
        publisher = self._endpoints.publisher(String, topic, LATCHED)
        publisher.publish(String(data=robot.urdf))
        return publisher
