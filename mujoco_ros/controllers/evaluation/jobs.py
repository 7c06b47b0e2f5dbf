"""Episodes in parallel worker processes."""

import gc
import platform
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import NamedTuple

from mujoco_ros.controllers.evaluation.episode import Clock, Episode, run_episode
from mujoco_ros.controllers.evaluation.episode_file import scene_hash
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.process.limits import WorkerDiedError
from mujoco_ros.process.worker_process import WorkerProcess, serve

RunEpisode = Callable[[int], Episode]
DIED = "worker_died"
ATTEMPTS = 3
"""Number of worker crashes after which an episode counts as failed."""


class EpisodeSetup(NamedTuple):
    """What a process needs to run episodes.

    Attributes:
        trial: The trial.
        clock: Processor time [s].
        run: Runs an episode instead of the trial.
        scene: Hash of the scene, which must be the same here; empty for any.
    """

    trial: Trial
    clock: Clock
    run: RunEpisode | None
    scene: str = ""


def episodes(
    trial: Trial,
    seeds: Sequence[int],
    clock: Clock,
    *,
    jobs: int,
    run: RunEpisode | None = None,
) -> Generator[Episode, None, None]:
    """Run episodes and yield each when it is done, in any order.

    A crashed worker is replaced, and its episode is repeated.

    Args:
        trial: The trial.
        seeds: Seed of each episode.
        clock: Returns processor time [s]; a function that can be imported in another process.
        jobs: Number of worker processes.
        run: Runs an episode in a worker instead of the trial.

    Raises:
        UserInputError: The scene is invalid.
    """
    setup = EpisodeSetup(trial, clock, run)
    waiting, deaths = deque(seeds), Counter[int]()
    running: dict[Future[Episode], tuple[WorkerProcess, int]] = {}
    workers = [WorkerProcess(__name__, lambda: setup) for _ in range(min(jobs, len(seeds)))]
    idle = list(workers)
    try:
        while waiting or running:
            while waiting and idle:
                worker, seed = idle.pop(), waiting.popleft()
                running[worker.submit(seed)] = worker, seed
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                worker, seed = running.pop(future)
                idle.append(worker)
                if not isinstance(future.exception(), WorkerDiedError):
                    yield future.result()
                elif deaths[seed] + 1 < ATTEMPTS:
                    deaths[seed] += 1
                    waiting.append(seed)
                else:
                    yield died(trial, seed)
    finally:
        for worker in workers:
            worker.close()


def main(arguments: Sequence[str]) -> int:
    """Run episodes in a worker process until its parent ends; return the exit code."""
    return serve(arguments, prepare)


def prepare(setup: EpisodeSetup) -> RunEpisode:
    """Return the function that runs the episode of a seed in this process.

    Raises:
        UserInputError: The scene is invalid, or another one.
    """
    if setup.run is not None:
        return setup.run
    assembly = assemble(setup.trial.scene_config())
    if setup.scene and (found := scene_hash(assembly)) != setup.scene:
        raise UserInputError(
            f"the scene of {platform.node()} is another one: its hash is {found}, not {setup.scene}"
        )
    run = partial(_run, setup, assembly)
    gc.collect()
    gc.freeze()
    return run


def _run(setup: EpisodeSetup, assembly: Assembly, seed: int) -> Episode:
    episode = run_episode(setup.trial, assembly, seed, setup.clock)
    gc.collect()  # models are large, and Python's collector does not count their memory
    return episode


def died(trial: Trial, seed: int) -> Episode:
    """Return the episode whose process died each time."""
    return Episode(
        seed=seed,
        outcome=DIED,
        reason=f"its process died {ATTEMPTS} times",
        conditions=trial.conditions(seed),
        measures={},
        phases={},
    )
