"""Recorder of topics: ``ros2 run mujoco_ros record`` or ``record``."""

import argparse
import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from mujoco_ros.cli import command_line, terminal
from mujoco_ros.cli.dataset_options import add_dataset_options, check_dataset_options
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.process.end_limit import limit_end
from mujoco_ros.recording.bag_file import COMPRESSIONS

_EPILOG = """\
Without --topics and --regex, all topics that ROS does not hide are recorded. The bag has the format
of `ros2 bag record --storage mcap`. The simulator renders cameras and lidars for subscriptions
only, so such a recording starts them. Images are large: `-x '/camera/.*'` excludes all cameras, and
`-x '.*/camera/.*'` also the cameras of robots in a namespace. Ctrl-C ends the recording. After a
sudden end, all messages older than a second are in the bag; `record --repair BAG` writes another
one with an index. Its exit code is 1 if messages are missing.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Record until a signal; return the exit code."""
    parser = _parser()
    options, ros_arguments = command_line.parse(parser, arguments)
    check_dataset_options(parser, options)
    if options.in_place and (options.repair is None or options.output is not None):
        parser.error("--in-place is for --repair without --output")
    command_line.log_to_terminal("record: %(message)s")
    logging.getLogger("mujoco_ros").setLevel(logging.INFO)
    # --help needs no ROS.
    from mujoco_ros.cli.record_dataset import record_dataset
    from mujoco_ros.cli.recording_session import record, repair_bag

    limit_end()
    try:
        if options.repair is not None:
            return command_line.report_errors(lambda: repair_bag(options))
        if options.lerobot is not None:
            return record_dataset(options, ros_arguments)
        return record(options, ros_arguments)
    except UserInputError as error:
        return command_line.fail(str(error))
    finally:
        terminal.end()


def _parser() -> argparse.ArgumentParser:
    parser = command_line.create_parser(
        "record", "Record topics into a bag that `ros2 bag` and Foxglove read.", _EPILOG
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder to create; default: named after the date and time",
    )
    parser.add_argument(
        "--topics",
        nargs="+",
        type=lambda name: "/" + name.removeprefix("/"),
        default=[],
        metavar="TOPIC",
        help="topics to record",
    )
    parser.add_argument(
        "-e", "--regex", type=_pattern, help="record the topics whose whole name matches"
    )
    parser.add_argument(
        "-x",
        "--exclude-regex",
        "--exclude",
        type=_pattern,
        metavar="REGEX",
        help="exclude the topics whose whole name matches",
    )
    parser.add_argument(
        "--include-hidden-topics", action="store_true", help="record the topics of actions as well"
    )
    parser.add_argument(
        "--use-sim-time", action="store_true", help="stamp messages with the time of /clock"
    )
    parser.add_argument(
        "--compression", choices=list(COMPRESSIONS), default="none", help="default: %(default)s"
    )
    for short, option, unit, limit in (
        ("-b", "--max-bag-size", "BYTES", "at this size"),
        ("-d", "--max-bag-duration", "SECONDS", "after this time"),
    ):
        help_ = f"begin another file {limit}"
        kind = command_line.integer_from(1)
        parser.add_argument(short, option, type=kind, default=0, metavar=unit, help=help_)
    parser.add_argument(
        "--repair",
        type=Path,
        metavar="BAG",
        help="write all that is sound of a damaged or unfinished bag, with an index, into another "
        "one: --output, by default BAG_repaired",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="with --repair: give BAG's name to the new bag, and BAG_original to the old one",
    )
    add_dataset_options(parser)
    return parser


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a regular expression: {error}"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
