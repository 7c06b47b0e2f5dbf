"""Run the simulator: ``ros2 run mujoco_ros sim`` or ``python -m mujoco_ros``."""

import argparse
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

import rclpy
from rclpy.signals import SignalHandlerOptions

from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.scene import shipped_scenes
from mujoco_ros.ros.node import MujocoNode

try:  # written in C++: a message takes it 0.1 ms, and the other one, which looks at all, 0.8 ms
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

# For so long may another thread keep the GIL from the physics thread; 5 ms is Python's default.
_SWITCH_INTERVAL_S = 1e-4
# While the executor waits, Python sees no signal.
_SIGNAL_LATENCY_S = 0.1
# Between two messages: a collection that Python starts by itself, amid a trajectory of 100 000
# points, keeps the GIL from the physics thread for 70 ms.
_COLLECT_S = 10.0
_LAST_TASKS = 100


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; return the exit code."""
    arguments = list(sys.argv[1:] if args is None else args)
    ros = arguments.index("--ros-args") if "--ros-args" in arguments else len(arguments)
    _parser().parse_args(arguments[:ros])
    # Writers hand their messages to a thread of the middleware, off the physics thread and the GIL.
    os.environ.setdefault("RMW_FASTRTPS_PUBLICATION_MODE", "ASYNCHRONOUS")
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    _on_signals(lambda _number: os._exit(0))  # there is nothing to put in order yet
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy has no narrower type for wrong --ros-args
        return _fail(f"ROS 2 does not start: {type(error).__name__}: {error}")
    try:
        return _run()
    except ModelError as error:
        return _fail(str(error))
    finally:
        rclpy.try_shutdown()


def _on_signals(handler: Callable[[int], object]) -> None:
    """Handle SIGINT and SIGTERM; rclpy's handlers would invalidate publishers that are in use."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: handler(number))


def _run() -> int:
    """Spin the node until there is a signal or the physics fails; return the exit code."""
    node = MujocoNode()
    executor = Executor()  # before our handlers of signals: that of rclpy 7.1.4 brings its own
    # A list, as an event's lock is not for handlers: a second signal may come inside the first's.
    signals: list[int] = []
    _on_signals(signals.append)
    gc.freeze()  # what is loaded now lives as long as the process
    gc.disable()
    collect_at = time.monotonic() + _COLLECT_S
    executor.add_node(node)
    node.start()
    try:
        while not signals and node.failure is None:
            executor.spin_once(timeout_sec=_SIGNAL_LATENCY_S)
            if time.monotonic() > collect_at:
                gc.collect()
                collect_at = time.monotonic() + _COLLECT_S
    finally:
        node.stop()
        for _ in range(_LAST_TASKS):  # the results of goals that ended with it
            executor.spin_once(timeout_sec=0.0)
        executor.shutdown()
    return 0 if node.failure is None else _fail(str(node.failure))


def _fail(message: str) -> int:
    sys.stderr.write(f"mujoco_ros: error: {message}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog="sim",
        usage="%(prog)s [-h] [--ros-args ...]",
        description="Simulate robots with MuJoCo and publish all their senses over ROS 2.",
        epilog=(
            "Parameters are given the ROS way, e.g.\n"
            "  --ros-args -p scene:=quadruped -p real_time_factor:=2.0\n"
            f"Shipped scenes: {', '.join(shipped_scenes())}; the path of a scene YAML, MJCF, URDF\n"
            "or MJB file works as well. docs/parameters.md explains every parameter, and so does\n"
            "'ros2 param describe /mujoco <name>'."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


if __name__ == "__main__":
    sys.exit(main())
