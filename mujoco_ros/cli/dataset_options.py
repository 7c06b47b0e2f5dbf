"""Options of datasets for learning that `record` and `evaluate` share."""

import argparse
from collections.abc import Iterable

from mujoco_ros.cli.command_line import integer_from
from mujoco_ros.recording.demonstrations.lerobot_dataset import CODECS, DEFAULT_CODEC

_NO_CAMERAS = "none"


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
