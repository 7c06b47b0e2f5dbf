"""Clients connect, call and disconnect while a robot is spawned and deleted."""

import contextlib
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from command_clients import ARM, follow, point
from control_msgs.action import FollowJointTrajectory
from model_switch_node import ARM as FOLDER
from rclpy.action import ActionClient
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SpawnEntity
from simulator_client import SimulatorClient
from simulators import SimulatorLauncher
from spawn_requests import at, named_resource

_CYCLES = 3
_ACTION = "/second/joint_trajectory_controller/follow_joint_trajectory"
_EXPECTED = (
    "took over",
    "incompatible QoS",
    "are not received",
    "send response",
    "send_response",
)
"""Allowed warnings of the simulator; a client that has disconnected gets no response."""


class _Crowd:
    """Clients of a robot with random actions."""

    def __init__(self, remote: SimulatorClient) -> None:
        self._node = remote.listener.node
        self._random = random.Random(1)
        self._subscriptions: list[Any] = []
        self._publishers: list[Any] = []
        self._client: ActionClient | None = None
        self._acted = 0.0
        self.accepted = self.ended = 0

    def run_once(self) -> None:
        """Do a random action, unless the last one was recent, to leave time for spinning."""
        now = time.monotonic()
        if now - self._acted < 0.02:
            return
        self._acted = now
        doings: list[Callable[[], object]] = [
            self._subscribe,
            self._unsubscribe,
            self._advertise,
            self._withdraw,
            self._command,
            self._command,
            self._send,
            self._send,
            self._send,
            self._leave,
        ]
        weights = [4, 4, 2, 2, 8, 8, 8, 8, 8, 1]
        (doing,) = self._random.choices(doings, weights)
        doing()

    def close(self) -> None:
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
        self._leave()

    def _qos(self) -> QoSProfile:
        return self._random.choice(
            [
                QoSProfile(depth=10),
                QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT),
                QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
            ]
        )

    def _subscribe(self) -> None:
        if len(self._subscriptions) < 4:
            self._subscriptions.append(
                self._node.create_subscription(
                    JointState, "/second/joint_states", lambda _: None, self._qos()
                )
            )

    def _unsubscribe(self) -> None:
        if self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())

    def _advertise(self) -> None:
        if len(self._publishers) < 4:
            self._publishers.append(
                self._node.create_publisher(JointState, "/second/joint_commands", self._qos())
            )

    def _withdraw(self) -> None:
        if self._publishers:
            self._node.destroy_publisher(self._publishers.pop())

    def _command(self) -> None:
        for publisher in self._publishers:
            publisher.publish(JointState(name=[ARM[0]], position=[0.1]))

    def _send(self) -> None:
        if self._client is None:
            self._client = ActionClient(self._node, FollowJointTrajectory, _ACTION)
        if self._client.server_is_ready():
            goal = follow(point(self._random.choice([0.05, 3.0]), [0.1] * len(ARM)))
            self._client.send_goal_async(goal).add_done_callback(self._answered)

    def _leave(self) -> None:
        if self._client is not None:
            self._client.destroy()
            self._client = None

    def _answered(self, answer: Any) -> None:
        handle = answer.result()
        if not handle.accepted:
            return
        self.accepted += 1
        with contextlib.suppress(rclpy_implementation.RCLError):  # its client has left
            handle.get_result_async().add_done_callback(self._count)
            if self._random.random() < 0.3:
                handle.cancel_goal_async()

    def _count(self, _answer: Any) -> None:
        self.ended += 1


@pytest.fixture
def remote(start: SimulatorLauncher) -> Any:
    remote = SimulatorClient(start)
    yield remote
    remote.close()


def test_a_robot_is_spawned_and_deleted_while_clients_connect_and_disconnect(
    remote: SimulatorClient,
) -> None:
    crowd, listener = _Crowd(remote), remote.listener

    def done(future: Any) -> Any:
        def has_run() -> bool:
            crowd.run_once()
            return bool(future.done())

        assert listener.spin_until(has_run)
        return future.result()

    def linger(seconds: float) -> None:
        listener.spin_until(lambda: bool(crowd.run_once()), seconds)

    resource = named_resource(SpawnEntity.Request, str(FOLDER / "arm.xml"))
    for _ in range(_CYCLES):
        beside = at(0.0, 2.0, 0.0)
        spawned = done(
            remote.request("SpawnEntity", name="second", initial_pose=beside, **resource)
        )
        assert spawned.result.result == Result.RESULT_OK, spawned.result.error_message
        linger(0.3)
        deleted = done(remote.request("DeleteEntity", entity="second"))
        assert deleted.result.result == Result.RESULT_OK, deleted.result.error_message
        linger(0.05)
    crowd.close()
    assert crowd.accepted > _CYCLES / 3
    assert crowd.ended > 0
    received = len(remote.joint_states)
    assert listener.spin_until(lambda: len(remote.joint_states) > received)
    wrong = [
        line
        for line in remote.simulator.warnings()
        if not any(expected in line for expected in _EXPECTED)
    ]
    assert wrong == []
    assert remote.simulator.stop() == 0
