"""Options of datasets for learning, of `record` and `evaluate`."""

import argparse
import math
from collections.abc import Iterable
from pathlib import Path

from mujoco_ros.cli.command_line import integer_from
from mujoco_ros.recording.demonstrations.lerobot_dataset import CODECS, DEFAULT_CODEC

FPS = 30
"""Default frames a second of `record`."""
_NO_CAMERAS = "none"
_DEPENDENT = ("fps", "cameras", "task", "codec", "bag", "start", "resume")
_OTHERS = (
    *("output", "topics", "regex", "exclude_regex", "include_hidden_topics", "use_sim_time"),
    *("max_bag_size", "max_bag_duration", "repair", "in_place"),
)


def add_shared_options(
    group: argparse._ArgumentGroup, *, fps: str, cameras: str, task: str
) -> None:
    """Add the options with these explanations."""
    group.add_argument("--fps", type=integer_from(1), metavar="N", help=f"frames a second, {fps}")
    group.add_argument(
        "--cameras",
        type=_camera_names,
        metavar="NAME,NAME",
        help=f"cameras of the dataset, or none; default: {cameras}",
    )
    group.add_argument("--task", metavar="TEXT", help=task)
    group.add_argument(
        "--codec", choices=list(CODECS), help=f"of the videos; default: {DEFAULT_CODEC}"
    )


def _camera_names(text: str) -> tuple[str, ...]:
    names = () if text == _NO_CAMERAS else tuple(text.split(","))
    if not all(names) or _NO_CAMERAS in names or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a list of different names, or {_NO_CAMERAS} alone"
        )
    return names


def cameras_text(cameras: Iterable[str]) -> str:
    """Return the value of the option for some cameras."""
    return ",".join(cameras) or _NO_CAMERAS


def check_absent(
    parser: argparse.ArgumentParser, options: argparse.Namespace, names: Iterable[str], reason: str
) -> None:
    """End with an error if one of the options is given."""
    for name in names:
        if getattr(options, name) != parser.get_default(name):
            parser.error(f"--{name.replace('_', '-')} {reason}")


def add_dataset_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of datasets."""
    group = parser.add_argument_group(
        "datasets for learning",
        "Episodes start and end by the services ~/start_episode, ~/end_episode and "
        "~/discard_episode (std_srvs/Trigger) or by the keys s, e and d; a reset of the simulation "
        "ends one. Ctrl-C ends the recording and writes the dataset.",
    )
    group.add_argument(
        "--lerobot",
        type=Path,
        metavar="DIR",
        help="record joint states, position commands and images into a new LeRobot dataset",
    )
    add_shared_options(
        group,
        fps=f"of simulated time, not more than the cameras have; default: {FPS}",
        cameras="all",
        task="what is done, in words; needed for --lerobot",
    )
    group.add_argument(
        "--bag",
        type=Path,
        nargs="+",
        metavar="BAG",
        help="read bags instead of topics; resets of the simulation separate episodes",
    )
    group.add_argument(
        "--start",
        type=_seconds,
        metavar="SECONDS",
        help="skip what is before this simulated time of each bag, such as the first images",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue after an end without a dataset"
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time in seconds")
    return seconds


def check_dataset_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with an error if the options of datasets do not fit the others."""
    if options.lerobot is None:
        check_absent(parser, options, _DEPENDENT, "is for --lerobot")
        return
    if options.start is not None and not options.bag:
        parser.error("--start is for --bag")
    if not options.task:
        parser.error("--lerobot needs --task, what is done in words")
    check_absent(parser, options, _OTHERS, "is not for --lerobot")
    if options.compression != "none":
        parser.error("--compression is not for --lerobot")
