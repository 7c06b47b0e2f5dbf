"""Clients of all command topics and actions, and their messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from simulators import Listener
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ARM = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
"""The joints of the shipped arm's trajectory controller."""

_NANOSECONDS = 1_000_000_000


def duration(seconds: float) -> Duration:
    sec, nanosec = divmod(round(seconds * _NANOSECONDS), _NANOSECONDS)
    return Duration(sec=sec, nanosec=nanosec)


def stamp(seconds: float) -> Time:
    sec, nanosec = divmod(round(seconds * _NANOSECONDS), _NANOSECONDS)
    return Time(sec=sec, nanosec=nanosec)


def seconds(message: Any) -> float:
    return float(message.sec + 1e-9 * message.nanosec)


def point(time: float, *fields: Sequence[float]) -> JointTrajectoryPoint:
    """A point with the given positions, velocities, accelerations and effort."""
    names = ("positions", "velocities", "accelerations", "effort")
    values = {
        name: [float(number) for number in given]
        for name, given in zip(names, fields, strict=False)
    }
    return JointTrajectoryPoint(time_from_start=duration(time), **values)


def trajectory(
    *points: JointTrajectoryPoint, joints: Sequence[str] = ARM, start: float | None = None
) -> JointTrajectory:
    message = JointTrajectory(joint_names=list(joints), points=list(points))
    if start is not None:
        message.header.stamp = stamp(start)
    return message


def follow(
    *points: JointTrajectoryPoint,
    joints: Sequence[str] = ARM,
    start: float | None = None,
    **fields: Any,
) -> FollowJointTrajectory.Goal:
    return FollowJointTrajectory.Goal(
        trajectory=trajectory(*points, joints=joints, start=start), **fields
    )


def grip(position: float, *, velocity: float = 0.0, effort: float = 0.0) -> Any:
    goal = ParallelGripperCommand.Goal()
    goal.command.position = [position]
    goal.command.velocity = [velocity] if velocity else []
    goal.command.effort = [effort] if effort else []
    return goal


@dataclass
class SentGoal:
    """A goal that was sent: whether it was accepted, its feedback, and in time its result."""

    listener: Listener
    feedback: list[Any] = field(default_factory=list)
    handle: ClientGoalHandle | None = None
    _result: Any = None

    @property
    def accepted(self) -> bool:
        return self.handle is not None and bool(self.handle.accepted)

    @property
    def status(self) -> int:
        """The status that the server last reported."""
        assert self.handle is not None
        return int(self.handle.status)

    @property
    def ended(self) -> bool:
        return self._result is not None and bool(self._result.done())

    def expect_result(self) -> None:
        assert self.handle is not None
        assert self.accepted
        if self._result is None:
            self._result = self.handle.get_result_async()

    def result(self) -> Any:
        """Wait for the result: its ``status``, and its ``result`` message."""
        self.expect_result()
        return self.listener.result(self._result)

    def cancel(self) -> Any:
        """Cancel the goal and return the response."""
        assert self.handle is not None
        return self.listener.result(self.handle.cancel_goal_async())


class CommandClient:
    """Commands one robot of a simulator."""

    def __init__(self, listener: Listener, namespace: str = "") -> None:
        """Prepare to command the robot in a namespace."""
        self.listener = listener
        self.prefix = f"/{namespace}/" if namespace else "/"
        self._publishers: dict[str, Publisher] = {}
        self._clients: dict[str, ActionClient] = {}

    def close(self) -> None:
        """Destroy all clients and publishers."""
        for client in self._clients.values():
            client.destroy()
        for publisher in self._publishers.values():
            self.listener.node.destroy_publisher(publisher)

    def follow(self, *points: JointTrajectoryPoint, **fields: Any) -> SentGoal:
        """Send a goal to the trajectory controller; arguments as those of `follow`."""
        return self.send(follow(*points, **fields))

    def grip(self, position: float, **fields: Any) -> SentGoal:
        """Send a goal to the gripper controller; arguments as those of `grip`."""
        return self.send(grip(position, **fields))

    def send(self, goal: Any) -> SentGoal:
        """Send a goal and wait for the response."""
        if isinstance(goal, FollowJointTrajectory.Goal):
            client = self._client(
                FollowJointTrajectory, "joint_trajectory_controller/follow_joint_trajectory"
            )
        else:
            client = self._client(ParallelGripperCommand, "gripper_controller/gripper_cmd")
        sent = SentGoal(self.listener)
        answer = client.send_goal_async(
            goal, feedback_callback=lambda message: sent.feedback.append(message.feedback)
        )
        sent.handle = self.listener.result(answer)
        if sent.accepted:
            sent.expect_result()
        return sent

    def publish_trajectory(self, message: JointTrajectory) -> None:
        self._publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory").publish(
            message
        )

    def publish_joints(
        self, names: Sequence[str], *, at: float = 0.0, **fields: Sequence[float]
    ) -> None:
        """Publish on ``joint_commands``, stamped `at`: the fields of a JointState as given."""
        values = {what: [float(number) for number in given] for what, given in fields.items()}
        message = JointState(name=list(names), **values)
        message.header.stamp = stamp(at)
        self._publisher(JointState, "joint_commands").publish(message)

    def publish_forward(self, interface: str, data: Sequence[float]) -> None:
        """Publish on the topic of a forward command controller."""
        self._publisher(Float64MultiArray, f"{interface}_controller/commands").publish(
            Float64MultiArray(data=[float(number) for number in data])
        )

    def _publisher(self, kind: type, topic: str) -> Publisher:
        """Return a publisher that the simulator has subscribed to."""
        if topic not in self._publishers:
            self._publishers[topic] = self.listener.node.create_publisher(
                kind, self.prefix + topic, 10
            )
        publisher = self._publishers[topic]
        assert self.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
        return publisher

    def _client(self, kind: type, action: str) -> ActionClient:
        if action not in self._clients:
            self._clients[action] = ActionClient(self.listener.node, kind, self.prefix + action)
        client = self._clients[action]
        assert self.listener.spin_until(client.server_is_ready)
        return client
