"""Simulator: ``ros2 run mujoco_ros sim`` or ``python -m mujoco_ros``."""

import sys
from collections.abc import Sequence

from mujoco_ros.bridge.ros_arguments import given_value
from mujoco_ros.cli.command_line import create_parser, parse
from mujoco_ros.model.scene.config import shipped_scenes
from mujoco_ros.process.fork_server import serving


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; return the exit code."""
    parser = create_parser(
        "sim",
        "Simulate robots with MuJoCo and publish all their sensors over ROS 2.",
        "Parameters are given as ROS arguments, e.g.\n"
        "  --ros-args -p scene:=quadruped -p real_time_factor:=2.0\n"
        f"Shipped scenes: {', '.join(shipped_scenes())}; a scene can also be the path of a\n"
        "scene YAML, MJCF, URDF, xacro or MJB file, or a robot of an installed\n"
        "package, such as example-robot-data:talos. docs/reference/parameters.md explains\n"
        "every parameter, and so does 'ros2 param describe /mujoco <name>'.",
    )
    parser.usage = "%(prog)s [-h] [--ros-args ...]"
    _, ros = parse(parser, arguments)
    # --help needs no ROS.
    from mujoco_ros.bridge.node import MujocoNode
    from mujoco_ros.cli.node_process import run
    from mujoco_ros.native import library

    # The physics thread waits in lockstep anyway, and the native part has a thread that sends.
    at_once = given_value(ros, "mode") == "lockstep" or library() is not None
    with serving():  # forks that build the models of clients
        return run(lambda: MujocoNode(ros), ros, sends_at_once=at_once)


if __name__ == "__main__":
    sys.exit(main())
