"""Topics that move mocap bodies."""

from dataclasses import dataclass
from functools import partial

from geometry_msgs.msg import PoseStamped
from rclpy.subscription import Subscription

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.synchronize import synchronize
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.body_frames import MocapBody, mocap_bodies
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.conversions import nanoseconds, pose_in_world
from mujoco_ros.wire.qos import RELIABLE


@dataclass(eq=False)
class _MocapTopic:
    """The topic of a mocap body; `row` belongs to the physics thread."""

    name: str
    row: int
    subscription: Subscription | None = None


class MocapServer(Component):
    """Moves each mocap body by ``mocap/<body>/pose``."""

    def __init__(self, context: NodeContext) -> None:
        """Open the topics.

        Raises:
            UserInputError: Two bodies would have the same topic.
        """
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit, self._rejections = context.submit, context.rejections
        self._topics: dict[str, _MocapTopic] = {}
        self._next: dict[str, MocapBody] = {}
        self.prepare(context.simulation.plant)
        self.finish()

    def prepare(self, plant: Plant) -> None:
        """Find the mocap bodies of the next model.

        Raises:
            UserInputError: Two would have the same topic.
        """
        self._next = {}
        for body in mocap_bodies(plant.model, plant.layout):
            topic = in_namespace(body.namespace, "mocap", topic_token(body.name), "pose")
            if topic in self._next:
                raise UserInputError(
                    f"two mocap bodies would have the topic '{topic}': their names must differ in "
                    "letters, digits or underscores"
                )
            self._next[topic] = body

    def commit(self) -> None:
        """Switch to the rows of the next model."""
        for name, topic in self._topics.items():
            topic.row = self._next[name].mocap if name in self._next else -1

    def finish(self) -> None:
        """Open topics for new mocap bodies; close those of deleted ones."""
        synchronize(self._topics, self._next, self._subscribe, self._close)

    def _subscribe(self, name: str, body: MocapBody) -> _MocapTopic:
        topic = _MocapTopic(name, body.mocap)
        handle = partial(self._handle, topic)
        topic.subscription = self._endpoints.subscription(PoseStamped, name, handle, RELIABLE)
        return topic

    def _close(self, topic: _MocapTopic) -> None:
        if topic.subscription is not None:
            self._endpoints.close(topic.subscription)

    def _handle(self, topic: _MocapTopic, message: PoseStamped) -> None:
        try:
            position, quat = pose_in_world(message.header.frame_id, message.pose)
        except UserInputError as error:
            self._rejections.report(topic.name, "refused", str(error))
            return
        simulation = self._simulation

        def command(_time: float) -> None:
            if topic.row >= 0:
                data = simulation.data
                data.mocap_pos[topic.row], data.mocap_quat[topic.row] = position, quat

        self._submit(topic.name, command, stamp=nanoseconds(message.header.stamp))
