"""Episodes that are run while somebody waits, who is told how far it is."""

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import TextIO

from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.jobs import episodes
from mujoco_ros.controllers.evaluation.trial import Trial

_BAR = 30
_LONG = 50
"""So many episodes are worth a word now and then where there is no bar."""


def run(
    tried: Trial, seeds: Sequence[int], jobs: int, stream: TextIO = sys.stderr
) -> tuple[list[Episode], bool]:
    """Return the episodes done, and whether that is all of them: Ctrl-C ends it before.

    Raises:
        ModelError: The scene is wrong.
    """
    done: list[Episode] = []
    bar = _Bar(stream, len(seeds))
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
