"""Run the simulator: ``ros2 run mujoco_ros sim`` or ``python -m mujoco_ros``."""

import argparse
import sys
from collections.abc import Sequence

from mujoco_ros.bridge.node import MujocoNode
from mujoco_ros.cli.node_process import run, split_arguments
from mujoco_ros.model.scene.config import shipped_scenes


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; return the exit code."""
    arguments = sys.argv[1:] if args is None else args
    own, _ = split_arguments(arguments)
    _parser().parse_args(own)
    return run(lambda: MujocoNode(arguments), arguments)


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
