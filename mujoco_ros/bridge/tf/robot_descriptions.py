"""The topic robot_description of every robot."""

from collections.abc import Callable

from rclpy.publisher import Publisher
from std_msgs.msg import String

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.publishing.topics import LATCHED
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.plant import Plant

Edit = Callable[[Plant, list[RobotDescription]], list[RobotDescription]]


class RobotDescriptions(Component):
    """Publishes each robot's robot_description while the robot exists."""

    def __init__(self, endpoints: Endpoints, plant: Plant, edit: Edit | None = None) -> None:
        """Publish the descriptions of the robots of `plant`.

        Args:
            endpoints: Opens the topics.
            plant: The first plant.
            edit: Returns the descriptions to publish, given those made from the model.

        Raises:
            UserInputError: A file that a description is made from is wrong.
        """
        self._endpoints = endpoints
        self._edit: Edit = edit or (lambda _plant, described: described)
        self._next: tuple[Plant, list[RobotDescription]] | None = None
        self._publishers: dict[Part, Publisher] = {}
        self.build(plant)
        self.finish()

    def of(self, plant: Plant) -> list[RobotDescription]:
        """Return the descriptions of the plant that was built last."""
        assert self._next is not None
        assert self._next[0] is plant
        return self._next[1]

    def build(self, plant: Plant) -> None:
        """Describe the robots of the next plant.

        Raises:
            UserInputError: A file that a description is made from is wrong.
        """
        described = descriptions(plant.assembly, plant.layout)
        self._next = plant, self._edit(plant, described)

    def finish(self) -> None:
        """Publish the descriptions of new robots; close the topics of deleted ones."""
        assert self._next is not None
        plant, described = self._next
        robots = dict(zip(plant.assembly.robots, described, strict=True))
        for part in self._publishers.keys() - robots.keys():
            self._endpoints.close(self._publishers.pop(part))
        for part, robot in robots.items():
            if part not in self._publishers:
                topic = within(robot.namespace, "robot_description")
                publisher = self._endpoints.publisher(String, topic, LATCHED)
                publisher.publish(String(data=robot.urdf))
                self._publishers[part] = publisher
