"""The executor of every node, its clock, and calls whose exceptions are logged."""

import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time_source import TimeSource
from rclpy.timer import Timer
from rosgraph_msgs.msg import Clock as ClockMessage

_LOG = logging.getLogger(__name__)
_set_time = TimeSource.clock_callback
_warned: set[int] = set()


def _follow_clock(source: TimeSource, message: ClockMessage) -> None:
    """Ignore negative times, which rclpy's `Time` rejects."""
    if message.clock.sec >= 0:
        _set_time(source, message)
    elif not _warned:
        _warned.add(message.clock.sec)
        _LOG.warning("negative times of /clock are ignored: %d s", message.clock.sec)


TimeSource.clock_callback = _follow_clock  # of all nodes of this process

try:  # less than half the processor time of the executors that poll; see README.md
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

__all__ = ["Executor", "create_wall_timer", "guarded", "later"]

T = TypeVar("T")


def later(node: Node, call: Callable[..., object], *args: object) -> bool:
    """Have the executor of `node` call a function soon, from any thread; False without executor.

    Exceptions of the function are logged.
    """
    executor = node.executor
    if executor is None:
        return False
    executor.create_task(guarded(call), *args)
    return True


def create_wall_timer(node: Node, period_s: float, call: Callable[[], object]) -> Timer:
    """Call a function periodically in the executor's thread, by wall time; log its exceptions."""
    # Not the node's clock: with use_sim_time it stops with the simulation.
    steady = Clock(clock_type=ClockType.STEADY_TIME)
    return node.create_timer(period_s, guarded(call), clock=steady)


def guarded(call: Callable[..., T], message: str = "") -> Callable[..., T | None]:
    """Return a function that calls `call`, but logs a message about exceptions and returns None.

    With rclpy's EventsExecutor an exception in a callback or a task ends the process.
    """

    @functools.wraps(call)
    def guarded_call(*args: Any) -> T | None:
        try:
            return call(*args)
        except Exception:
            _LOG.exception(message or f"{getattr(call, '__qualname__', call)} failed")
            return None

    return guarded_call
