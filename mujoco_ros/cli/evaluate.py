"""Run a controller many times under varied conditions, and tell how well it does."""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from errno import EACCES
from os import W_OK, X_OK, access, sched_getaffinity
from pathlib import Path
from typing import Any

from mujoco_ros.cli.progress import run
from mujoco_ros.controllers.evaluation.bounds import LAB, TABLE, comparison, missed
from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.jobs import episodes
from mujoco_ros.controllers.evaluation.plots import write_plots
from mujoco_ros.controllers.evaluation.report import as_csv, as_markdown, as_text
from mujoco_ros.controllers.evaluation.statistics import Summary, summarize
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.controllers.evaluation.trials.catalogue import default_conditions, trial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import parse_yaml

_BLOCK = 1_000_000
"""Seeds of episodes are counted from so many times the seed of all."""
_CHECKED = 10
_OF_THE_LAB = "pick_place"
"""The controller whose figures others have reported."""
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    args = _parser().parse_args(argv)
    try:
        if args.check:
            return _check(args)
        tried = trial(args.controller, args.random, _changes(args.set))
        if args.episode is not None:
            return _alone(tried, args.episode)
        _make(args.output)
        done, whole = run(tried, _seeds(args.seed, args.episodes), args.jobs)
        if not done:
            sys.stderr.write("error: interrupted before any episode was done\n")
            return _INTERRUPTED
        _write(args, done)
    except (UserInputError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    summary = summarize(done)
    low, high = summary.interval
    sys.stdout.write(
        f"{summary.successes} of {summary.count} succeeded, 95 % interval {low:.1%} to {high:.1%}; "
        f"{summary.speed:.1f} times real time on a processor; see {args.output}\n"
    )
    return 0 if whole else _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evaluate", description=__doc__)
    parser.add_argument("controller", help="name of the controller, as pick_place")
    parser.add_argument(
        "--episodes", type=_count, default=50, metavar="N", help="how many; default: 50"
    )
    parser.add_argument("--seed", type=_whole, default=1, help="of all chance; default: 1")
    parser.add_argument(
        "--jobs",
        type=_count,
        default=len(sched_getaffinity(0)),
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
    return _integer(text, 0)


def _count(text: str) -> int:
    return _integer(text, 1)


def _integer(text: str, least: int) -> int:
    if not (text.isdecimal() and int(text) >= least):
        raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got '{text}'")
    return int(text)


def _seeds(seed: int, count: int) -> range:
    return range(seed * _BLOCK, seed * _BLOCK + count)


def _changes(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    changes: dict[str, dict[str, Any]] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        state, dot, field = name.rpartition(".")
        if not (equals and dot and state and field):
            raise UserInputError(f"--set {text}: expected STATE.NAME=VALUE, as IDLE.gains=lab")
        changes.setdefault(state, {})[field] = parse_yaml(value, f"--set {name}")
    return changes


def _title(args: argparse.Namespace) -> str:
    conditions = args.random or default_conditions(args.controller)
    return f"{args.controller} under conditions '{conditions}', seed {args.seed}"


def _make(folder: Path) -> None:
    """Make a folder, or raise OSError now rather than after all the work."""
    folder.mkdir(parents=True, exist_ok=True)
    if not access(folder, W_OK | X_OK):
        raise PermissionError(EACCES, "cannot be written to", str(folder))


def _write(args: argparse.Namespace, done: Sequence[Episode]) -> None:
    folder, summary = args.output, summarize(done)
    text = as_markdown(_title(args), summary, done)
    if args.controller == _OF_THE_LAB:
        text += f"\n{comparison({'here': summary})}"
    (folder / "report.md").write_text(text, encoding="utf-8")
    (folder / "episodes.csv").write_text(as_csv(done), encoding="utf-8")
    write_plots(folder, done)


def _alone(tried: Trial, seed: int) -> int:
    (episode,) = episodes(tried, [seed], time.process_time, jobs=1)
    sys.stdout.write(as_text(episode))
    return 0 if episode.success else 1


def _check(args: argparse.Namespace) -> int:
    if args.controller != _OF_THE_LAB:
        raise UserInputError(
            f"--check is for {_OF_THE_LAB}: nobody has figures of {args.controller}"
        )
    changes, summaries, wrong = _changes(args.set), {}, []
    for name, bounds in (("lab", LAB), ("table", TABLE)):
        tried = trial(args.controller, name, changes)
        done, whole = run(tried, _seeds(args.seed, _CHECKED), args.jobs)
        if not whole:
            return _INTERRUPTED
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
    figures = ", ".join(f"{it.name} {it.text(lab)}" for it in LAB[1:])
    return f"{good} of {lab.count + table.count} succeeded; {figures}\n"


if __name__ == "__main__":
    sys.exit(main())
