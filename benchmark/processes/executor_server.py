"""Node of the measurement of executors: ``executor_server EXECUTOR CLASSES FILE``.

It serves a topic, a service and an action. Until SIGINT it records the age of each message
(CLOCK_MONOTONIC, common to all processes), and the processor's time from the first to the last.
"""

import sys
import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from control_msgs.action import ParallelGripperCommand
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from benchmark.processes.simulator_client import SIMULATOR
from benchmark.processes.subscriber import StopSignal
from mujoco_ros.control.events import GoalEnded, Outcome
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import Executor
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.rclpy_ext.service import Service
from mujoco_ros.wire.conversions import nanoseconds

EXECUTORS: dict[str, Any] = {"events": Executor, "single": SingleThreadedExecutor}
_DEPTH = 10


class _ImmediateSuccess:
    """Ends every goal at once."""

    def check(self, goal: ParallelGripperCommand.Goal) -> ParallelGripperCommand.Goal:
        return goal

    def accept(self, goal: Goal, _checked: object) -> None:
        goal.set_executing()
        goal.end(GoalEnded(goal=goal, outcome=Outcome.SUCCESSFUL, message=""))

    def cancel(self, goal: Goal) -> None:
        pass

    def result(self, _event: GoalEnded) -> ParallelGripperCommand.Result:
        return ParallelGripperCommand.Result()

    def feedback(self, _progress: object) -> ParallelGripperCommand.Feedback:
        return ParallelGripperCommand.Feedback()


def serve_with_own_classes(node: Node, receive: Callable[[JointState], None]) -> object:
    """Serve with the classes of `mujoco_ros.rclpy_ext`."""
    endpoints = Endpoints(node)
    return (
        endpoints.subscription(JointState, "stream", receive, QoSProfile(depth=_DEPTH)),
        Service(node, Trigger, "~/trigger", lambda _request, responder: responder.succeed()),
        GoalServer(endpoints, ParallelGripperCommand, "goal", _ImmediateSuccess()),
    )


def serve_with_stock_classes(node: Node, receive: Callable[[JointState], None]) -> object:
    """Serve with the classes of rclpy."""

    def respond(_request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        return response

    def execute(goal: Any) -> ParallelGripperCommand.Result:
        goal.succeed()
        return ParallelGripperCommand.Result()

    return (
        node.create_subscription(JointState, "stream", receive, _DEPTH),
        node.create_service(Trigger, "~/trigger", respond),
        ActionServer(node, ParallelGripperCommand, "goal", execute),
    )


CLASSES = {"own": serve_with_own_classes, "stock": serve_with_stock_classes}


def main() -> int:
    """Serve until a signal, then save the records."""
    executor_name, classes, file = sys.argv[1:]
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node(SIMULATOR, start_parameter_services=False)
    executor = EXECUTORS[executor_name]()
    stop, ages = StopSignal(), array("q")
    cpu_s: list[float] = []

    def receive(message: JointState) -> None:
        ages.append(time.monotonic_ns() - nanoseconds(message.header.stamp))
        cpu_s[1:] = [time.process_time()]

    served = CLASSES[classes](node, receive)
    executor.add_node(node)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not stop.received:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    del served
    np.savez(file, ages=np.array(ages), cpu_s=cpu_s[-1] - cpu_s[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
