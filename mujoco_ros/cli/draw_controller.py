"""Draw the state diagram of a controller as SVG."""

import argparse
import sys
from collections.abc import Sequence

from mujoco_ros.cli.command_line import add_output, create_parser, run_command, write_output
from mujoco_ros.controllers.catalogue import load_table, names
from mujoco_ros.controllers.fsm.state_diagram import draw


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the diagram; return the exit code."""
    parser = create_parser("python -m mujoco_ros.cli.draw_controller", __doc__)
    parser.add_argument("controller", help=f"a YAML file, or one of: {', '.join(names())}")
    add_output(parser)
    return run_command(parser, _draw, arguments)


def _draw(options: argparse.Namespace) -> None:
    write_output(draw(load_table(options.controller)), options.output)


if __name__ == "__main__":
    sys.exit(main())
