"""Camera process of a simulator."""

import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection

from mujoco_ros.cameras.ros.node import CameraNode, FrameProcess
from mujoco_ros.cli.command_line import create_parser, parse
from mujoco_ros.cli.node_process import LARGE_MESSAGES, run
from mujoco_ros.rendering.gl import CHOICES
from mujoco_ros.sim.shared_memory.reader import SharedState


def main(arguments: Sequence[str] | None = None) -> int:
    """Publish until the simulation ends; return the exit code."""
    parser = create_parser(
        "cameras",
        "Compute the images and scans of a running simulation. The simulator starts this "
        "process; see its parameters 'cameras' and 'rendering'.",
    )
    add = parser.add_argument
    add("--state", required=True, help="name of the simulator's shared state")
    add("--connection", required=True, type=int, help="descriptor of the socket to its node")
    add("--namespace", default="/", help="namespace of its node")
    add("--rendering", choices=CHOICES, default="auto", help="OpenGL backend")
    add("--seed", type=int, default=0, help="seed of the noise")
    options, ros = parse(parser, arguments)
    state, connection = SharedState(options.state), Connection(options.connection)
    process = FrameProcess(state, connection, options.rendering, options.seed)
    process.compute_first()
    return run(
        lambda: CameraNode(process, options.namespace),
        ros,
        work=CameraNode.turn,
        profile=LARGE_MESSAGES,
    )


if __name__ == "__main__":
    sys.exit(main())
