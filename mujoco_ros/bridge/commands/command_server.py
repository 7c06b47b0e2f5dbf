"""The topics and the action by which a command source is served."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from mujoco_ros.bridge.commands.command_submission import nothing
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.goal_server import GoalServer
from mujoco_ros.wire.qos import RELIABLE


class CommandServer:
    """Checks the commands of one source for a robot, and submits them to the physics thread."""

    goals: GoalServer[Any] | None = None  # the goals of its action, if it has one

    def __init__(self, context: NodeContext, namespace: str, control: RobotControl) -> None:
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit = partial(context.submit, control=control)
        self._rejections, self._direct = context.rejections, context.direct
        self._namespace, self._control = namespace, control
        self._open: list[Publisher | Subscription] = []

    def close(self, reason: str) -> None:
        """Close the topics, abort all goals and accept no more."""
        while self._open:
            endpoint = self._open.pop()
            if isinstance(endpoint, Subscription):
                self._direct.remove(endpoint)
            self._endpoints.close(endpoint)
        if self.goals is not None:
            self.goals.close(reason)

    def flush(self) -> None:
        """Wait until clients have received the results, before the process ends."""
        if self.goals is not None:
            self.goals.flush()

    def destroy(self) -> None:
        """Close the action, after `close`."""
        if self.goals is not None:
            self.goals.destroy()

    def _refuse(self, topic: str, error: Exception, **stamps: Any) -> None:
        """Report an invalid command, which nevertheless answers its tick in lockstep."""
        self._rejections.report(topic, "refused", str(error))
        self._submit(topic, nothing, **stamps)

    def _subscribe(
        self,
        kind: Any,
        callback: Callable[..., None],
        *names: str,
        qos: QoSProfile = RELIABLE,
        is_awaited: bool = False,
        on_count: Callable[[str, int], None] | None = None,
    ) -> None:
        """Subscribe to a topic of the robot; `callback` gets its name and the message.

        If the clock may wait for its commands, `callback` gets the serialized message, and whether
        it is called in the physics thread. `on_count` gets the name of the topic and the number of
        matched publishers soon after that has changed.
        """
        topic = in_namespace(self._namespace, *names)
        count = on_count and partial(on_count, topic)
        if is_awaited:
            self._await(kind, topic, partial(callback, topic), qos, count)
            return
        subscription = self._endpoints.subscription(
            kind, topic, partial(callback, topic), qos, on_count=count
        )
        self._open.append(subscription)

    def _await(
        self,
        kind: Any,
        topic: str,
        handle: Callable[[bytes, bool], None],
        qos: QoSProfile,
        on_count: Callable[[int], None] | None = None,
    ) -> None:
        """Subscribe to a topic for whose commands the clock may wait.

        `handle` gets the serialized message, and whether it is called in the physics thread.
        """
        subscription = self._endpoints.subscription(
            kind, topic, lambda data: handle(data, False), qos, raw=True, on_count=on_count
        )
        self._open.append(subscription)
        self._direct.add(topic.removeprefix("/"), subscription, lambda data: handle(data, True))
