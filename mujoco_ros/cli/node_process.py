"""A process with one node: from its arguments to its exit code."""

import os
import signal
import sys
import time
from ast import literal_eval
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerOptions

from mujoco_ros.bridge.rclpy_ext.executor import Executor
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.process.memory_trim import MemoryTrimmer

# For so long may another thread keep the GIL from the physics thread; 5 ms is Python's default.
_SWITCH_INTERVAL_S = 1e-4
# While the executor waits, Python sees no signal.
_SIGNAL_LATENCY_S = 0.1
_TIDY_S = 10.0
_LAST_TASKS = 100


class Runnable(Protocol):
    """A node with a thread of its own."""

    failure: BaseException | None
    leaving: bool

    def start(self) -> None:
        """Start the thread."""

    def stop(self) -> None:
        """End the thread."""


_Node = TypeVar("_Node", bound=Runnable)


def run(
    make: Callable[[], _Node],
    arguments: Sequence[str],
    turn: Callable[[_Node], float] = lambda _node: _SIGNAL_LATENCY_S,
) -> int:
    """Run the node that `make` returns until it is interrupted; return the exit code.

    Args:
        make: Makes the node.
        arguments: Of the command line, for ROS.
        turn: Called before each wait for callbacks; returns for how long to wait at most [s].
    """
    # Writers hand their messages to a thread of the middleware, off the physics thread and the GIL.
    os.environ.setdefault("RMW_FASTRTPS_PUBLICATION_MODE", "ASYNCHRONOUS")
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    _on_signals(lambda _number: os._exit(0))  # there is nothing to put in order yet
    try:
        rclpy.init(args=list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    except rclpy_implementation.UnknownROSArgsError as error:
        unknown = " ".join(literal_eval(str(error)))
        return fail(
            f"unknown after --ros-args: {unknown}; a parameter is given as '-p name:=value'"
        )
    except Exception as error:  # rclpy has no narrower type for wrong --ros-args
        return fail(f"ROS 2 does not start: {type(error).__name__}: {error}")
    try:
        return _spin(make, turn)
    except UserInputError as error:
        return fail(str(error))
    finally:
        rclpy.try_shutdown()


def fail(message: str) -> int:
    """Say what went wrong; return the exit code."""
    sys.stderr.write(f"mujoco_ros: error: {message}\n")
    return 1


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return one's own arguments, and those for ROS."""
    own = list(arguments)
    ros = own.index("--ros-args") if "--ros-args" in own else len(own)
    return own[:ros], own[ros:]


def _on_signals(handler: Callable[[int], object]) -> None:
    """Handle SIGINT and SIGTERM; rclpy's handlers would invalidate publishers that are in use."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: handler(number))


def _spin(make: Callable[[], _Node], turn: Callable[[_Node], float]) -> int:
    """Spin the node until there is a signal or its thread fails; return the exit code."""
    node = make()
    executor = Executor()  # before our handlers of signals: that of rclpy 7.1.4 brings its own
    # A list, as an event's lock is not for handlers: a second signal may come inside the first's.
    signals: list[int] = []
    _on_signals(signals.append)
    memory, tidy_at = MemoryTrimmer(), time.monotonic() + _TIDY_S
    executor.add_node(node)
    node.start()
    try:
        while not (signals or node.leaving or node.failure is not None):
            executor.spin_once(timeout_sec=min(turn(node), _SIGNAL_LATENCY_S))
            if time.monotonic() > tidy_at:
                memory.trim()
                tidy_at = time.monotonic() + _TIDY_S
    finally:
        node.stop()
        for _ in range(_LAST_TASKS):  # the results of goals that ended with it
            executor.spin_once(timeout_sec=0.0)
        executor.shutdown()
    return 0 if node.failure is None else fail(str(node.failure))
