"""Episodes in parallel worker processes."""

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import NamedTuple

from mujoco_ros.controllers.evaluation.episode import Clock, Episode, run_episode
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.process.worker_process import ONE_THREAD

DIED = "worker_died"
_ATTEMPTS = 3
"""Attempts at an episode whose worker dies, because another episode may be the cause."""


class _Work(NamedTuple):
    trial: Trial
    assembly: Assembly
    clock: Clock


_WORK: list[_Work | UserInputError] = []
"""What all episodes of this process share, or the error that prevents them."""


def episodes(
    trial: Trial,
    seeds: Sequence[int],
    clock: Clock,
    *,
    jobs: int,
    run: Callable[[int], Episode] | None = None,
) -> Generator[Episode, None, None]:
    """Run an episode for each seed, and yield each when it is finished, in any order.

    A worker that dies is replaced, and its episodes are repeated.

    Args:
        clock: Returns the processor time [s]; a picklable function.
        jobs: Number of worker processes; 0 runs the episodes in this process.
        run: Runs an episode in a worker, instead of the trial.

    Raises:
        UserInputError: The scene is invalid.
    """
    if not jobs:
        _prepare(trial, clock)
        yield from map(run or _run, seeds)
        return
    left = dict.fromkeys(seeds, 0)
    while left:
        yield from _pool(trial, left, clock, jobs, run or _run)
        for seed in [seed for seed, deaths in left.items() if deaths >= _ATTEMPTS]:
            del left[seed]
            yield Episode(
                seed=seed,
                outcome=DIED,
                reason=f"its process died {_ATTEMPTS} times",
                conditions=trial.conditions(seed),
                measures={},
                phases={},
            )


def _pool(
    trial: Trial, left: dict[int, int], clock: Clock, jobs: int, run: Callable[[int], Episode]
) -> Iterator[Episode]:
    """Yield finished episodes and remove them from `left`, until a worker dies."""
    for name, value in ONE_THREAD.items():  # episodes run in parallel
        os.environ.setdefault(name, value)
    waiting = list(left)
    running: dict[Future[Episode], int] = {}
    pool = ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_initialize, initargs=(trial, clock)
    )
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                seed = waiting.pop(0)
                running[_submit(pool, run, seed)] = seed
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                episode = future.result()
                del left[running.pop(future)]
                yield episode
    except BrokenProcessPool:
        for seed in running.values():
            left[seed] += 1
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, run: Callable[[int], Episode], seed: int) -> Future[Episode]:
    """Submit a seed; a worker process started for it ignores SIGINT."""
    # Workers inherit the signal mask; a handler would be installed only after their imports.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(run, seed)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _initialize(trial: Trial, clock: Clock) -> None:
    """Initialize a worker process."""
    try:
        _prepare(trial, clock)
    except UserInputError as error:
        # The first episode raises it: an exception in an initializer is lost with its process.
        _WORK[:] = [error]
    gc.collect()
    gc.freeze()


def _prepare(trial: Trial, clock: Clock) -> None:
    _WORK[:] = [_Work(trial, assemble(load_scene(trial.scene)), clock)]


def _run(seed: int) -> Episode:
    (work,) = _WORK
    if isinstance(work, UserInputError):
        raise work
    episode = run_episode(work.trial, work.assembly, seed, work.clock)
    gc.collect()  # Python does not account for the memory of models
    return episode
