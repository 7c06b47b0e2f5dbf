"""Run the simulator: ``ros2 run mujoco_ros sim`` or ``python -m mujoco_ros``."""

import argparse
import gc
import os
import sys
from collections.abc import Sequence

# One late step in a thousand is what the default of 5 ms would cost the physics thread.
_SWITCH_INTERVAL_S = 1e-4


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; return the exit code."""
    arguments = list(sys.argv[1:] if args is None else args)
    _parser().parse_args(arguments[: _ros_arguments_at(arguments)])
    # Writers hand their messages to a thread of the middleware, off the physics thread and the GIL.
    os.environ.setdefault("RMW_FASTRTPS_PUBLICATION_MODE", "ASYNCHRONOUS")
    sys.setswitchinterval(_SWITCH_INTERVAL_S)

    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    from mujoco_ros.model.errors import ModelError
    from mujoco_ros.ros.node import MujocoNode

    try:
        rclpy.init(args=arguments)
    except Exception as error:  # noqa: BLE001 - rclpy has no narrower type for bad --ros-args
        return _fail(str(error))
    node = None
    try:
        node = MujocoNode()
        gc.freeze()  # what is loaded now lives as long as the process
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        node.start(on_failure=rclpy.try_shutdown)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except ModelError as error:
        return _fail(str(error))
    finally:
        if node is not None:
            node.stop()
        rclpy.try_shutdown()
    return _fail(str(node.failure)) if node.failure is not None else 0


def _fail(message: str) -> int:
    sys.stderr.write(f"mujoco_ros: error: {message}\n")
    return 1


def _ros_arguments_at(arguments: list[str]) -> int:
    return arguments.index("--ros-args") if "--ros-args" in arguments else len(arguments)


def _parser() -> argparse.ArgumentParser:
    from mujoco_ros.model.scene import shipped_scenes

    return argparse.ArgumentParser(
        prog="sim",
        description="Simulate robots with MuJoCo and publish all their senses over ROS 2.",
        epilog=(
            "Parameters are given the ROS way, e.g.\n"
            "  --ros-args -p scene:=quadruped -p real_time_factor:=2.0\n"
            f"Shipped scenes: {', '.join(shipped_scenes())}; a path to a scene YAML, MJCF, URDF or "
            "MJB file works as well.\n"
            "'ros2 param describe /mujoco <name>' explains a parameter; docs/parameters.md has all."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [-h] [--ros-args ...]",
    )


if __name__ == "__main__":
    sys.exit(main())
