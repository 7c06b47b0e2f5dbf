"""Run a controller many times under random conditions, and report how well it performs."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import timedelta
from errno import EACCES
from os import W_OK, X_OK, access, sched_getaffinity
from pathlib import Path
from typing import Any

from mujoco_ros.cli.command_line import (
    FAILED,
    INTERRUPTED,
    create_parser,
    fail,
    integer_from,
    report_errors,
)
from mujoco_ros.cli.demonstrations import DatasetJob, add_options, check_options, replay
from mujoco_ros.cli.terminal import report, write
from mujoco_ros.controllers.evaluation.bounds import ACCEPTANCE, FAILURES, comparison, missed
from mujoco_ros.controllers.evaluation.episode import Episode, EpisodeFile, identity_of
from mujoco_ros.controllers.evaluation.parallel_episodes import (
    RunEpisode,
    cluster_episodes,
    episodes,
)
from mujoco_ros.controllers.evaluation.report import as_csv, as_markdown, as_text, summarize
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.controllers.evaluation.trials import default_conditions, trial
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.model.output_files import write_whole
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.strict import parse_yaml

_BAR_WIDTH = 30
_LONG_RUN = 50  # number of episodes from which progress is reported without a terminal


def run_episodes(
    trial: Trial,
    seeds: Sequence[int],
    jobs: int,
    *,
    cluster: str = "",
    run: RunEpisode | None = None,
    keep: Callable[[Episode], object] = lambda _episode: None,
    scene: str = "",
) -> tuple[list[Episode], bool]:
    """Return the finished episodes by seed, and whether they are all; Ctrl-C ends the run early.

    They run in `jobs` processes, or on a Ray cluster at an address; `keep` is called with each one.
    `scene` is the scene's hash, for a cluster; empty to compute it.
    """
    clock = time.process_time
    running = (
        cluster_episodes(trial, seeds, clock, address=cluster, scene=scene)
        if cluster
        else episodes(trial, seeds, clock, jobs=jobs, run=run)
    )
    done: list[Episode] = []
    where = f"the Ray cluster at '{cluster}'" if cluster else f"{jobs} process{'es' * (jobs > 1)}"
    report(f"0 of {len(seeds)} are done, on {where}")
    began = time.monotonic()
    try:
        with closing(running):
            for episode in running:
                done.append(episode)
                keep(episode)
                _show_progress(done, len(seeds), time.monotonic() - began)
    except KeyboardInterrupt:
        pass
    finally:
        if sys.stderr.isatty():
            sys.stderr.write("\n")
    return sorted(done, key=lambda finished: finished.seed), len(done) == len(seeds)


def _show_progress(done: Sequence[Episode], total: int, seconds: float) -> None:
    """Show progress in one line of a terminal, or at every tenth of a long run elsewhere."""
    count, good = len(done), sum(episode.success for episode in done)
    left = timedelta(seconds=round((total - count) * seconds / count))
    text = f"{count} of {total}, {good} succeeded, {count - good} failed, "
    text += f"{60.0 * count / seconds:.1f} a minute, {left} left"
    if sys.stderr.isatty():
        full = _BAR_WIDTH * count // total
        write(f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {text}", "evaluate")
    elif total >= _LONG_RUN and count % (total // 10) == 0:
        write(text, "evaluate")
    else:
        report(text)


_SEED_STRIDE = 1_000_000  # distance between the first episodes of two seeds
EPISODES = "episodes.jsonl"
"""Name of the file to which each episode is added."""
_REFERENCE = "pick_place"  # the controller with published metrics to compare with


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.resume and (options.check or options.episode is not None):
        parser.error("--resume is for evaluations with an output folder")
    if options.cluster and (options.jobs is not None or options.episode is not None):
        parser.error("--jobs and --episode are for this machine, not for --cluster")
    check_options(parser, options)
    options.jobs = options.jobs or len(sched_getaffinity(0))
    if options.replay is not None:
        return report_errors(lambda: replay(options, _trial(options)))
    special = _check if options.check else _show_episode if options.episode is not None else None
    return report_errors(lambda: (special or _evaluate)(options))


def _evaluate(options: argparse.Namespace) -> int:
    report("compiling the scene")
    evaluated = _trial(options)
    require("evaluation", "the report of an evaluation")
    _create(options.output)
    seeds, assembly = _seeds(options.seed, options.episodes), assemble(evaluated.scene_config())
    identity = identity_of(evaluated, options.seed, assembly)
    dataset = DatasetJob(options, evaluated, identity, assembly) if options.dataset else None
    path = options.output / EPISODES
    with EpisodeFile(path, identity, options.episodes, resume=options.resume) as file:
        left = [seed for seed in seeds if seed not in file.done]
        if dataset is not None:
            dataset.prepare()
            left += [
                seed for seed in seeds if seed in file.done and dataset.run.lacks(file.done[seed])
            ]
        if options.resume:
            sys.stderr.write(f"kept from {path}: {counted(len(file.done), 'episode')}\n")
        _, complete = run_episodes(
            evaluated,
            left,
            options.jobs,
            cluster=options.cluster,
            run=None if dataset is None else dataset.run,
            keep=file.add,
            scene=identity["scene"],
        )
        done = [file.done[seed] for seed in seeds if seed in file.done]
        if not done:
            return fail("interrupted before any episode was done", INTERRUPTED)
        _report(options, done, plots=complete)
        if not complete:
            count = f"{len(done)} of {len(seeds)} are done"
            return fail(f"{count}; continue with --resume, which draws the plots", INTERRUPTED)
        if dataset is not None:
            try:
                dataset.write(done)
            except KeyboardInterrupt:
                return fail("interrupted; write the dataset with --resume", INTERRUPTED)
    return 0


def _report(options: argparse.Namespace, done: Sequence[Episode], *, plots: bool) -> None:
    report("writing the report")
    folder, summary = options.output, summarize(done)
    conditions = options.random or default_conditions(options.controller)
    title = f"{options.controller} under conditions '{conditions}', seed {options.seed}"
    text = as_markdown(title, summary, done)
    if options.controller == _REFERENCE:
        text += f"\n{comparison({'here': summary})}"
    write_whole(folder / "report.md", text)
    write_whole(folder / "episodes.csv", as_csv(done))
    if plots:  # they take longer on a busy machine than an interrupted program may
        from mujoco_ros.controllers.evaluation.plots import write_plots  # needs an extra

        write_plots(folder, done)
    low, high = summary.interval
    text = f"{summary.successes} of {summary.count} succeeded, "
    text += f"95 % interval {low:.1%} to {high:.1%}; "
    if summary.beyond:
        text += f"{summary.refused} of {summary.beyond} beyond the robot's limits were refused; "
    if summary.false_successes:
        text += f"{summary.false_successes} false successes; "
    text += f"{summary.speed:.1f} times real time on a processor; see {options.output}\n"
    sys.stdout.write(text)


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("evaluate", __doc__)
    add = parser.add_argument
    number, count = integer_from(0), integer_from(1)
    add("controller", help="name of the controller, e.g. pick_place")
    add("--episodes", type=count, default=50, metavar="N", help="default: %(default)s")
    add("--seed", type=number, default=1, help="seed of all random numbers; default: %(default)s")
    add("--jobs", type=count, metavar="N", help="processes; default: one for each processor")
    add(
        "--cluster",
        default="",
        metavar="ADDRESS",
        help="run the episodes on a Ray cluster of which this machine is part, at host:port; auto "
        "is the cluster at RAY_ADDRESS or on this machine; default: this machine alone",
    )
    add(
        "--resume",
        action="store_true",
        help="keep the episodes in the output folder, of an interrupted run of the same evaluation",
    )
    add(
        "--random",
        default="",
        metavar="CONDITIONS",
        help="random conditions of the episodes: for pick_place lab (default), table or perturbed, "
        "for stand humanoid (default) or quadruped, for walk and trot pushed (default), randomised "
        "and walks of a minute on plates and slopes, for walk_grasp pushed or randomised, "
        "for trot_policy randomised (default) or one direction; "
        "or a YAML file with ranges, for pick_place of x, y, reach, yaw, size, mass, friction, "
        "offset, delay, obstacle and motion",
    )
    add(
        "--randomize",
        type=Path,
        metavar="FILE",
        help="YAML file of ranges of numbers of the model, which the controller does not know, as "
        "the key 'randomize' of a scene, e.g. geom.*.friction: {scale: [0.8, 1.2]}",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="STATE.NAME=VALUE",
        help="a setting of the controller, e.g. IDLE.gains=lab; may be repeated",
    )
    add(
        "--output",
        type=Path,
        default=Path("evaluation"),
        metavar="FOLDER",
        help="folder for the tables and plots; default: %(default)s",
    )
    episode = "run this episode alone and print all of its results"
    add("--episode", type=number, metavar="SEED", help=episode)
    add(
        "--check",
        action="store_true",
        help=f"run the acceptance episodes of {', '.join(ACCEPTANCE)}; print their metrics, and "
        "fail if one is out of bounds",
    )
    add_options(parser)
    return parser


def _seeds(seed: int, count: int) -> range:
    return range(seed * _SEED_STRIDE, seed * _SEED_STRIDE + count)


def _trial(options: argparse.Namespace, conditions: str = "") -> Trial:
    changes = _changes(options.set)
    return trial(options.controller, conditions or options.random, changes, options.randomize)


def _changes(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    changes: dict[str, dict[str, Any]] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        state, dot, field = name.rpartition(".")
        if not (equals and dot and state and field):
            raise UserInputError(f"--set {text}: expected STATE.NAME=VALUE, e.g. IDLE.gains=lab")
        changes.setdefault(state, {})[field] = parse_yaml(value, f"--set {name}")
    return changes


def _create(folder: Path) -> None:
    """Create a folder, or raise OSError before the episodes rather than after them."""
    folder.mkdir(parents=True, exist_ok=True)
    if not access(folder, W_OK | X_OK):
        raise PermissionError(EACCES, "cannot be written to", str(folder))


def _show_episode(options: argparse.Namespace) -> int:
    (episode,) = episodes(_trial(options), [options.episode], time.process_time, jobs=1)
    sys.stdout.write(as_text(episode))
    return 0 if episode.success else FAILED


def _check(options: argparse.Namespace) -> int:
    checks = ACCEPTANCE.get(options.controller)
    if checks is None:
        raise UserInputError(
            f"--check is for {', '.join(ACCEPTANCE)}: there are no limits of the metrics of "
            f"{options.controller}"
        )
    summaries, errors = [], []
    for check in checks:
        seeds = _seeds(options.seed, check.episodes)
        checked = _trial(options, check.conditions)
        done, complete = run_episodes(checked, seeds, options.jobs, cluster=options.cluster)
        if not complete:
            return INTERRUPTED
        summaries.append(summarize(done))
        errors += [f"{check.conditions}: {text}" for text in missed(check.bounds, summaries[-1])]
    good = sum(summary.successes for summary in summaries)
    count = sum(summary.count for summary in summaries)
    if good < count - FAILURES:
        errors.append(f"only {good} of {count} succeeded")
    metrics = ", ".join(f"{bound.name} {bound.text(summaries[0])}" for bound in checks[0].bounds)
    sys.stdout.write(f"{good} of {count} succeeded; {metrics}\n")
    for text in errors:
        fail(text)
    return FAILED if errors else 0


if __name__ == "__main__":
    sys.exit(main())
