"""Write the map of a scene, an image and its description, as nav2_map_server reads it.

What collides and cannot move is occupied where it reaches into the slice, what the robot can reach
from its start is free, and the rest is unknown.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mujoco_ros.cli import terminal
from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.inspection.occupancy_map import OccupancyMap, occupancy_map
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import check_output, write_whole
from mujoco_ros.model.robot.body_frames import can_move
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

_EPILOG = """\
SCENE is what the parameter `scene` of the simulator accepts. The height of the slice is that of a
lidar, as a rule; the default, 0.28 m, is the shipped rover's. Two heights are a slab, such as
--height 0.05 0.4 for all that the rover would hit. Cells are 0.05 m by default. The default output
is map.pgm and map.yaml.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the map; return the exit code."""
    return run_command(_parser(), _export, arguments)


def _export(options: argparse.Namespace) -> None:
    if len(options.height) > 2 or sorted(options.height) != options.height:
        raise UserInputError(f"--height is {options.height}; give one, or a lower and a higher one")
    if options.resolution <= 0:
        raise UserInputError(f"--resolution is {options.resolution:g}; it must be above 0")
    image, description = options.output.with_suffix(".pgm"), options.output.with_suffix(".yaml")
    for path in (image, description):
        check_output(path)
    found = map_of_scene(
        options.scene,
        heights=(options.height[0], options.height[-1]),
        resolution=options.resolution,
        start=options.start,
        everywhere=options.everywhere,
        movable=options.movable,
    )
    write_map(found, image, description)
    height, width = found.pixels.shape
    terminal.report(f"wrote {image} and {description}: {width} x {height} cells")


def map_of_scene(
    scene: str,
    *,
    heights: tuple[float, float],
    resolution: float = 0.05,
    start: tuple[float, float] | None = None,
    everywhere: bool = False,
    movable: bool = False,
) -> OccupancyMap:
    """Return the map of a scene between two heights [m]; `start` (x, y) [m] is a free point.

    Raises:
        UserInputError: The scene is invalid, or the start is not free.
    """
    plant = Simulation(load_scene(scene)).plant
    plant.evaluate()
    robots = {body for robot in plant.layout.robots for body in robot.bodies}
    bodies = [
        body
        for body in range(plant.model.nbody)
        if body not in robots and (movable or not can_move(plant.model, body))
    ]
    if start is None and plant.layout.robots:
        start = plant.data.xpos[plant.layout.robots[0].roots[0], :2].tolist()
    return occupancy_map(
        plant.model,
        plant.data,
        bodies=bodies,
        heights=heights,
        resolution=resolution,
        seed=None if everywhere else start,
    )


def write_map(found: OccupancyMap, image: Path, description: Path) -> None:
    """Write a map as an image and, in the same folder, its description."""
    write_whole(image, pgm(found))
    write_whole(description, yaml(found, image.name))


def pgm(found: OccupancyMap) -> bytes:
    """Return a map as a binary PGM file."""
    height, width = found.pixels.shape
    return f"P5\n{width} {height}\n255\n".encode() + found.pixels.tobytes()


def yaml(found: OccupancyMap, image: str) -> str:
    """Return the description of a map for nav2_map_server; the frame of the map is the world."""
    x, y = found.origin
    return (
        f"image: {image}\nmode: trinary\nresolution: {found.resolution:g}\n"
        f"origin: [{x:g}, {y:g}, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.25\n"
    )


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("python -m mujoco_ros.cli.export_map", __doc__, _EPILOG)
    add = parser.add_argument
    add("scene", metavar="SCENE", help="the scene or model")
    add("-o", "--output", type=Path, default=Path("map"), help="files to write, without suffix")
    add(
        "--height",
        type=float,
        nargs="+",
        default=[0.28],
        metavar="Z",
        help="height [m]: one or two",
    )
    add("--resolution", type=float, default=0.05, metavar="M", help="edge of a cell [m]")
    add("--start", type=float, nargs=2, metavar=("X", "Y"), help="a free point; default: the robot")
    add("--everywhere", action="store_true", help="all that is not occupied is free")
    add("--movable", action="store_true", help="include objects that can move")
    return parser


if __name__ == "__main__":
    sys.exit(main())
