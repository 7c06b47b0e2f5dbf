"""Episodes with a progress bar in the terminal."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from typing import TextIO

from mujoco_ros.cli.status_lines import report, write
from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.parallel_episodes import (
    RunEpisode,
    cluster_episodes,
    episodes,
)
from mujoco_ros.controllers.evaluation.trial import Trial

_BAR_WIDTH = 30
_LONG_RUN = 50
"""Number of episodes from which progress is reported without a terminal."""


def run_episodes(
    trial: Trial,
    seeds: Sequence[int],
    jobs: int,
    *,
    cluster: str = "",
    run: RunEpisode | None = None,
    keep: Callable[[Episode], None] | None = None,
    scene: str = "",
    stream: TextIO = sys.stderr,
) -> tuple[list[Episode], bool]:
    """Return the finished episodes by seed, and whether they are all; Ctrl-C ends the run early.

    Args:
        trial: The trial.
        seeds: Seed of each episode.
        jobs: Number of processes on this machine.
        cluster: Address of a Ray cluster, which is used instead of this machine.
        run: Runs an episode on this machine instead of the trial.
        keep: Called with each episode when it is done.
        scene: Hash of the scene, for a cluster; empty to compute it.
        stream: Where the progress is shown.

    Raises:
        UserInputError: The scene is wrong, or there is no such cluster.
    """
    clock = time.process_time
    running = (
        cluster_episodes(trial, seeds, clock, address=cluster, scene=scene)
        if cluster
        else episodes(trial, seeds, clock, jobs=jobs, run=run)
    )
    done: list[Episode] = []
    complete = False
    where = f"the Ray cluster at '{cluster}'" if cluster else f"{jobs} processes"
    report(f"0 of {len(seeds)} are done, on {where}")
    bar = _ProgressBar(stream, len(seeds))
    try:
        with closing(running):
            for episode in running:
                done.append(episode)
                if keep is not None:
                    keep(episode)
                bar.show(is_good=episode.success)
        complete = True
    except KeyboardInterrupt:
        pass
    finally:
        bar.end()
    return sorted(done, key=lambda it: it.seed), complete


class _ProgressBar:
    """Shows progress in one line of a terminal, or at every tenth of a long run elsewhere."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream, self._total = stream, total
        self._begin = time.monotonic()
        self._count = self._good = 0
        self._terminal = stream.isatty()

    def show(self, *, is_good: bool) -> None:
        """Count an episode."""
        self._count += 1
        self._good += is_good
        count, good = self._count, self._good
        rate = count / (time.monotonic() - self._begin)
        left = timedelta(seconds=round((self._total - count) / rate))
        ending = f"{60.0 * rate:.1f} a minute, {left} left"
        full = _BAR_WIDTH * count // self._total
        bar = f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] " if self._terminal else ""
        text = f"{bar}{count} of {self._total}, {good} succeeded, {count - good} failed, {ending}"
        is_tenth = self._total >= _LONG_RUN and count % (self._total // 10) == 0
        if self._terminal or is_tenth:
            write(text, "evaluate", self._stream)
        else:
            report(text)

    def end(self) -> None:
        if self._terminal:
            self._stream.write("\n")
