"""Write a state log as a bag of topics, as a film, or one of its states as an image.

The suffix of the output selects the format: .mcap, .mp4 or .png.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mujoco_ros.cameras.log_images import View, film_rows, log_images, rows_between, write_film
from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.cli.terminal import report
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import complete_file
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.row_format import write_all

FILM_RATE_HZ = 30
_SIZE = 1280, 720
_SMALLEST, _LARGEST = 16, 8192
"""Sides of an image [pixels]."""
_SIGNS = ("child_on_parent", "parent_on_child")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; return the exit code."""
    return run_command(_parser(), _export, arguments)


def _export(options: argparse.Namespace) -> None:
    write = _WRITERS.get(options.output.suffix)
    if write is None:
        raise UserInputError(f"'{options.output}' must end with one of: {', '.join(_WRITERS)}")
    log = StateLog.open(options.log)
    if len(log.segments) != 1 and options.segment is None:
        raise UserInputError(
            f"'{options.log}' has {len(log.segments)} segments, one for each model; "
            f"choose one by --segment, from 0 to {len(log.segments) - 1}"
        )
    number = options.segment or 0
    if not 0 <= number < len(log.segments):
        raise UserInputError(
            f"'{options.log}' has no segment {number}, but 0 to {len(log.segments) - 1}"
        )
    log.segments[:] = [log.segments[number]]
    output = options.output.absolute()
    with complete_file(output, "file") as file:
        try:
            write(file, log, options)
        except RenderingError as error:
            raise UserInputError(f"the images cannot be rendered: {error}") from error


def _write_bag(file: BinaryIO, log: StateLog, options: argparse.Namespace) -> None:
    # Imported only for bags: images need no ROS.
    from mujoco_ros.recording.ros.log_bag import rows_of_run, write_bag

    times = log.segments[0].time
    rows = rows_of_run(times, rows_between(times, options.start, options.end), options.run)
    write_bag(
        file,
        Playback(log, lambda _segment: None),
        rows,
        name=options.output.name,
        namespace=options.namespace,
        wrench_sign=options.wrench_sign,
        on_row=_progress(options.progress, len(rows)),
    )


def _write_image(file: BinaryIO, log: StateLog, options: argparse.Namespace) -> None:
    import cv2  # --help works without it

    segment = log.segments[0]
    first = rows_between(segment.time, options.start, options.end)[:1]
    (image,) = log_images(segment, first, _view(options), options.size)
    _, encoded = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    write_all(file, encoded.tobytes())


def _write_film(file: BinaryIO, log: StateLog, options: argparse.Namespace) -> None:
    require("video", "writing a film")
    width, height = options.size
    if width % 2 or height % 2:
        raise UserInputError(f"the sides of a film must be even, got {width}x{height}")
    segment = log.segments[0]
    rows = film_rows(segment.time, options.start, options.end, FILM_RATE_HZ)
    images = log_images(segment, rows, _view(options), options.size)
    counted = _counted(images, _progress(options.progress, len(rows)))
    write_film(file, counted, options.size, FILM_RATE_HZ)


_WRITERS = {".mcap": _write_bag, ".mp4": _write_film, ".png": _write_image}


def _view(options: argparse.Namespace) -> View:
    return View(camera=options.camera, pose=tuple(options.pose), follow=options.follow)


def _counted(images: Iterable[np.ndarray], on_image: Callable[[], object]) -> Iterator[np.ndarray]:
    for image in images:
        on_image()
        yield image


def _progress(descriptor: int | None, total: int) -> Callable[[], object]:
    """Return what reports the finished share in percent, also in a pipe, whenever it changes."""
    count = 0

    def advance() -> None:
        nonlocal count
        before, count = count, count + 1
        percent = 100 * count // total
        if percent != 100 * before // total:
            report(f"{percent} % are written")
            if descriptor is not None:
                os.write(descriptor, f"{percent}\n".encode())

    return advance


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("export_log", __doc__)
    parser.add_argument("log", type=Path, help="the state log")
    parser.add_argument("output", type=Path, help="the file to write, which must not exist")
    parser.add_argument(
        "--start",
        type=_time,
        default=-math.inf,
        metavar="TIME",
        help="logged time of the first row, and of an image [s]; default: the first of the log",
    )
    parser.add_argument(
        "--end",
        type=_time,
        default=math.inf,
        metavar="TIME",
        help="logged time of the last row [s]; default: the last of the log",
    )
    parser.add_argument(
        "--segment", type=int, metavar="N", help="number of the segment, of a log with several"
    )
    images = parser.add_argument_group("images and films")
    images.add_argument("--camera", default="", metavar="NAME", help="a camera of the model")
    images.add_argument(
        "--pose",
        type=float,
        nargs=6,
        default=(),
        metavar=("X", "Y", "Z", "DISTANCE", "AZIMUTH", "ELEVATION"),
        help="of a free camera: its look-at point and distance [m], and its angles [deg]",
    )
    images.add_argument(
        "--follow", default="", metavar="BODY", help="the body that the free camera follows"
    )
    images.add_argument(
        "--size",
        type=_size,
        default=_SIZE,
        metavar="WIDTHxHEIGHT",
        help="in pixels, default: {}x{}".format(*_SIZE),
    )
    bags = parser.add_argument_group("bags")
    bags.add_argument("--namespace", default="", help="of the topics, default: none")
    bags.add_argument(
        "--wrench-sign", choices=_SIGNS, default=_SIGNS[0], help="as the simulator's parameter"
    )
    bags.add_argument(
        "--run", type=int, metavar="N", help="number of the run, of a span with resets"
    )
    parser.add_argument("--progress", type=int, help=argparse.SUPPRESS)  # descriptor of a pipe
    return parser


def _time(text: str) -> float:
    time = float(text)
    if math.isnan(time):
        raise argparse.ArgumentTypeError(f"'{text}' is not a time")
    return time


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not all(side.isdecimal() and _SMALLEST <= int(side) <= _LARGEST for side in (width, height)):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not WIDTHxHEIGHT with sides from {_SMALLEST} to {_LARGEST} pixels"
        )
    return int(width), int(height)


if __name__ == "__main__":
    sys.exit(main())
