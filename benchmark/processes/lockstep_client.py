"""Process that answers each tick of the lockstep.

``python -m benchmark.processes.lockstep_client`` commands the positions of the first message, so
the robot holds its position.
"""

import signal
import sys

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from mujoco_ros.rclpy_ext.executor import Executor

_DEPTH = 10


class Answerer(Node):
    """A node that answers each message on ``joint_states`` with one on ``joint_commands``."""

    def __init__(self) -> None:
        super().__init__("benchmark_lockstep_client", start_parameter_services=False)
        self._command = JointState()
        self._answers = self.create_publisher(JointState, "joint_commands", _DEPTH)
        self.create_subscription(JointState, "joint_states", self._answer, QoSProfile(depth=_DEPTH))

    def _answer(self, states: JointState) -> None:
        command = self._command
        if not command.name:
            command.name, command.position = states.name, states.position
        command.header.stamp = states.header.stamp
        self._answers.publish(command)


def main() -> int:
    """Answer until the process is interrupted."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    executor = Executor()  # before the handler: rclpy 7.1.4 sets its own here
    # An exception of a handler in a callback is a RuntimeError of the executor.
    signals: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: signals.append(number))
    executor.add_node(Answerer())
    while not signals:
        executor.spin_once(timeout_sec=0.1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
