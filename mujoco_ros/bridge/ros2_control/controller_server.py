"""The topics, actions and services of one controller."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.commands.command_submission import nothing
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.publishing.template_publisher import (
    Batch,
    NumberSource,
    SerializedTopic,
    Topic,
)
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool, TopicPublisher
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.native import Sending
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.sim.command_queue import epoch_of
from mujoco_ros.sim.stepping.lockstep import Lockstep
from mujoco_ros.wire.conversions import nanoseconds, split
from mujoco_ros.wire.qos import RELIABLE

C = TypeVar("C", bound=Controller)
T = TypeVar("T")
_VALUES = "values"


class MessageOutput:
    """A topic whose messages differ in some numbers, and in their stamps.

    `publish` costs microseconds, and nothing without a subscription.
    """

    def __init__(self, batch: Batch, values: np.ndarray, lockstep: Lockstep) -> None:
        self._batch, self._lockstep = batch, lockstep
        self.values = values  # the numbers, in the order of their paths (k,)

    @property
    def is_wanted(self) -> bool:
        """Whether there is a subscription."""
        return self._batch.has_subscriptions

    def publish(self, time: float) -> None:
        """Publish the `values` of a simulated time [s]."""
        if self._batch.has_subscriptions:
            # The lockstep waits for the answer.
            sending = Sending.AT_ONCE if self._lockstep.robots else Sending.WAITING
            self._batch.publish(*split(time), sending)

    def label(self, epoch: int) -> None:
        """Name the epoch of the lockstep in ``header.frame_id``, if the output is labelled."""
        self._batch.label(epoch)


def full_name(namespace: str, controller: str, name: str) -> str:
    """Return the full name of a topic of a controller, which a slash begins."""
    if name.startswith("/"):
        return name
    parts = (controller, name[2:]) if name.startswith("~/") else (name,)
    return f"/{in_namespace(namespace, *parts)}"


class ControllerServer(CommandServer, Generic[C]):
    """Serves a controller from `configure` to `cleanup`; a row of `servers.SERVERS`.

    Names of topics are as in ROS: ``~/commands`` is below the controller's name, ``cmd_vel`` in the
    namespace of the robot. Callbacks of messages run in the executor's thread, or in lockstep in
    the physics thread; `_take` has the physics thread act on what they have checked.
    """

    at_ticks: ClassVar[bool] = False
    """Whether a robot in lockstep publishes at its ticks instead of after its updates."""

    def __init__(
        self,
        context: NodeContext,
        namespace: str,
        control: RobotControl,
        controller: C,
        on_join: Callable[[TopicPublisher], object] | None = None,
    ) -> None:
        """Open the topics; `on_join` is called with a publisher that has a new subscription."""
        super().__init__(context, namespace, control)
        self.controller, self._context = controller, context
        self._pool = PublisherPool(context.endpoints, raw=True, on_join=on_join)
        try:
            self.open()
        except Exception:  # what was opened before would stay
            self.close("its topics cannot be opened")
            self.destroy()
            raise

    def open(self) -> None:
        """Open the topics, actions and services; override this."""

    def renew(self) -> None:
        """Follow changed `live` parameters of the controller."""

    def publish(self, time: float) -> None:
        """Publish after an update, in the physics thread; `time` is of the state [s]."""

    def publish_tick(self, time: float, epoch: int) -> None:
        """Publish the state at a tick of the lockstep, if this is `at_ticks`; names the epoch."""

    @property
    def publishers(self) -> frozenset[TopicPublisher]:
        """The publishers of its topics."""
        return self._pool.publishers

    def close(self, reason: str) -> None:
        """Close the topics, abort all goals and accept no more."""
        super().close(reason)
        self._pool.close_others(())

    def topic(self, name: str) -> str:
        """Return the full name of a topic."""
        full = full_name(self._namespace, self.controller.name, name)
        return self.controller.remapped.get(full, full)

    def _listen(
        self,
        kind: Any,
        name: str,
        callback: Callable[[Any, bool], None],
        qos: QoSProfile = RELIABLE,
    ) -> None:
        """Subscribe; `callback` gets each message, and whether the physics thread calls it."""

        def handle(data: bytes, now: bool) -> None:
            callback(deserialize_message(data, kind), now)

        self._await(kind, self.topic(name), handle, qos)

    def _take(
        self,
        name: str,
        check: Callable[[], T],
        act: Callable[[T], object],
        now: bool,
        header: Header | None = None,
    ) -> None:
        """Have the physics thread act on what `check` returns, or report its error.

        It acts at once if it calls this, which `now` says. In lockstep, also a refused message
        answers a tick: the tick in its `header`, or the last.
        """
        full = self.topic(name)
        topic = full.removeprefix("/")
        command = nothing
        with self._rejections.refusing(full):
            checked = check()

            def command(_time: float) -> None:
                act(checked)

        stamps: dict[str, Any] = {}
        if header is not None and self._context.lockstep.period(topic):
            stamps = {"stamp": nanoseconds(header.stamp), "epoch": epoch_of(header.frame_id)}
        self._submit(topic, command, now=now, **stamps)

    def _output(
        self,
        message: Any,
        name: str,
        paths: Sequence[str],
        *,
        values: np.ndarray | None = None,
        places: Sequence[int] | None = None,
        stamps: Sequence[str] = ("header.stamp",),
        qos: QoSProfile = RELIABLE,
        is_labelled: bool = False,
    ) -> MessageOutput:
        """Open a topic of messages like `message`, in which the numbers at `paths` change.

        A path is as ``pose.pose.position.x`` or ``velocity.3``; arrays have their final length.
        `values` are read at each `MessageOutput.publish`, at `places` by the order of the paths;
        by default, they are an own array. ``header.frame_id`` names the epoch if it `is_labelled`.
        """
        values = np.zeros(len(paths)) if values is None else values
        places = range(len(paths)) if places is None else places
        topic = Topic(
            name=self.topic(name),
            rate="",
            message=message,
            numbers={
                path: NumberSource(_VALUES, place)
                for path, place in zip(paths, places, strict=True)
            },
            stamps=tuple(stamps),
            qos=qos,
        )
        publisher = self._pool.open(type(message), topic.name, qos)
        serialized = SerializedTopic(topic)
        if is_labelled:
            serialized = serialized.labelled()
        batch = Batch({publisher: serialized}, {_VALUES: values})
        return MessageOutput(batch, values, self._context.lockstep)
