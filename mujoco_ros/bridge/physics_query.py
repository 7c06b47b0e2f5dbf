"""Reading of what belongs to the physics thread, for the executor's thread."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from rclpy.node import Node

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.sim.command_queue import CommandQueue

T = TypeVar("T")


def query(
    node: Node, commands: CommandQueue, read: Callable[[], T], then: Callable[[T], object]
) -> None:
    """Read something in the physics thread, then call `then` with it in the executor's thread.

    Nothing is called if the physics thread ends before.
    """

    def done(future: "Future[T]") -> None:
        if not future.cancelled():
            later(node, lambda: then(future.result()))

    with suppress(QueueFullError):  # it has ended
        commands.submit(read, urgent=True).add_done_callback(done)
