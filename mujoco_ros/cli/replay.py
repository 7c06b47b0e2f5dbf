"""Play a log of the full state: ``ros2 run mujoco_ros replay`` or ``replay``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mujoco_ros.cli.node_process import run, split_arguments
from mujoco_ros.recording.ros.replay_node import ReplayNode

_EPILOG = """\
While it plays, parameters of the node /replay steer it:
  ros2 param set /replay time 12.5      # jump
  ros2 param set /replay rate 0.1       # slow motion
  ros2 param set /replay paused true
The simulator's services to pause, step and reset work as well: /replay/set_simulation_state, …
"""


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted; return the exit code."""
    own, ros = split_arguments(sys.argv[1:] if args is None else args)
    options = _parser().parse_args(own)
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
    parser = argparse.ArgumentParser(
        prog="replay",
        description="Play a state log over the topics of the simulator.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("log", type=Path, help="what the simulator's parameter state_log named")
    parser.add_argument(
        "--rate", type=float, help="logged seconds per second, default 1; 0: as fast as possible"
    )
    parser.add_argument("--start", type=float, metavar="TIME", help="logged time to begin at [s]")
    parser.add_argument("--paused", action="store_true", help="stand still at first")
    parser.add_argument(
        "--at-end", choices=["pause", "loop", "exit"], help="what then happens, default: pause"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
