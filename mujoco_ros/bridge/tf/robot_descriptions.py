"""The topic robot_description of every robot."""

from rclpy.publisher import Publisher
from std_msgs.msg import String

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.synchronize import synchronize
from mujoco_ros.bridge.tf.ros2_control import with_hardware
from mujoco_ros.model.naming import within
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.qos import LATCHED


class RobotDescriptions(Component):
    """Publishes each robot's robot_description while the robot exists."""

    def __init__(self, context: NodeContext) -> None:
        """Publish the descriptions of the robots; with ros2_control, they contain its hardware.

        Raises:
            UserInputError: A file that a description is made from is wrong.
        """
        self._node, self._endpoints = context.node, context.endpoints
        self._has_controllers = context.has_controllers
        self._publishers: dict[Part, Publisher] = {}
        self._known: dict[Part, RobotDescription] = {}
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

    def _publish(self, _part: Part, robot: RobotDescription) -> Publisher:
        topic = within(robot.namespace, "robot_description")
        publisher = self._endpoints.publisher(String, topic, LATCHED)
        publisher.publish(String(data=robot.urdf))
        return publisher
