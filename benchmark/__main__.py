"""``python -m benchmark``: measure, compare with the limits, and record."""

import argparse
import sys
import time
from datetime import date

from benchmark.commanding import COMMANDING
from benchmark.controllers import CONTROLLERS
from benchmark.eyes import EYES
from benchmark.machine import describe, load
from benchmark.measurements import SENSING
from benchmark.plan import FULL, QUICK
from benchmark.processes import ROOT
from benchmark.recording import RECORDING
from benchmark.reliability import reliability
from benchmark.rendering import DRAWING
from benchmark.report import Row, save, table
from benchmark.sharing import SHARING
from mujoco_ros.bridge.distribution import ros_distribution

MEASUREMENTS = {
    **SENSING,
    **COMMANDING,
    **RECORDING,
    **SHARING,
    **DRAWING,
    **EYES,
    **CONTROLLERS,
    "reliability": reliability,
}
"""What ``--only`` chooses from; (c) is measured together with (b)."""


def main() -> int:
    """Run the chosen measurements; return 1 when a limit is not kept."""
    options = _parser().parse_args()
    plan = QUICK if options.quick else FULL
    chosen = options.only or list(MEASUREMENTS)
    machine, load_before = describe(), load()
    rows: list[Row] = []
    for number, key in enumerate(chosen, 1):
        measurement = MEASUREMENTS[key]
        what = (measurement.__doc__ or "").partition("\n")[0]
        print(f"[{number}/{len(chosen)}] {what}", flush=True)
        begun = time.monotonic()
        rows += measurement(plan)
        print(f"      {time.monotonic() - begun:.0f} s", flush=True)
    notes = [
        "scene humanoid, every topic at 1 kHz, /tf included; a process subscribes to all of them; "
        "in (h) the arm, of which one listens to controller_state alone",
        "in (r) the others are MuJoCo Robotics Lab, Part 9, on one start and goal",
        f"load average {load_before:.2f} before, {load():.2f} after",
    ]
    if options.quick:
        notes.append("quick: short durations, so the figures are rough")
    print()
    for what, value in machine.items():
        print(f"{what}: {value}")
    print(*notes, sep="\n")
    print(f"\n{table(rows)}\n")
    if not options.dry:
        quick = "-quick" if options.quick else ""
        name = f"{date.today().isoformat()}-{ros_distribution()}{quick}"
        for path in save(ROOT / "benchmark" / "results", name, machine, notes, rows):
            print(f"recorded in {path.relative_to(ROOT)}")
    missed = [row.quantity for row in rows if row.good is False]
    if missed:
        print(f"limits missed: {', '.join(missed)}")
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    keys = "\n".join(
        f"  {key:12} {(function.__doc__ or '').partition(chr(10))[0]}"
        for key, function in MEASUREMENTS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmark",
        description="Measure the simulator as it runs, in processes of its own, and compare the "
        "figures with their limits.\nThe whole takes about 40 minutes, most of it for (f), (r) and "
        "reliability.",
        epilog=f"measurements:\n{keys}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="short durations: rough figures")
    parser.add_argument(
        "--only",
        type=_keys,
        metavar="KEYS",
        help="measurements to make, separated by commas, e.g. a,e",
    )
    parser.add_argument("--dry", action="store_true", help="record nothing")
    return parser


def _keys(text: str) -> list[str]:
    keys = ["b" if key == "c" else key for key in text.split(",")]
    for key in keys:
        if key not in MEASUREMENTS:
            choices = ", ".join(MEASUREMENTS)
            raise argparse.ArgumentTypeError(f"no measurement '{key}'; there are: {choices}")
    return list(dict.fromkeys(keys))


if __name__ == "__main__":
    sys.exit(main())
