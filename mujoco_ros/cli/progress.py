"""Episodes with a progress bar in the terminal."""

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import TextIO

from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.jobs import episodes
from mujoco_ros.controllers.evaluation.trial import Trial

_BAR_WIDTH = 30
_LONG_RUN = 50
"""Number of episodes from which progress is reported without a terminal."""


def run_episodes(
    trial: Trial, seeds: Sequence[int], jobs: int, stream: TextIO = sys.stderr
) -> tuple[list[Episode], bool]:
    """Return the finished episodes, and whether they are all; Ctrl-C ends the run early.

    Raises:
        UserInputError: The scene is wrong.
    """
    done: list[Episode] = []
    bar = _ProgressBar(stream, len(seeds))
    try:
        with closing(episodes(trial, seeds, time.process_time, jobs=jobs)) as running:
            for episode in running:
                done.append(episode)
                bar.show(done)
    except KeyboardInterrupt:
        return done, False
    finally:
        bar.end()
    return done, True


class _ProgressBar:
    """Shows progress in one line of a terminal, or at every tenth of a long run elsewhere."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream, self._total = stream, total
        self._begin = time.monotonic()
        self._terminal = stream.isatty()

    def show(self, done: Sequence[Episode]) -> None:
        count, good = len(done), sum(it.success for it in done)
        if not self._terminal:
            if self._total >= _LONG_RUN and count % (self._total // 10) == 0:
                self._stream.write(f"{count} of {self._total}, {good} succeeded\n")
            return
        full = _BAR_WIDTH * count // self._total
        left = (time.monotonic() - self._begin) / count * (self._total - count)
        self._stream.write(
            f"\r[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {count} of {self._total}, "
            f"{good} succeeded, {count - good} failed, {left:.0f} s left \x1b[K"
        )
        self._stream.flush()

    def end(self) -> None:
        if self._terminal:
            self._stream.write("\n")
