"""Frames that never move, on /tf_static."""

from geometry_msgs.msg import TransformStamped
from rclpy.publisher import Publisher
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.publishing.topics import LATCHED
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.tf.frame_plan import FramePlan, TfMode, plan_frames
from mujoco_ros.bridge.tf.robot_descriptions import RobotDescriptions
from mujoco_ros.sim.plant import Plant


class StaticFrames(ModelChangeListener):
    """Plans the frames of each plant, and publishes those that do not move.

    tf2_ros' broadcaster would go on to publish the frames of robots that are gone.
    """

    def __init__(
        self, endpoints: Endpoints, plant: Plant, mode: TfMode, descriptions: RobotDescriptions
    ) -> None:
        """Publish the frames of `plant`.

        Args:
            endpoints: Opens the topic, if there are any such frames.
            plant: What is simulated first.
            mode: Which frames to publish; see `plan_frames`.
            descriptions: The robot_descriptions, drafted before.
        """
        self._endpoints = endpoints
        self._mode: TfMode = mode
        self._descriptions = descriptions
        self._publisher: Publisher | None = None
        self._published: list[TransformStamped] = []
        self._next: tuple[Plant, FramePlan] | None = None
        self.draft(plant)
        self.finish()

    def of(self, plant: Plant) -> FramePlan:
        """Return the plan of a plant, which was drafted before."""
        assert self._next is not None
        assert self._next[0] is plant
        return self._next[1]

    def draft(self, plant: Plant) -> None:
        """Plan the frames of the next plant."""
        described = self._descriptions.of(plant)
        self._next = plant, plan_frames(plant.model, plant.layout, self._mode, described)

    def finish(self) -> None:
        """Publish the frames of the present plant, unless they are those of the one before."""
        assert self._next is not None
        static = self._next[1].static
        if static == self._published:
            return
        if self._publisher is None:
            self._publisher = self._endpoints.publisher(TFMessage, "/tf_static", LATCHED)
        self._publisher.publish(TFMessage(transforms=static))
        self._published = static
