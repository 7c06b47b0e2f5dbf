"""Load a model as the simulator does, and report on it in one page, for instance for a bug report.

The page contains masses, overlaps, joints with their gains, how far they move without commands,
sensors with their topics, actuators with their commands, and the messages of the import.
"""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mujoco

from mujoco_ros.cli import terminal
from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.extras import MissingExtraError, require
from mujoco_ros.inspection.report import inspect
from mujoco_ros.inspection.sections import html_page, sections, text_page
from mujoco_ros.model.output_files import check_output, write_whole
from mujoco_ros.rendering.gl import RenderingError

_EPILOG = """\
FILE is what the parameter `scene` of the simulator accepts: a shipped scene, the path of a scene
YAML, MJCF, URDF, xacro or MJB file, or a robot by name, such as example-robot-data:talos.
The exit code is 0 if the simulator would start with it, and 1 with one sentence otherwise.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report; return the exit code."""
    return run_command(_parser(), _check, arguments)


def _check(options: argparse.Namespace) -> None:
    terminal.report(f"checking '{options.model}'")
    versions = {"MuJoCo": mujoco.__version__, "Python": platform.python_version()}
    report, plant = inspect(options.model, versions, dict(options.xacro))
    parts = list(sections(report))
    if options.html is not None:
        check_output(options.html)  # before the images are rendered
        images, note = [], ""
        try:
            require("images", "their rendering")
            from mujoco_ros.inspection.images import robot_images  # needs the extra

            images = robot_images(plant.model, plant.data, plant.layout)
        except (MissingExtraError, RenderingError) as error:
            note = f"no images: {error}"
        write_whole(options.html, html_page(parts, images, note))
    if options.json:
        text = json.dumps(_without_infinity(asdict(report)), indent=2, ensure_ascii=False)
        sys.stdout.write(f"{text}\n")
    else:
        sys.stdout.write(text_page(parts))


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("python -m mujoco_ros.cli.check_robot", __doc__, _EPILOG)
    add = parser.add_argument
    add("model", metavar="FILE", help="the model or scene")
    add("--html", type=Path, metavar="OUT", help="also write the report as a page with images")
    add("--json", action="store_true", help="write JSON instead of text")
    add(
        "--xacro",
        type=_argument,
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="an argument of a xacro file; may be repeated",
    )
    return parser


def _argument(text: str) -> tuple[str, str]:
    name, sign, value = text.partition(":=")
    if not (name and sign):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME:=VALUE")
    return name, value


def _without_infinity(value: Any) -> Any:
    """Return a value with None for infinite numbers, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(item) for item in value]
    return None if value in (float("inf"), float("-inf")) else value


if __name__ == "__main__":
    sys.exit(main())
