"""The robot_description of every robot there is."""

from collections.abc import Callable

from rclpy.publisher import Publisher
from std_msgs.msg import String

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.publishing.topics import LATCHED
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.plant import Plant

Edit = Callable[[Plant, list[RobotDescription]], list[RobotDescription]]


class RobotDescriptions(ModelChangeListener):
    """Publishes each robot's robot_description as long as the robot is there."""

    def __init__(self, endpoints: Endpoints, plant: Plant, edit: Edit | None = None) -> None:
        """Publish those of the robots of `plant`.

        Args:
            endpoints: Opens the topics.
            plant: Whose robots are described first.
            edit: Returns what is to be said of a plant's robots, given what would be said.

        Raises:
            ModelError: A file that a description is made from is wrong.
        """
        self._endpoints = endpoints
        self._edit: Edit = edit or (lambda _plant, described: described)
        self._next: tuple[Plant, list[RobotDescription]] | None = None
        self._publishers: dict[Part, Publisher] = {}
        self.draft(plant)
        self.finish()

    def of(self, plant: Plant) -> list[RobotDescription]:
        """Return the descriptions of a plant's robots, which were drafted before."""
        assert self._next is not None
        assert self._next[0] is plant
        return self._next[1]

    def draft(self, plant: Plant) -> None:
        """Describe the robots of the next plant.

        Raises:
            ModelError: A file that a description is made from is wrong.
        """
        described = descriptions(plant.assembly, plant.layout)
        self._next = plant, self._edit(plant, described)

    def finish(self) -> None:
        """Publish the descriptions of robots that have come, and withdraw those of robots gone."""
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
