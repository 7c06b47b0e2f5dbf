"""Load a model as the simulator does, and report on it in one page, for instance for a bug report.

The page contains masses, overlaps, joints with their gains, how far they move without commands,
sensors with their topics, actuators with their commands, and the messages of the import.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco

from mujoco_ros.cli import terminal
from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.extras import MissingExtraError, require
from mujoco_ros.inspection.report import inspect, simulated
from mujoco_ros.inspection.sections import html_page, sections, text_page
from mujoco_ros.model.output_files import check_output, write_whole
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.sim.simulation import Simulation

_EPILOG = """\
FILE is what the parameter `scene` of the simulator accepts: a shipped scene, the path of a scene
YAML, MJCF, URDF, xacro or MJB file, or a robot by name, such as example-robot-data:talos.
The exit code is 0 if the simulator starts with it, and 1 with one sentence otherwise: where ROS is
installed, it does start, without its clock, and unseen by other processes.
"""
_DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report; return the exit code."""
    return run_command(_parser(), _check, arguments)


def _check(options: argparse.Namespace) -> None:
    terminal.report(f"checking '{options.model}'")
    versions = {"MuJoCo": mujoco.__version__, "Python": platform.python_version()}
    reference = " ".join([options.model, *options.arguments])
    report, plant = inspect(reference, versions, _simulator if find_spec("rclpy") else simulated)
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


@contextmanager
def _simulator(reference: str) -> Iterator[Simulation]:
    """Yield the simulation of a simulator that has started, whose clock stands."""
    from rclpy import logging

    from mujoco_ros.bridge.node import MujocoNode  # --help needs no ROS
    from mujoco_ros.cli.node_process import ros

    scene = reference.replace("'", "''")  # a text of YAML
    arguments = ["--ros-args", "-p", f"scene:='{scene}'", "--log-level", "error"]
    level = logging.get_logger_effective_level("")
    try:
        with _undiscovered(), ros(arguments):
            node = MujocoNode(arguments)
            try:
                yield node.simulation
            finally:
                node.stop()
    finally:
        logging.set_logger_level("", level)  # ROS keeps the one of the arguments


@contextmanager
def _undiscovered() -> Iterator[None]:
    """Let no other process discover what begins in the block."""
    former = os.environ.get(_DISCOVERY)
    os.environ[_DISCOVERY] = "OFF"
    try:
        yield
    finally:
        del os.environ[_DISCOVERY]
        if former is not None:
            os.environ[_DISCOVERY] = former


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("python -m mujoco_ros.cli.check_robot", __doc__, _EPILOG)
    add = parser.add_argument
    add("model", metavar="FILE", help="the model or scene")
    add("arguments", nargs="*", metavar="NAME:=VALUE", help="arguments of a xacro file")
    add("--html", type=Path, metavar="OUT", help="also write the report as a page with images")
    add("--json", action="store_true", help="write JSON instead of text")
    return parser


def _without_infinity(value: Any) -> Any:
    """Return a value with None for infinite numbers, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(item) for item in value]
    return None if value in (float("inf"), float("-inf")) else value


if __name__ == "__main__":
    sys.exit(main())
