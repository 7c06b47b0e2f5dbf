"""Start a package with an extension of the simulator, its test and a scene."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.extensions.template import write_extension

_EPILOG = """\
Install the package with `pip install --editable FOLDER/NAME`; then scenes can use the extension.
docs/how-to/extend_the_simulator.md explains what an extension can do.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the package; return the exit code."""
    parser = create_parser("python -m mujoco_ros.cli.new_extension", __doc__, _EPILOG)
    parser.add_argument("name", metavar="NAME", help="name of the extension, as my_wind")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="where its folder is created; default here"
    )
    return run_command(parser, _write, arguments)


def _write(options: argparse.Namespace) -> None:
    root = write_extension(options.folder, options.name)
    sys.stdout.write(f"{root}\n")


if __name__ == "__main__":
    sys.exit(main())
