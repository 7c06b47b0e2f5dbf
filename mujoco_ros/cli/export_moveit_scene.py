"""Write what a robot can collide with as a planning scene for MoveIt, a file .scene.

Each body outside the robots that collides is an object, at its place at the start of the scene.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mujoco_ros.cli import terminal
from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.inspection.moveit_scene import moveit_scene
from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.model.output_files import check_output, write_whole
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

_EPILOG = """\
SCENE is what the parameter `scene` of the simulator accepts. Poses are in the frame world, which
must be the parent_frame of the virtual joint in the SRDF. RViz reads the file: panel
MotionPlanning, tab Scene Objects, Import.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; return the exit code."""
    return run_command(_parser(), _export, arguments)


def _export(options: argparse.Namespace) -> None:
    check_output(options.output)
    text, count = scene_text(options.scene)
    write_whole(options.output, text)
    terminal.report(f"wrote {options.output}: {counted(count, 'object')}")


def scene_text(scene: str) -> tuple[str, int]:
    """Return the text of a file for a scene, and the number of its objects.

    Raises:
        UserInputError: The scene is invalid, or has nothing outside its robots that collides.
    """
    plant = Simulation(load_scene(scene)).plant
    plant.evaluate()
    text, count = moveit_scene(plant.assembly, plant.layout, plant.data)
    if not count:
        name = plant.assembly.config.name
        raise UserInputError(f"scene '{name}' has nothing outside its robots that collides")
    return text, count


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("python -m mujoco_ros.cli.export_moveit_scene", __doc__, _EPILOG)
    parser.add_argument("scene", metavar="SCENE", help="the scene or model")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("world.scene"), help="file to write"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
