"""Topics that move mocap bodies."""

from dataclasses import dataclass
from functools import partial

from geometry_msgs.msg import PoseStamped
from rclpy.subscription import Subscription

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.perturbation.poses import pose_in_world
from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.body_frames import MocapBody, mocap_bodies
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation


@dataclass
class _Moved:
    """A mocap body and its topic; `row` belongs to the physics thread."""

    row: int
    subscription: Subscription | None = None


class MocapServer(Component):
    """Moves each mocap body by ``mocap/<body>/pose``."""

    def __init__(
        self,
        endpoints: Endpoints,
        simulation: Simulation,
        submit: CommandSubmission,
        rejections: RejectionLog,
    ) -> None:
        """Open the topics.

        Raises:
            UserInputError: Two bodies would have the same topic.
        """
        self._endpoints = endpoints
        self._simulation = simulation
        self._submit = submit
        self._rejections = rejections
        self._bodies: dict[str, _Moved] = {}
        self._next: dict[str, MocapBody] = {}
        self.prepare(simulation.plant)
        self.commit()
        self.finish()

    def prepare(self, plant: Plant) -> None:
        """Find the mocap bodies of the next model.

        Raises:
            UserInputError: Two would have the same topic.
        """
        self._next = {}
        for body in mocap_bodies(plant.model, plant.layout):
            topic = within(body.namespace, "mocap", topic_token(body.name), "pose")
            if topic in self._next:
                raise UserInputError(
                    f"two mocap bodies would have the topic '{topic}': letters, digits and "
                    "underscores must tell their names apart"
                )
            self._next[topic] = body

    def commit(self) -> None:
        """Switch to the rows of the next model."""
        for topic, moved in self._bodies.items():
            moved.row = self._next[topic].mocap if topic in self._next else -1

    def finish(self) -> None:
        """Open topics for new mocap bodies; close those of deleted ones."""
        for topic in self._bodies.keys() - self._next.keys():
            moved = self._bodies.pop(topic)
            if moved.subscription is not None:
                self._endpoints.close(moved.subscription)
        for topic in self._next.keys() - self._bodies.keys():
            moved = self._bodies[topic] = _Moved(self._next[topic].mocap)
            moved.subscription = self._endpoints.subscription(
                PoseStamped,
                topic,
                partial(self._handle, topic, moved),
                RELIABLE,
            )

    def _handle(self, topic: str, moved: _Moved, message: PoseStamped) -> None:
        try:
            position, quat = pose_in_world(message.header.frame_id, message.pose)
        except UserInputError as error:
            self._rejections.report(topic, "refused", str(error))
            return
        simulation = self._simulation

        def command(_time: float) -> None:
            if moved.row >= 0:
                simulation.set_mocap_pose(moved.row, position, quat)

        self._submit(topic, command, stamp=nanoseconds(message.header.stamp))
