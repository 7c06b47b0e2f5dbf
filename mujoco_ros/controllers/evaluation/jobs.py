"""Many episodes on many processors."""

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import NamedTuple

from mujoco_ros.controllers.evaluation.episode import Episode, run_episode
from mujoco_ros.controllers.evaluation.timed_planner import Clock
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.process.worker_process import ONE_THREAD

DIED = "worker_died"
_ATTEMPTS = 3
"""Times that an episode may be running when a worker dies before it is taken for the cause."""


class _Work(NamedTuple):
    """What is the same for all episodes of a process."""

    trial: Trial
    assembly: Assembly
    clock: Clock


_WORK: list[_Work | UserInputError] = []
"""That of this process, or why there is none."""


def episodes(
    trial: Trial,
    seeds: Sequence[int],
    clock: Clock,
    *,
    jobs: int,
    run: Callable[[int], Episode] | None = None,
) -> Generator[Episode, None, None]:
    """Run episodes and yield each as it is done; their order says nothing.

    A worker that dies is replaced, and what it was at is begun anew.

    Args:
        trial: The trial.
        seeds: One for each episode.
        clock: Tells processor time [s]; a function that another process can find.
        jobs: How many processes; 0 runs them in this one.
        run: Runs an episode in a worker, instead of the trial's own.

    Raises:
        ModelError: The scene is wrong.
    """
    if not jobs:
        _prepare(trial, clock)
        yield from map(run or _run, seeds)
        return
    left = dict.fromkeys(seeds, 0)
    while left:
        yield from _pool(trial, left, clock, jobs, run or _run)
        for seed in [seed for seed, died in left.items() if died >= _ATTEMPTS]:
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
    """Yield what gets done until a worker dies, and take it off what is left."""
    for name, value in ONE_THREAD.items():  # episodes run beside each other
        os.environ.setdefault(name, value)
    waiting = list(left)
    running: dict[Future[Episode], int] = {}
    pool = ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_begin, initargs=(trial, clock)
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
    """Submit a seed; a process that is started for it leaves it to this one to be interrupted."""
    # It inherits the mask: a handler of its own it would have only after all its imports.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(run, seed)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(trial: Trial, clock: Clock) -> None:
    """Prepare a process."""
    try:
        _prepare(trial, clock)
    except UserInputError as error:
        # For the first episode to raise: what is raised here ends the process, and nobody hears.
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
    gc.collect()  # models are large, and Python does not see how large
    return episode
