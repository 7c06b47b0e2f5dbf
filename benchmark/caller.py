"""A client of the simulator's services and actions that waits for what it asks for."""

import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

try:
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

PATIENCE_S = 60.0
SIMULATOR = "mujoco"
# With the default depth of 10, a client that falls behind loses answers.
_QOS = QoSProfile(depth=5000)
_CONTROLLER = "joint_trajectory_controller"


class Caller:
    """A node whose executor runs in a thread of its own, so that answers come at any time.

    Attributes:
        node: The node.
        report: Rows of the simulator's newest /diagnostics: name without the node's, to its values.
        reports: The same of every node that reports, by its name.
    """

    def __init__(self, domain: int | None = None) -> None:
        """Join a ROS domain, by default that of the environment."""
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = Node("benchmark_caller", context=self._context)
        self.report: dict[str, dict[str, str]] = {}
        self.reports: dict[str, dict[str, dict[str, str]]] = {}
        self._reports = 0
        self._clients_of: dict[str, Any] = {}
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._note, 10)
        self._executor = Executor(context=self._context)
        self._executor.add_node(self.node)
        self._closing = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave."""
        self._closing = True
        self._thread.join(PATIENCE_S)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def until(self, condition: Callable[[], object], timeout_s: float = PATIENCE_S) -> None:
        """Wait until something holds.

        Raises:
            TimeoutError: It did not in time.
        """
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {timeout_s:g} s")
            time.sleep(0.002)

    def wait(self, future: Future, timeout_s: float = PATIENCE_S) -> Any:
        """Return what a future brings."""
        self.until(future.done, timeout_s)
        return future.result()

    def client(self, kind: Any, name: str) -> Any:
        """Return a client of a service of the simulator, which is there."""
        if name not in self._clients_of:
            self._clients_of[name] = self.node.create_client(
                kind, f"/mujoco/{name}", qos_profile=_QOS
            )
        client = self._clients_of[name]
        self.until(client.service_is_ready)
        return client

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service of the simulator and return its response."""
        return self.wait(self.client(kind, name).call_async(request))

    def figure(self, row: str, name: str) -> float:
        """Return a figure of a report that is made from now on."""
        seen = self._reports
        # The first that comes may have been on its way.
        self.until(lambda: self._reports >= seen + 2)
        return float(self.report[row][name])

    def hear(self, kind: Any, topic: str) -> Any:
        """Return the next message on a topic."""
        heard: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, heard.append, 10)
        self.until(lambda: heard)
        self.node.destroy_subscription(subscription)
        return heard[-1]

    def follower(self, feedback: Callable[[Any], object] | None = None) -> "Follower":
        """Return what sends trajectories to a single robot."""
        return Follower(self, feedback)

    def _note(self, message: DiagnosticArray) -> None:
        for status in message.status:
            node, _, row = status.name.partition(": ")
            values = {value.key: value.value for value in status.values}
            self.reports.setdefault(node, {})[row] = values
        if SIMULATOR in {status.name.partition(": ")[0] for status in message.status}:
            self.report = self.reports[SIMULATOR]
            self._reports += 1

    def _spin(self) -> None:
        while not self._closing:
            self._executor.spin_once(timeout_sec=0.1)


class Follower:
    """Sends trajectories to a single robot.

    Attributes:
        goals: The identities of those that were sent.
    """

    def __init__(self, caller: Caller, feedback: Callable[[Any], object] | None = None) -> None:
        """Wait for the server; `feedback` is handed every message of it."""
        self.goals: list[bytes] = []
        self._caller = caller
        self._feedback = feedback or (lambda _message: None)
        self._client = ActionClient(
            caller.node, FollowJointTrajectory, f"{_CONTROLLER}/follow_joint_trajectory"
        )
        caller.until(self._client.server_is_ready)
        state = caller.hear(JointTrajectoryControllerState, f"{_CONTROLLER}/controller_state")
        self._names, self._q = list(state.joint_names), list(state.reference.positions)

    def sway(self, seconds: float, amplitude: float = 0.02) -> Future:
        """Send a goal that moves all joints to and fro for so long; return its result to be.

        Raises:
            RuntimeError: It was refused.
        """
        message = JointTrajectory(joint_names=self._names)
        for second in range(1, round(seconds) + 1):
            moved = amplitude * (second % 2)
            point = JointTrajectoryPoint(positions=[q + moved for q in self._q])
            point.time_from_start.sec = second
            message.points.append(point)
        goal = FollowJointTrajectory.Goal(trajectory=message)
        handle = self._caller.wait(self._client.send_goal_async(goal, self._feedback))
        if not handle.accepted:
            raise RuntimeError("the simulator refused the trajectory")
        self.goals.append(bytes(handle.goal_id.uuid))
        return handle.get_result_async()

    def close(self) -> None:
        """Let go of the server."""
        self._client.destroy()
