"""Programs of other authors, which spin one node until a signal."""

import signal
import sys
from collections.abc import Callable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


def run(create: Callable[[], Node]) -> None:
    """Spin a node until SIGINT or SIGTERM, which end the program at once.

    With the handlers of rclpy, some programs do not end: ``rclpy.spin`` misses the
    signal (rclpy 7.1.4), or Fast DDS 2.14 waits for ever for its own listener.
    """
    rclpy.init(args=sys.argv)
    executor = SingleThreadedExecutor()  # sets the handlers of rclpy
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    executor.add_node(create())
    executor.spin()
