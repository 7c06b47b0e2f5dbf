"""Draw the state diagram of a controller as SVG."""

import argparse
import sys
from collections.abc import Sequence

from mujoco_ros.cli.command_line import add_output, report_errors, write_output
from mujoco_ros.controllers.catalogue import load_table, names
from mujoco_ros.controllers.fsm.state_diagram import draw
from mujoco_ros.extras import require


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the diagram; return the exit code."""
    options = _parser().parse_args(arguments)

    def write() -> int:
        table = load_table(options.controller)
        require("diagrams", "a diagram")
        write_output(draw(table), options.output)
        return 0

    return report_errors(write)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mujoco_ros.cli.draw_controller", description=__doc__
    )
    parser.add_argument("controller", help=f"a YAML file, or one of: {', '.join(names())}")
    add_output(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
