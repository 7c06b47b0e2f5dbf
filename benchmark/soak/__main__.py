"""``python -m benchmark.soak``: run for hours, in parts that resume, and report what grows."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmark.processes.child_process import end_children_on_sigterm
from benchmark.soak.part import Part, run
from benchmark.soak.samples import PROCESSES, Sample, load, summary

_EPILOG = """\
Each part starts the simulator again, and writes a file of samples into FOLDER. --resume discards a
part that was interrupted, and continues with the first one that is not complete.

  python -m benchmark.soak soak                       8 h in parts of 2 h
  python -m benchmark.soak soak --resume              the parts that are missing
  python -m benchmark.soak fast --fastest --hours 6   24 h of simulated time in parts of 6 h
  python -m benchmark.soak soak --parts 0             the metrics of what there is
"""
_LIMITS = {"dropped time [%]": 0.01} | {f"growth of {name} [MB]": 1.0 for name in PROCESSES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are missing, and print the metrics; return 1 if a limit is missed."""
    options = _parser().parse_args(arguments)
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    if not options.resume and options.parts and list(folder.glob("part*.csv")):
        print(f"'{folder}' has parts already; continue them with --resume", file=sys.stderr)
        return 2
    part = Part(
        seconds=3600 * options.hours,
        every=options.every,
        fastest=options.fastest,
        page=not options.without_page,
    )
    for number in missing(folder, options.parts):
        print(f"part {number + 1} of {options.parts}: {options.hours:g} h", flush=True)
        unfinished = folder / f"part{number}.unfinished"
        unfinished.unlink(missing_ok=True)
        run(part, unfinished, _show)
        unfinished.rename(folder / f"part{number}.csv")
    return _report(folder)


def missing(folder: Path, parts: int) -> list[int]:
    """Return the numbers of the parts that a folder has no complete file of."""
    return [number for number in range(parts) if not (folder / f"part{number}.csv").exists()]


def _show(sample: Sample) -> None:
    print(
        f"  {sample.wall:8.0f} s  simulated {sample.simulated:9.1f} s  "
        f"dropped {sample.dropped:.3f} s  simulator {sample.simulator:.2f} MB  "
        f"load {sample.load:.1f}",
        flush=True,
    )


def _report(folder: Path) -> int:
    files = sorted(folder.glob("part*.csv"))
    if not files:
        print(f"'{folder}' has no part", file=sys.stderr)
        return 2
    metrics, missed = summary([load(file) for file in files]), []
    for name, value in metrics.items():
        limit = _LIMITS.get(name)
        print(f"{name:28} {value:12.4f}" + ("" if limit is None else f"   limit {limit:g}"))
        if limit is not None and value > limit:
            missed.append(name)
    if missed:
        print(f"limits missed: {', '.join(missed)}")
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.soak",
        description="Run the humanoid for hours with a controller, all topics at 1 kHz, two "
        "cameras and a page,\nand record what is dropped, and what grows.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the samples are written")
    parser.add_argument("--hours", type=float, default=2.0, help="duration of a part; default 2")
    parser.add_argument("--parts", type=int, default=4, help="number of parts; default 4")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between samples")
    parser.add_argument("--resume", action="store_true", help="continue the parts of the folder")
    parser.add_argument(
        "--fastest",
        action="store_true",
        help="as fast as possible, without cameras and page; the hours are simulated time",
    )
    parser.add_argument(
        "--without-page",
        action="store_true",
        help="open no page: a browser without a GPU needs processors of its own",
    )
    return parser


if __name__ == "__main__":
    end_children_on_sigterm()
    sys.exit(main())
