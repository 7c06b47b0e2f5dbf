"""Run a controller beside a robot: ``ros2 run mujoco_ros controller pick_place``."""

import argparse
import os
import sys
from collections.abc import Sequence

from mujoco_ros.cameras.ros.large_messages import configure_fast_dds
from mujoco_ros.cli.node_process import run, split_arguments
from mujoco_ros.controllers.library.catalogue import names
from mujoco_ros.controllers.ros.node.node import ControllerNode


def main(args: Sequence[str] | None = None) -> int:
    """Control until interrupted; return the exit code."""
    own, ros = split_arguments(sys.argv[1:] if args is None else args)
    options = _parser().parse_args(own)
    configure_fast_dds(os.environ)
    return run(lambda: ControllerNode(options.controller), ros)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="controller",
        description=(
            "Run a controller on a node of its own, which knows the robot by its topics: a real "
            "one, or a simulated one. The robot holds when this ends."
        ),
        epilog=(
            "Parameters are given the ROS way, e.g.\n"
            "  controller pick_place --ros-args -p scene:=arm -p DESCEND.speed:=0.1\n"
            "docs/controller_node.md explains them, and so does 'ros2 param describe'."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "controller",
        help=f"one that is shipped ({', '.join(names())}), or the path of a YAML file",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
