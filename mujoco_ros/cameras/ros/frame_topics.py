"""The simulator's side of cameras, lidars and contacts: topics, parameters, triggers and rows."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from multiprocessing.connection import Connection, Pipe
from threading import Thread
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import serialize_message
from rclpy.subscription import Subscription
from std_msgs.msg import Empty, String

from mujoco_ros.bridge.component import ModelParameters, NodeContext
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool, TopicPublisher
from mujoco_ros.bridge.ros_arguments import names_node
from mujoco_ros.cameras.ros.demand import NAME, Demand, Demanded
from mujoco_ros.cameras.ros.frame_parameters import frame_parameters
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.rclpy_ext.executor import create_wall_timer
from mujoco_ros.rclpy_ext.raw_publishing import publish_unlocked
from mujoco_ros.rendering.segmentation import Segmentation
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.frame_topics import (
    CONTACTS,
    FrameTopic,
    camera_frame_topics,
    camera_legend_topic,
    lidar_topic,
)
from mujoco_ros.wire.names import CAMERA_TRIGGER, camera_topics
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import RELIABLE

_SHARE_S = 0.05  # wall time between two checks of the numbers of subscriptions


class FrameTopics(ModelParameters[ParameterSpec]):
    """Opens the topics, and tells the camera process what is wanted of it.

    The process computes the frames. It hands the first ones of a subscription to this node, which
    is matched already: the middleware needs seconds to discover a node of another process. Then it
    publishes them itself, so that large messages do not delay the others of this node.
    """

    remedy = "rename a camera or a lidar"

    def __init__(self, context: NodeContext) -> None:
        """Open the topics of the first model, and declare its parameters."""
        super().__init__(context)
        self.on_join: Callable[[], object] = bool  # called when a subscription has matched
        self._endpoints, self._is_on = context.endpoints, context.values["cameras"]
        self._node = context.node
        self._pool = PublisherPool(context.endpoints, raw=True, on_join=self._note_join)
        self._publishers: dict[str, TopicPublisher] = {}  # by name, without legends
        self._frames: dict[str, TopicPublisher] = {}  # of the next model, as `_publishers`
        self._legends: list[TopicPublisher] = []
        self._kept: list[TopicPublisher] = []  # frames and legends of the present model
        self._joins: Counter[str] = Counter()
        self._triggers: dict[str, Subscription] = {}
        self._triggered: Counter[str] = Counter()
        self._sent: Demand | None = None
        self._connection: Connection | None = None
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="camera demand")
        self._rows: dict[str, DiagnosticReport] = {}
        self.prepare(self._simulation.plant)
        self.finish()
        if names_node(context.arguments, NAME):
            self._node.get_logger().warning(
                f"parameters and remappings of the node '{NAME}' have no effect: write them for "
                f"'{self._node.get_name()}'"
            )
        self._timer = create_wall_timer(self._node, _SHARE_S, self._share)

    def prepare(self, plant: Plant) -> None:
        """Open the topics of the next model, and find its parameters.

        An invalid value for one camera is only logged.

        Raises:
            UserInputError: A topic has the name of another one.
        """
        specs = list(frame_parameters(plant.layout))
        self._find(zip(specs, specs, strict=True), strict=False)
        if self._is_on:
            cameras, self._frames = plant.layout.every_camera, {}
            for topic in _topics(plant.layout):
                if topic.name in self._frames:
                    raise UserInputError(
                        f"two of cameras, lidars and contacts would publish on '{topic.name}'"
                    )
                self._frames[topic.name] = self._pool.open(*topic)
            legends = [camera_legend_topic(camera.namespace, camera.name) for camera in cameras]
            self._legends = [self._pool.open(*legend) for legend in legends]

    def finish(self) -> None:
        """Close the previous model's topics."""
        self._kept = [*self._frames.values(), *self._legends]
        super().finish()
        layout, model = self._simulation.layout, self._simulation.model
        if not self._is_on:
            return
        cameras, opened, legends = layout.every_camera, self._frames, self._legends
        self._publishers = opened
        self._resolved = {name: self._node.resolve_topic_name(name) for name in opened}
        if cameras:
            labels = Segmentation(model).legend(layout)
            legend = String(data=json.dumps({n: asdict(label) for n, label in labels.items()}))
            for publisher in legends:
                publisher.send(serialize_message(legend))
        names = [camera_topics(c.namespace, c.name) for c in cameras]
        synchronize(
            self._triggers,
            {name: f"{name}/{CAMERA_TRIGGER}" for name in names},
            lambda name, topic: self._endpoints.subscription(
                Empty, topic, partial(self._trigger, name), RELIABLE
            ),
            self._endpoints.close,
        )
        self._share()

    def rollback(self) -> None:
        """Close the topics that only the next model has."""
        super().rollback()
        self._pool.close_others(self._kept)

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        """Have the camera process apply parameters."""
        if self._changes(values):
            self._share()

    def connect(self) -> Connection:
        """Return the connection for a camera process that starts."""
        self._connection, theirs = Pipe()
        self._sent, self._rows = None, {}
        receive = partial(self._receive, self._connection)
        Thread(target=receive, name="camera frames", daemon=True).start()
        self._share()
        return theirs

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return a row for each source of frames, and one for the renderer, once it runs."""
        return self._rows

    def close(self) -> None:
        """Send no more."""
        self._connection = None
        self._sender.shutdown(wait=False, cancel_futures=True)

    def _note_join(self, publisher: TopicPublisher) -> None:
        if publisher.topic in self._publishers:
            self._joins[publisher.topic] += 1
            self._share()
            self.on_join()

    def _trigger(self, source: str, _message: Empty) -> None:
        self._triggered[source] += 1
        self._share()

    def _share(self) -> None:
        """Send what is wanted, if that has changed, without a wait for the camera process."""
        if self._connection is None:
            return
        demand = Demand(
            {
                name: Demanded(self._resolved[name], publisher.subscriptions, self._joins[name])
                for name, publisher in self._publishers.items()
            },
            {name: self._parameters.values[name] for name in self._elements},
            dict(self._triggered),
        )
        if demand != self._sent:
            self._sent = demand
            self._sender.submit(self._connection.send, demand)

    def _receive(self, connection: Connection) -> None:
        """Publish frames of a camera process until it ends, in a thread of its own."""
        with suppress(EOFError, OSError), connection:
            while True:
                content = connection.recv()
                if isinstance(content, str):
                    self._publish(content, connection.recv_bytes())
                elif connection is self._connection:
                    self._rows = content
        if connection is self._connection:
            self._rows = {}

    def _publish(self, topic: str, message: bytes) -> None:
        publisher = self._publishers.get(topic)
        if publisher is not None:
            with suppress(InvalidHandle), publisher.handle:  # it is not closed meanwhile
                try:
                    publish_unlocked(publisher.handle, message)
                except rclpy_implementation.RCLError as error:
                    publisher.note_lost(str(error))


def _topics(layout: ModelLayout) -> Iterator[FrameTopic]:
    """Yield the topics of the frames of a model."""
    for camera in layout.every_camera:
        yield from camera_frame_topics(camera.namespace, camera.name).values()
    for lidar in layout.every_lidar:
        yield lidar_topic(lidar.topic, is_scan=lidar.is_scan)
    yield CONTACTS
