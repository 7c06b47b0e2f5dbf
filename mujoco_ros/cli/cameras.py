"""Camera process of a simulator."""

import os
import sys
from collections.abc import Sequence

from mujoco_ros.cameras.ros.node import CameraNode, camera_node
from mujoco_ros.cli.command_line import create_parser, parse
from mujoco_ros.cli.node_process import configure_fast_dds, run
from mujoco_ros.rendering.gl import CHOICES
from mujoco_ros.sim.shared_memory.reader import SharedState


def main(arguments: Sequence[str] | None = None) -> int:
    """Publish until the simulation ends; return the exit code."""
    parser = create_parser(
        "cameras",
        "Publish the cameras and lidars of a running simulation. The simulator starts this "
        "process; see its parameters 'cameras' and 'rendering'.",
    )
    add = parser.add_argument
    add("--state", required=True, help="name of the simulator's shared state")
    add("--rendering", choices=CHOICES, default="auto", help="OpenGL backend")
    add("--seed", type=int, default=0, help="seed of the noise")
    add("--subscribed", default="", help="topic to prepare first")
    options, ros = parse(parser, arguments)
    configure_fast_dds(os.environ)
    return run(
        lambda: camera_node(
            SharedState(options.state), options.rendering, options.seed, options.subscribed
        ),
        ros,
        work=CameraNode.turn,
    )


if __name__ == "__main__":
    sys.exit(main())
