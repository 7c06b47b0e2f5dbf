"""``python -m benchmark``: measure, compare with the limits, and save the results."""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from benchmark.durations import FULL, QUICK, Durations
from benchmark.machine import describe, load
from benchmark.measurements import (
    cameras_and_viewer,
    commands,
    controllers,
    executors,
    extensions,
    lockstep,
    page,
    publishing,
    realism,
    recording,
    reliability,
    rendering,
    shared_memory,
    tick_times,
    walking,
)
from benchmark.processes.child_process import end_children_on_sigterm
from benchmark.report import Row, save, table
from mujoco_ros.wire.names import ros_distribution

Measurement = Callable[[Durations], list[Row]]

MEASUREMENTS: dict[str, Measurement] = {
    "a": publishing.engine,
    "b": publishing.publishing,
    "profile": publishing.profile,
    "d": publishing.unpaced,
    "e": publishing.paced,
    "f": publishing.memory,
    "g": publishing.start,
    "zoo": publishing.zoo,
    "h": commands.tracking,
    "i": commands.latency,
    "j": commands.costs,
    "k": commands.gains,
    "l": recording.state_log,
    "m": recording.bag,
    "n": shared_memory.shared_memory,
    "o": rendering.rendering,
    "p": page.page,
    "lag": page.lag,
    "q": cameras_and_viewer.cameras_and_viewer,
    "r": controllers.controllers,
    "s": reliability.reliability,
    "t": lockstep.lockstep,
    "u": controllers.hosted,
    "v": realism.realism,
    "w": extensions.extensions,
    "x": walking.walking,
    "y": tick_times.tick_times,
    "executors": executors.executors,
}
"""Choices of ``--only``."""
_ALIASES = {"c": "b", "reliability": "s"}  # (c) is measured together with (b)
_RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    """Run the chosen measurements; return 1 if a limit is missed."""
    options = _parser().parse_args()
    durations = QUICK if options.quick else FULL
    keys = options.only or list(MEASUREMENTS)
    machine, load_before = describe(), load()
    rows: list[Row] = []
    for number, key in enumerate(keys, 1):
        measurement = MEASUREMENTS[key]
        print(f"[{number}/{len(keys)}] {_summary(measurement)}", flush=True)
        begun = time.monotonic()
        rows += measurement(durations)
        print(f"      {time.monotonic() - begun:.0f} s", flush=True)
    notes = [
        "scene humanoid, every topic at 1 kHz including /tf, one process subscribes to all topics; "
        "(h): scene arm, one subscriber of controller_state",
        "others report in (r): MuJoCo Robotics Lab, Part 9, for one start and goal",
        f"load average {load_before:.2f} before, {load():.2f} after",
    ]
    if options.quick:
        notes.append("quick: short durations, so the results are rough")
    print()
    for name, value in machine.items():
        print(f"{name}: {value}")
    print(*notes, sep="\n")
    print(f"\n{table(rows)}\n")
    if not options.dry:
        quick = "-quick" if options.quick else ""
        name = f"{date.today().isoformat()}-{ros_distribution()}{quick}"
        for path in save(_RESULTS, name, machine, notes, rows):
            print(f"saved {path}")
    missed = [row.quantity for row in rows if row.good is False]
    if missed:
        print(f"limits missed: {', '.join(missed)}")
    return 1 if missed else 0


def _summary(measurement: Measurement) -> str:
    return (measurement.__doc__ or "").partition("\n")[0]


def _parser() -> argparse.ArgumentParser:
    choices = "\n".join(f"  {key:9} {_summary(call)}" for key, call in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmark",
        description="Measure the simulator in processes of its own, and compare the results with "
        "their limits.\nAll measurements take about 45 minutes, most of it for (f), (r) and (s).",
        epilog=f"measurements:\n{choices}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="short durations: rough results")
    parser.add_argument(
        "--only",
        type=_keys,
        metavar="KEYS",
        help="measurements to make, separated by commas, e.g. a,e",
    )
    parser.add_argument("--dry", action="store_true", help="save no results")
    return parser


def _keys(text: str) -> list[str]:
    keys = [_ALIASES.get(key, key) for key in text.split(",")]
    for key in keys:
        if key not in MEASUREMENTS:
            choices = ", ".join(MEASUREMENTS)
            raise argparse.ArgumentTypeError(f"no measurement '{key}'; choose from: {choices}")
    return list(dict.fromkeys(keys))


if __name__ == "__main__":
    end_children_on_sigterm()
    sys.exit(main())
