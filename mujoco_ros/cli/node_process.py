"""A process with one ROS node: from its arguments to its exit code."""

import logging
import math
import os
import re
import sys
import time
from ast import literal_eval
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerOptions

from mujoco_ros.cli.command_line import collect_garbage, fail
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import share_directory
from mujoco_ros.process.end_limit import end_at_signals, handle_signals, limit_end, limit_exit
from mujoco_ros.process.memory import MemoryTrimmer, remove_unfinished_ports, restrict_shared_memory
from mujoco_ros.rclpy_ext.executor import Executor
from mujoco_ros.rclpy_ext.service import flush_responses
from mujoco_ros.wire.names import ros_distribution

VARIABLE = "FASTDDS_DEFAULT_PROFILES_FILE"
FORMER_VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE"
LARGE_MESSAGES = "large_messages.xml"
SMALL_MESSAGES = "small_messages.xml"


def configure_fast_dds(environment: MutableMapping[str, str], profile: str) -> None:
    """Select a profile of Fast DDS in ``config/fastdds``, unless the user configures it.

    Each of them announces the process every 0.3 s: a client that starts later is found 0.2 s after
    its start, and 0.9 s with the default of 3 s. With `LARGE_MESSAGES` most point clouds arrive on
    a busy machine, 62 to 69 of 70, and 2 to 11 without (640 x 480 at 10 Hz, two processors).
    """
    folder = share_directory() / "config" / "fastdds"
    names = (VARIABLE, FORMER_VARIABLE)
    # A child process inherits the profile of its parent.
    if all(Path(environment.get(name, folder / profile)).parent == folder for name in names):
        # From Kilted on, the former variable causes a warning.
        read = names if ros_distribution() == "jazzy" else names[:1]
        environment.update(dict.fromkeys(read, str(folder / profile)))


# Longest time for which another thread keeps the GIL from the physics thread; Python's default is
# 5 ms.
_SWITCH_INTERVAL_S = 1e-4
# Python handles no signal while the executor waits.
_SIGNAL_LATENCY_S = 0.1
_TRIM_PERIOD_S = 10.0
_FIRST_TRIM_S = 1.0
"""Time in which the memory of compiling the first model is free; it delays no first message."""
_LAST_TASKS = 100
_FORMS = "a parameter is given as '-p name:=value', another name as '-r name:=other'"
_NOT_PARSED = re.compile(r"Couldn't parse [\w ]+: '(.+?)'\. Error: (.*?), at /", re.S)
"""What rcl reports of an argument: the argument, and the first cause."""
_LOG = logging.getLogger(__name__)


class Runnable(Protocol):
    """A node with its own thread, which the two methods start and end."""

    failure: BaseException | None
    leaving: bool

    def start(self) -> None: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102


_Node = TypeVar("_Node", bound=Runnable)


def run(
    create: Callable[[], _Node],
    arguments: Sequence[str],
    work: Callable[[_Node], float] | None = None,
    *,
    sends_at_once: bool = False,
    profile: str = SMALL_MESSAGES,
) -> int:
    """Run a node until it is interrupted; return the exit code.

    `work` is called before each wait for callbacks and returns the longest time to wait [s].
    With `sends_at_once`, a thread that publishes sends the message itself. See `configure_fast_dds`
    for the `profile`.
    """
    # Else a thread of the middleware does, which costs more: it wakes for each message, and waits
    # for the writer.
    mode = "SYNCHRONOUS" if sends_at_once else "ASYNCHRONOUS"
    os.environ.setdefault("RMW_FASTRTPS_PUBLICATION_MODE", mode)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    limit_end()
    end_at_signals()
    try:
        with ros(arguments, profile):
            return _spin(create, work)
    except UserInputError as error:
        return fail(str(error))


@contextmanager
def ros(arguments: Sequence[str], profile: str = SMALL_MESSAGES) -> Iterator[None]:
    """Initialize ROS without its signal handlers, which invalidate publishers that are in use.

    Meanwhile only this user can read new files (logs, bags, caches, the middleware's shared
    memory), including files of child processes.
    """
    collect_garbage()
    configure_fast_dds(os.environ, profile)
    _check_security()
    remove_unfinished_ports()
    mask = os.umask(0o077)
    try:
        with _initialized(arguments):
            yield
    except rclpy_implementation.RCLError as error:
        if "security" not in str(error).lower():
            raise
        reason = str(error).splitlines()[0].removeprefix("error creating node: ")
        raise UserInputError(
            f"ROS_SECURITY_ENABLE is true, but the node cannot be protected: {reason}; see "
            "docs/reference/network.md"
        ) from error
    finally:
        os.umask(mask)


def _check_security() -> None:
    """Warn of, or reject, settings with which ROS starts nodes without protection."""
    if os.environ.get("ROS_SECURITY_ENABLE") != "true":  # as rcl compares it
        return
    if os.environ.get("ROS_SECURITY_STRATEGY") != "Enforce":
        _LOG.warning(
            "ROS_SECURITY_STRATEGY is not 'Enforce': without keys, nodes start unprotected"
        )
    elif not os.environ.get("ROS_SECURITY_KEYSTORE"):
        raise UserInputError(
            "ROS_SECURITY_ENABLE is true, but ROS_SECURITY_KEYSTORE does not name the folder of "
            "the keys"
        )


@contextmanager
def _initialized(arguments: Sequence[str]) -> Iterator[None]:
    try:
        rclpy.init(args=list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    except rclpy_implementation.UnknownROSArgsError as error:
        unknown = " ".join(literal_eval(str(error)))
        raise UserInputError(f"unknown after --ros-args: {unknown}; {_FORMS}") from error
    except Exception as error:  # rclpy has no narrower type for wrong --ros-args
        if found := _NOT_PARSED.search(str(error)):
            argument, cause = found.groups()
            is_file = argument.startswith("--params-file")
            raise UserInputError(f"{argument}: {cause if is_file else _FORMS}") from error
        raise UserInputError(f"ROS 2 does not start: {type(error).__name__}: {error}") from error
    try:
        yield
    finally:
        rclpy.try_shutdown()
        limit_exit()


def _spin(create: Callable[[], _Node], work: Callable[[_Node], float] | None) -> int:
    """Spin the node until there is a signal or its thread fails; return the exit code."""
    node = create()
    restrict_shared_memory()
    executor = Executor()  # before our signal handlers: rclpy 7.1.4 sets its own here
    # A list: a second signal may arrive in the handler of the first, where a lock would block.
    signals: list[int] = []
    handle_signals(signals.append)
    memory, trim_at = MemoryTrimmer(), time.monotonic() + _FIRST_TRIM_S
    executor.add_node(node)
    try:
        node.start()
        while not (signals or node.leaving or node.failure is not None):
            wait_s = math.inf if work is None else work(node)
            executor.spin_once(timeout_sec=min(wait_s, _SIGNAL_LATENCY_S))
            if time.monotonic() > trim_at:
                memory.trim()
                trim_at = time.monotonic() + _TRIM_PERIOD_S
    finally:
        node.stop()
        for _ in range(_LAST_TASKS):  # results of goals that ended with the node
            executor.spin_once(timeout_sec=0.0)
        flush_responses()
        executor.shutdown()
    return 0 if node.failure is None else fail(str(node.failure))
