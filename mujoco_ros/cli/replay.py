"""Replay of a state log: ``ros2 run mujoco_ros replay`` or ``replay``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mujoco_ros.cli.command_line import create_parser, parse

_EPILOG = """\
Parameters of the node /replay control it:
  ros2 param set /replay time 12.5      # seek
  ros2 param set /replay rate 0.1       # slow motion
  ros2 param set /replay paused true
So do the simulator's services to pause, step and reset: /replay/set_simulation_state, …
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; return the exit code."""
    options, ros = parse(_parser(), arguments)
    # --help needs no ROS.
    from mujoco_ros.cli.node_process import run
    from mujoco_ros.recording.ros.replay_node import ReplayNode

    given: dict[str, Any] = {
        "log": str(options.log),
        "rate": options.rate,
        "time": options.start,
        "paused": options.paused or None,
        "at_end": options.at_end,
    }
    overrides = {name: value for name, value in given.items() if value is not None}
    return run(lambda: ReplayNode(overrides, ros), ros)


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("replay", "Publish a state log on the topics of the simulator.", _EPILOG)
    parser.add_argument("log", type=Path, help="the file of the simulator's parameter state_log")
    parser.add_argument(
        "--rate", type=float, help="logged seconds per second, default 1; 0: as fast as possible"
    )
    parser.add_argument("--start", type=float, metavar="TIME", help="logged time to start at [s]")
    parser.add_argument("--paused", action="store_true", help="start paused")
    parser.add_argument(
        "--at-end", choices=["pause", "loop", "exit"], help="action at the end, default: pause"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
