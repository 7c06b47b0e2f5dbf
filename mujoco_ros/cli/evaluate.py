"""Run a controller many times under varied conditions, and tell how well it does."""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from os import cpu_count
from pathlib import Path
from typing import Any, TextIO

import yaml

from mujoco_ros.evaluation.bounds import LAB, TABLE, comparison, missed
from mujoco_ros.evaluation.episode import Episode
from mujoco_ros.evaluation.jobs import episodes
from mujoco_ros.evaluation.pictures import write_pictures
from mujoco_ros.evaluation.report import as_csv, as_markdown
from mujoco_ros.evaluation.statistics import Summary, summarize
from mujoco_ros.evaluation.trial import Trial
from mujoco_ros.evaluation.trials.catalogue import trial
from mujoco_ros.model.errors import ModelError

_BLOCK = 1_000_000
"""Seeds of episodes are counted from so many times the seed of all."""
_CHECKED = 10
_BAR = 30
_LONG = 50
"""So many episodes are worth a word now and then where there is no bar."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    args = _parser().parse_args(argv)
    try:
        if args.check:
            return _check(args)
        changes = _changes(args.set)
        tried = trial(args.controller, args.random, changes)
        if args.episode is not None:
            return _alone(tried, args.episode)
        done, whole = _run(tried, _seeds(args.seed, args.episodes), args.jobs)
        _write(args.output, _title(args), done)
    except (ModelError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    summary = summarize(done)
    low, high = summary.interval
    sys.stdout.write(
        f"{summary.successes} of {summary.count} succeeded, 95 % interval {low:.1%} to {high:.1%}; "
        f"{summary.speed:.1f} times real time on a processor; see {args.output}\n"
    )
    return 0 if whole else 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evaluate", description=__doc__)
    parser.add_argument("controller", help="name of the controller, as pick_place")
    parser.add_argument("--episodes", type=_count, default=50, metavar="N", help="default: 50")
    parser.add_argument("--seed", type=_whole, default=1, help="of all chance; default: 1")
    parser.add_argument(
        "--jobs",
        type=_count,
        default=cpu_count() or 1,
        metavar="N",
        help="processes; default: one for each processor",
    )
    parser.add_argument(
        "--random",
        default="",
        metavar="CONDITIONS",
        help="what differs from episode to episode: for pick_place lab (default) or table, "
        "for stand humanoid (default) or quadruped; or a YAML file",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="STATE.NAME=VALUE",
        help="a setting of the controller, as IDLE.gains=lab; may be repeated",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("evaluation"),
        metavar="FOLDER",
        help="where to write tables and pictures; default: evaluation",
    )
    parser.add_argument(
        "--episode",
        type=_whole,
        metavar="SEED",
        help="run this one again, alone, and tell all of it",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"run {_CHECKED} episodes of the lab and {_CHECKED} on the table instead; tell their "
        "figures in a line, and fail if they are not good enough",
    )
    return parser


def _whole(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, got {number}")
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _seeds(seed: int, count: int) -> range:
    return range(seed * _BLOCK, seed * _BLOCK + count)


def _changes(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    changes: dict[str, dict[str, Any]] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        state, dot, field = name.rpartition(".")
        if not (equals and dot and state and field):
            raise ModelError(f"--set {text}: expected STATE.NAME=VALUE, as IDLE.gains=lab")
        changes.setdefault(state, {})[field] = yaml.safe_load(value)
    return changes


def _title(args: argparse.Namespace) -> str:
    return f"{args.controller} under conditions '{args.random or 'default'}', seed {args.seed}"


def _run(tried: Trial, seeds: Sequence[int], jobs: int) -> tuple[list[Episode], bool]:
    """Return the episodes done, and whether that is all of them: Ctrl-C ends it before."""
    done: list[Episode] = []
    bar = _Bar(sys.stderr, len(seeds))
    try:
        with closing(episodes(tried, seeds, time.process_time, jobs=jobs)) as running:
            for episode in running:
                done.append(episode)
                bar.show(done)
    except KeyboardInterrupt:
        return done, False
    finally:
        bar.end()
    return done, True


def _write(folder: Path, title: str, done: Sequence[Episode]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    summary = summarize(done)
    text = as_markdown(title, summary, done)
    if "pick_place" in title:
        text += f"\n{comparison({'here': summary})}"
    (folder / "report.md").write_text(text, encoding="utf-8")
    (folder / "episodes.csv").write_text(as_csv(done), encoding="utf-8")
    write_pictures(folder, done)


def _alone(tried: Trial, seed: int) -> int:
    (episode,) = episodes(tried, [seed], time.process_time, jobs=1)
    sys.stdout.write(as_csv([episode]))
    return 0 if episode.success else 1


def _check(args: argparse.Namespace) -> int:
    changes, summaries, wrong = _changes(args.set), {}, []
    for name, bounds in (("lab", LAB), ("table", TABLE)):
        tried = trial(args.controller, name, changes)
        done, whole = _run(tried, _seeds(args.seed, _CHECKED), args.jobs)
        if not whole:
            return 130
        summaries[name] = summarize(done)
        # 19 of all 20 are asked for below.
        wrong += missed(bounds[1:], summaries[name])
    good = sum(it.successes for it in summaries.values())
    if good < 2 * _CHECKED - 1:
        wrong.append(f"only {good} of {2 * _CHECKED} succeeded")
    sys.stdout.write(_line(good, summaries["lab"], summaries["table"]))
    for text in wrong:
        sys.stderr.write(f"error: {text}\n")
    return 1 if wrong else 0


def _line(good: int, lab: Summary, table: Summary) -> str:
    figures = ", ".join(f"{it.name} {it.shown(lab)}" for it in LAB[1:])
    return f"{good} of {lab.count + table.count} succeeded; {figures}\n"


class _Bar:
    """Tells how far it is, in one line that is written over."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream, self._total = stream, total
        self._begin = time.monotonic()
        self._live = stream.isatty()

    def show(self, done: Sequence[Episode]) -> None:
        count, good = len(done), sum(it.success for it in done)
        if not self._live:
            if self._total >= _LONG and count % (self._total // 10) == 0:
                self._stream.write(f"{count} of {self._total}, {good} succeeded\n")
            return
        full = _BAR * count // self._total
        left = (time.monotonic() - self._begin) / count * (self._total - count)
        self._stream.write(
            f"\r[{'#' * full}{'.' * (_BAR - full)}] {count} of {self._total}, {good} succeeded, "
            f"{count - good} failed, {left:.0f} s left \x1b[K"
        )
        self._stream.flush()

    def end(self) -> None:
        if self._live:
            self._stream.write("\n")


if __name__ == "__main__":
    sys.exit(main())
