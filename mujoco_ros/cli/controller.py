"""Controller node: ``ros2 run mujoco_ros controller pick_place``."""

import sys
from collections.abc import Sequence

from mujoco_ros.bridge.ros_arguments import given_value
from mujoco_ros.cli.command_line import create_parser, parse
from mujoco_ros.controllers.catalogue import names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a controller until it is interrupted; return the exit code."""
    parser = create_parser(
        "controller",
        "Run a controller in a separate node, which uses the topics of a real or simulated "
        "robot. The robot holds its position when the node ends.",
        "Parameters are given as ROS arguments, e.g.\n"
        "  controller pick_place --ros-args -p scene:=arm -p DESCEND.speed:=0.1\n"
        "docs/reference/controller_node.md explains them, and so does 'ros2 param describe'.",
    )
    parser.add_argument(
        "controller", help=f"a shipped controller ({', '.join(names())}), or a YAML file"
    )
    options, ros = parse(parser, arguments)
    # --help needs no ROS.
    from mujoco_ros.cli.node_process import LARGE_MESSAGES, run
    from mujoco_ros.controllers.ros.node.node import ControllerNode

    at_once = given_value(ros, "lockstep") is True  # other nodes wait for it
    return run(
        lambda: ControllerNode(options.controller),
        ros,
        sends_at_once=at_once,
        profile=LARGE_MESSAGES,  # of the cameras of its states
    )


if __name__ == "__main__":
    sys.exit(main())
