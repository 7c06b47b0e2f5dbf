"""Draw the picture of a controller, as SVG."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mujoco_ros.controllers.fsm.diagram.drawing import draw
from mujoco_ros.controllers.library.catalogue import load_table, names
from mujoco_ros.model.errors import UserInputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    args = _parser().parse_args(argv)
    try:
        picture = draw(load_table(args.controller))
        if args.output is None:
            sys.stdout.write(picture)
        else:
            args.output.write_text(picture, encoding="utf-8")
    except (UserInputError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mujoco_ros.cli.draw_controller", description=__doc__
    )
    parser.add_argument("controller", help=f"a YAML file, or one of: {', '.join(names())}")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: standard output"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
