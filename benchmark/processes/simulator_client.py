"""Client of the simulator's services, actions and diagnostics."""

import threading
import time
from collections.abc import Callable
from functools import partial
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

TIMEOUT_S = 60.0
SIMULATOR = "mujoco"
# With the default depth of 10, a slow client loses responses.
_QOS = QoSProfile(depth=5000)
_CONTROLLER = "joint_trajectory_controller"


class SimulatorClient:
    """A node whose executor runs in a thread of its own.

    Attributes:
        report: Newest /diagnostics of the simulator: values by row name without the node's.
        reports: The same of all nodes, by node name.
    """

    def __init__(self, domain: int | None = None) -> None:
        """Join a ROS domain; by default, the domain of the environment."""
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = Node("benchmark_client", context=self._context)
        self.report: dict[str, dict[str, str]] = {}
        self.reports: dict[str, dict[str, dict[str, str]]] = {}
        self._reports = 0
        self._clients: dict[str, Any] = {}
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._receive, 10)
        self._executor = Executor(context=self._context)
        self._executor.add_node(self.node)
        self._closing = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the executor and destroy the node."""
        self._closing = True
        self._thread.join(TIMEOUT_S)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def until(self, condition: Callable[[], object], timeout_s: float = TIMEOUT_S) -> None:
        """Wait for a condition.

        Raises:
            TimeoutError: It was not met in time.
        """
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {timeout_s:g} s")
            time.sleep(0.002)

    def wait(self, future: Future, timeout_s: float = TIMEOUT_S) -> Any:
        """Return the result of a future."""
        self.until(future.done, timeout_s)
        return future.result()

    def in_executor(self, call: Callable[[], Future]) -> Future:
        """Call a function in the executor's thread, and return what it returns.

        rclpy's action client drops a response that arrives before a request from another thread is
        registered ("Ignoring unexpected goal response").
        """
        returned: list[Future] = []
        self._executor.create_task(lambda: returned.append(call()))
        self.until(lambda: returned)
        return returned[0]

    def client(self, kind: Any, name: str) -> Any:
        """Return a client of a service of the simulator that is ready."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, f"/mujoco/{name}", qos_profile=_QOS)
        client = self._clients[name]
        self.until(client.service_is_ready)
        return client

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service of the simulator and return its response."""
        return self.wait(self.client(kind, name).call_async(request))

    def diagnostic(self, row: str, name: str) -> float:
        """Return a value of a diagnostic row that is published from now on."""
        received = self._reports
        # The first message may have been in flight.
        self.until(lambda: self._reports >= received + 2)
        return float(self.report[row][name])

    def next_message(self, kind: Any, topic: str) -> Any:
        """Return the next message on a topic."""
        received: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, received.append, 10)
        self.until(lambda: received)
        self.node.destroy_subscription(subscription)
        return received[-1]

    def trajectory_client(
        self, feedback: Callable[[Any], object] | None = None
    ) -> "TrajectoryClient":
        """Return an action client for the trajectories of a single robot."""
        return TrajectoryClient(self, feedback)

    def _receive(self, message: DiagnosticArray) -> None:
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


class TrajectoryClient:
    """Sends trajectories to a single robot.

    Attributes:
        goals: Ids of the goals sent.
    """

    def __init__(
        self, client: SimulatorClient, feedback: Callable[[Any], object] | None = None
    ) -> None:
        """Wait for the server; `feedback` is called with every feedback message."""
        self.goals: list[bytes] = []
        self._simulator = client
        self._feedback = feedback or (lambda _message: None)
        self._client = ActionClient(
            client.node, FollowJointTrajectory, f"{_CONTROLLER}/follow_joint_trajectory"
        )
        client.until(self._client.server_is_ready)
        state = client.next_message(
            JointTrajectoryControllerState, f"{_CONTROLLER}/controller_state"
        )
        self._names, self._q = list(state.joint_names), list(state.reference.positions)

    def sway(self, seconds: float, amplitude: float = 0.02) -> Future:
        """Send a goal that oscillates all joints for `seconds`; return the future of its result.

        Raises:
            RuntimeError: The goal was rejected.
        """
        message = JointTrajectory(joint_names=self._names)
        for second in range(1, round(seconds) + 1):
            moved = amplitude * (second % 2)
            point = JointTrajectoryPoint(positions=[q + moved for q in self._q])
            point.time_from_start.sec = second
            message.points.append(point)
        goal = FollowJointTrajectory.Goal(trajectory=message)
        send = partial(self._client.send_goal_async, goal, self._feedback)
        handle = self._simulator.wait(self._simulator.in_executor(send))
        if not handle.accepted:
            raise RuntimeError("the simulator rejected the trajectory")
        self.goals.append(bytes(handle.goal_id.uuid))
        return self._simulator.in_executor(handle.get_result_async)

    def close(self) -> None:
        """Destroy the action client."""
        self._client.destroy()
