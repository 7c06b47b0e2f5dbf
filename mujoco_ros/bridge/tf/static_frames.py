"""The topic /tf_static."""

from geometry_msgs.msg import TransformStamped
from rclpy.publisher import Publisher
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.tf.frame_plan import FramePlan, TfMode, plan_frames
from mujoco_ros.bridge.tf.robot_descriptions import RobotDescriptions
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import LATCHED


class StaticFrames(Component):
    """Plans the TF frames of each plant, and publishes the static ones.

    tf2_ros' broadcaster would keep publishing the frames of deleted robots.
    """

    parameters = (
        ParameterSpec(
            "tf",
            "base",
            "Frames to publish: bases, free objects and sensors; all links as well (without "
            "robot_state_publisher); or none",
            choices=("base", "all", "none"),
            read_only=True,
        ),
    )

    def __init__(self, context: NodeContext, descriptions: RobotDescriptions) -> None:
        """Publish the frames.

        Args:
            context: The node.
            descriptions: The robot_descriptions, built before.
        """
        self._endpoints, self._descriptions = context.endpoints, descriptions
        self._mode: TfMode = context.values["tf"]
        self._publisher: Publisher | None = None
        self._published: list[TransformStamped] = []
        self.build(context.simulation.plant)
        self.finish()

    def of(self, plant: Plant) -> FramePlan:
        """Return the plan of the plant that was built last."""
        assert self._next[0] is plant
        return self._next[1]

    def build(self, plant: Plant) -> None:
        """Plan the frames of the next plant."""
        described = self._descriptions.of(plant)
        self._next = plant, plan_frames(plant.model, plant.layout, self._mode, described)

    def finish(self) -> None:
        """Publish the static frames, unless they are those of the previous plant."""
        static = self._next[1].static
        if static == self._published:
            return
        if self._publisher is None:
            self._publisher = self._endpoints.publisher(TFMessage, "/tf_static", LATCHED)
        self._publisher.publish(TFMessage(transforms=static))
        self._published = static
