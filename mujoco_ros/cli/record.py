"""Record topics into a bag: ``ros2 run mujoco_ros record`` or ``record`` without ROS's tools."""

import argparse
import logging
import re
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from mujoco_ros.bridge.distribution import ros_distribution
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.bag_file import COMPRESSIONS
from mujoco_ros.recording.ros.bag import Bag, BagLimits
from mujoco_ros.recording.ros.recorder import Recorder
from mujoco_ros.recording.ros.repair import repair
from mujoco_ros.recording.ros.sim_clock import SimClock
from mujoco_ros.recording.selection import Selection, absolute

_TAKE_S = 0.05
_LOOK_S = 0.2
_FLUSH_S = 0.5
"""A sudden end loses at most what came within this and one _TAKE_S."""
_EPILOG = """\
Without --topics and --regex, everything is recorded that ROS does not hide. The bag is an MCAP bag
as of `ros2 bag record --storage mcap`. Images are large: `-x '/camera/.*'` leaves those of all
cameras out, of robots in a namespace `-x '.*/camera/.*'`. Ctrl-C ends the recording. If it ends
without warning, what is older than a second is in the bag; `record --repair FOLDER` indexes it.
"""

_LOG = logging.getLogger("mujoco_ros.record")


def main(args: Sequence[str] | None = None) -> int:
    """Record until a signal; return the exit code."""
    given = list(sys.argv[1:] if args is None else args)
    ros = given.index("--ros-args") if "--ros-args" in given else len(given)
    options = _parser().parse_args(given[:ros])
    logging.basicConfig(format="record: %(message)s")
    logging.getLogger("mujoco_ros").setLevel(logging.INFO)
    try:
        if options.repair is not None:
            return _repair(options.repair)
        return _record(options, given[ros:])
    except UserInputError as error:
        return _fail(str(error))


def _record(options: argparse.Namespace, ros_arguments: list[str]) -> int:
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: signals.append(number))
    try:
        rclpy.init(args=ros_arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy has no narrower type for wrong --ros-args
        return _fail(f"ROS 2 does not start: {type(error).__name__}: {error}")
    try:
        bag = Bag(
            options.output,
            ros_distribution(),
            compression=options.compression,
            limits=BagLimits(size=options.max_bag_size, duration=options.max_bag_duration),
        )
    except FileExistsError:
        return _fail(f"'{options.output}' exists; name a folder to be created")
    except OSError as error:
        return _fail(f"'{options.output}' cannot be written: {error.strerror}")
    node = Node(
        "record", start_parameter_services=False, enable_rosout=False, use_global_arguments=True
    )
    session = _Session(bag, node, options)
    try:
        session.run(signals)
    except OSError as error:
        bag.abandon()
        return _fail(
            f"'{options.output}' cannot be written: {error.strerror}; what was recorded before "
            f"stays; 'record --repair {options.output}' indexes it"
        )
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


class _Session:
    """One recording, and what the terminal shows of it."""

    def __init__(self, bag: Bag, node: Node, options: argparse.Namespace) -> None:
        self._bag = bag
        self._clock = SimClock(node) if options.use_sim_time else None
        selection = Selection(
            topics=absolute(options.topics),
            regex=options.regex,
            exclude=options.exclude_regex,
            hidden=options.include_hidden_topics,
        )
        self._recorder = Recorder(node, bag, selection, self._clock)
        self._began = time.monotonic()
        self._shows = sys.stderr.isatty()

    def run(self, signals: list[int]) -> None:
        """Record until there is a signal."""
        if self._clock is not None:
            _LOG.info("waiting for /clock")
            while not signals and not self._clock.started:
                time.sleep(_TAKE_S)
                self._clock.update()
        _LOG.info("recording into '%s' until Ctrl-C", self._bag.folder)
        look_at = flush_at = time.monotonic()
        while not signals:
            now = time.monotonic()
            if now >= look_at:
                self._recorder.discover()
                look_at = now + _LOOK_S
            self._recorder.update()
            if now >= flush_at:
                self._bag.flush()
                flush_at = now + _FLUSH_S
                if self._shows:
                    sys.stderr.write(f"\r{self._progress()}\x1b[K")
            time.sleep(_TAKE_S)
        self._recorder.close()
        self._bag.finish()
        sys.stderr.write("\n" * self._shows)
        _LOG.info("%s in '%s'", self._progress(), self._bag.folder)

    def _progress(self) -> str:
        seconds = time.monotonic() - self._began
        return (
            f"{self._recorder.topics} topics, {self._bag.metadata.total.count} messages, "
            f"{self._bag.size / 1e6:.1f} MB, {seconds:.1f} s"
        )


def _repair(folder: Path) -> int:
    try:
        repaired = repair(folder)
    except OSError as error:
        return _fail(f"'{folder}' cannot be repaired: {error.strerror}")
    _LOG.info(
        "'%s': %d messages in %.1f s indexed, %d bytes of unfinished records cut off",
        folder,
        repaired.messages,
        repaired.duration,
        repaired.discarded,
    )
    return 0


def _fail(message: str) -> int:
    sys.stderr.write(f"record: error: {message}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="record",
        description="Record topics into a bag that `ros2 bag` and Foxglove read.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        default=Path(datetime.now().strftime("rosbag2_%Y_%m_%d-%H_%M_%S")),
        help="folder to create; default: named after the date and time",
    )
    parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="what to record")
    parser.add_argument(
        "-e", "--regex", type=_pattern, help="record the topics this matches as a whole"
    )
    parser.add_argument(
        "-x",
        "--exclude-regex",
        "--exclude",
        type=_pattern,
        metavar="REGEX",
        help="leave out the topics this matches as a whole",
    )
    parser.add_argument(
        "--include-hidden-topics", action="store_true", help="record those of actions as well"
    )
    parser.add_argument(
        "--use-sim-time", action="store_true", help="give messages the time of /clock"
    )
    parser.add_argument(
        "--compression", choices=list(COMPRESSIONS), default="none", help="default: %(default)s"
    )
    parser.add_argument(
        "-b",
        "--max-bag-size",
        type=_positive,
        default=0,
        metavar="BYTES",
        help="go on in another file from this size on",
    )
    parser.add_argument(
        "-d",
        "--max-bag-duration",
        type=_positive,
        default=0,
        metavar="SECONDS",
        help="go on in another file after this time",
    )
    parser.add_argument(
        "--repair", type=Path, metavar="FOLDER", help="index a bag whose recording ended suddenly"
    )
    return parser


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from error


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
