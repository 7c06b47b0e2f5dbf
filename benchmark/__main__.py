"""``python -m benchmark``: measure, compare with the limits, and save the results."""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from subprocess import PIPE, STDOUT

from benchmark.durations import CHECK, FULL, QUICK, Durations
from benchmark.figures import write_figures
from benchmark.machine import busy_share, describe, load_average, yardsticks
from benchmark.measurements import (
    cameras_and_viewer,
    commands,
    controllers,
    executors,
    extensions,
    footprint,
    jitter,
    lockstep,
    page,
    peer,
    publishing,
    realism,
    recording,
    reliability,
    rendering,
    rovers,
    scale,
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
    "jitter": jitter.jitter,
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
    "mem": footprint.footprint,
    "peer": peer.peer,
    "rovers": rovers.rovers,
    "scale": scale.scale,
}
"""Choices of ``--only``."""
_ALIASES = {"c": "b", "reliability": "s"}  # (c) is measured together with (b)
_AT_A_TIME = 3
"""Measurements of a check at a time: most of them wait most of the time."""
_LONGEST = ("i", "s", "lag", "p", "q", "r", "scale", "rovers")
"""Measurements with which a check begins, so that none of them is left over at its end."""
_CALM = 0.15
"""Share of busy processors."""
_RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    """Run the chosen measurements; return 1 if one fails, or a limit is missed."""
    options = _parser().parse_args()
    if options.figures:
        return write_figures(_RESULTS)
    durations = CHECK if options.check else QUICK if options.quick else FULL
    keys = options.only or list(MEASUREMENTS)
    if options.check and len(keys) > 1:
        return _check(keys)
    machine, before, fixed = describe(), _load(), yardsticks()
    machine |= {f"fixed work: {name}": f"{us:.4g} µs" for name, us in fixed.items()}
    found, failed = _measure(keys, durations)
    rows = [row.compared(fixed) for row in found]
    if options.check:
        print(*(f"failed: {failure}" for failure in failed), sep="\n")
        return 1 if failed else 0
    notes = [
        "scene humanoid, every topic at 1 kHz including /tf, one process subscribes to all topics; "
        "(h): scene arm, one subscriber of controller_state",
        "others report in (r): MuJoCo Robotics Lab, Part 9, for one start and goal",
        "mj_steps: the duration in units of the engine's step of the humanoid on this machine",
        f"before: {before[0]}; after: {_load()[0]}",
        *(f"failed: {failure}" for failure in failed),
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
        name = f"{datetime.now():%Y-%m-%dT%H%M}-{ros_distribution()}{quick}"
        for path in save(_RESULTS, name, machine, notes, rows, is_calm=before[1]):
            print(f"saved {path}")
    missed = [row.quantity for row in rows if row.good is False]
    if missed:
        print(f"limits missed: {', '.join(missed)}")
    return 1 if missed or failed else 0


def _load() -> tuple[str, bool]:
    """Return what else runs, in words, and whether it is so little that pages quote the results."""
    busy = busy_share()
    text = f"load average {load_average():.2f}, {busy:.0%} of the processors busy"
    return text, busy <= _CALM


def _check(keys: Sequence[str]) -> int:
    """Make each measurement beside others, and alone if it fails; return 1 if it fails again."""
    command = [sys.executable, "-m", "benchmark", "--check", "--only"]

    def check(key: str) -> int:
        begun = time.monotonic()
        done = subprocess.run([*command, key], stdout=PIPE, stderr=STDOUT, text=True)
        works = f"{key}: works, {time.monotonic() - begun:.0f} s"
        print(done.stdout if done.returncode else works, flush=True)
        return done.returncode

    order = sorted(keys, key=lambda key: key not in _LONGEST)
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        failed = [key for key, code in zip(order, pool.map(check, order), strict=True) if code]
    print(*(f"{key}: again, alone" for key in failed), sep="\n")
    return max(map(check, failed), default=0)


def _measure(keys: Sequence[str], durations: Durations) -> tuple[list[Row], list[str]]:
    """Return the rows of some measurements, and why others failed."""
    rows: list[Row] = []
    failed: list[str] = []
    for number, key in enumerate(keys, 1):
        measurement = MEASUREMENTS[key]
        print(f"[{number}/{len(keys)}] {_summary(measurement)}", flush=True)
        begun = time.monotonic()
        try:
            rows += measurement(durations)
        except Exception as error:  # the others are measured
            failed.append(f"{key}: {type(error).__name__}: {error}")
            print(f"      {failed[-1]}", flush=True)
        print(f"      {time.monotonic() - begun:.0f} s", flush=True)
    return rows, failed


def _summary(measurement: Measurement) -> str:
    return (measurement.__doc__ or "").partition("\n")[0]


def _parser() -> argparse.ArgumentParser:
    choices = "\n".join(f"  {key:9} {_summary(call)}" for key, call in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmark",
        description="Measure the simulator in processes of its own, and compare the results with "
        "their limits.\n"
        "All measurements take about 65 minutes, most of it for (f), (jitter), (r) and (s).",
        epilog=f"measurements:\n{choices}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lengths = parser.add_mutually_exclusive_group()
    lengths.add_argument("--quick", action="store_true", help="short durations: rough results")
    lengths.add_argument(
        "--check", action="store_true", help="shortest durations: whether each measurement works"
    )
    lengths.add_argument(
        "--figures", action="store_true", help="write the saved figures into the pages, and end"
    )
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
