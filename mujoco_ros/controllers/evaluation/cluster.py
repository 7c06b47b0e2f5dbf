"""Episodes on the machines of a Ray cluster."""

import pickle
import platform
import socket
from collections import Counter, deque
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any

from mujoco_ros.controllers.evaluation.episode import Clock, Episode
from mujoco_ros.controllers.evaluation.episode_file import versions
from mujoco_ros.controllers.evaluation.jobs import (
    ATTEMPTS,
    EpisodeSetup,
    RunEpisode,
    died,
    prepare,
)
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError

AUTO = "auto"
"""Address of the cluster that runs on this machine, or that RAY_ADDRESS names."""
_CONNECT_S = 10.0
"""Time in which a cluster must accept a connection."""
_QUEUED = 2
"""Episodes that are submitted, for each processor of the cluster: one runs, one waits."""


def cluster_episodes(
    trial: Trial,
    seeds: Sequence[int],
    clock: Clock,
    *,
    address: str,
    run: RunEpisode | None = None,
) -> Generator[Episode, None, None]:
    """Run episodes on a cluster and yield each when it is done, in any order.

    The episodes of a machine that dies, or leaves the cluster, run again on the others; machines
    that join get episodes. An episode whose process dies several times, on machines that live on,
    has failed.

    Args:
        trial: The trial.
        seeds: Seed of each episode.
        clock: Returns processor time [s]; a function that can be imported on all machines.
        address: ``host:port`` of a cluster that runs, or `AUTO`.
        run: Runs an episode instead of the trial.

    Raises:
        UserInputError: Ray is not installed, there is no cluster, a machine of it has other
            versions, or the scene is invalid.
    """
    require("cluster", "--cluster")
    import ray  # an extra
    from ray import exceptions

    setup = pickle.dumps((EpisodeSetup(trial, clock, run), versions()))
    try:
        _look_for(address)
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        cause = " ".join(str(error).split())
        raise UserInputError(
            f"no Ray cluster at '{address}': {cause}; start one with: ray start --head"
        ) from error
    submit = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(run_seed).remote
    waiting, deaths = deque(seeds), Counter[int]()
    running: dict[Any, int] = {}
    try:
        while waiting or running:
            places = _QUEUED * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while waiting and len(running) < places:
                seed = waiting.popleft()
                running[submit(setup, seed)] = seed
            done, _ = ray.wait(list(running), timeout=1.0)
            for reference in done:
                seed = running.pop(reference)
                try:
                    yield ray.get(reference)
                except exceptions.RayTaskError as error:
                    raise error.cause from error
                except exceptions.NodeDiedError:
                    waiting.append(seed)
                except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError):
                    deaths[seed] += 1
                    if deaths[seed] < ATTEMPTS:
                        waiting.append(seed)
                    else:
                        yield died(trial, seed)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        ray.shutdown()


def run_seed(setup: bytes, seed: int) -> Episode:
    """Run the episode of a seed in a process of a cluster.

    Args:
        setup: A pickled `EpisodeSetup`, and `versions` of the machine that asks.
        seed: The seed.

    Raises:
        UserInputError: The versions here are others, or the scene is invalid.
    """
    return _prepared(setup)(seed)


def _look_for(address: str) -> None:
    """Raise OSError if nothing answers at an address: Ray tries for minutes."""
    host, _, port = address.rpartition(":")
    if address != AUTO and not (host and port.isdecimal()):
        raise ValueError(f"expected host:port or {AUTO}")
    if host:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()


@lru_cache(maxsize=1)
def _prepared(setup: bytes) -> RunEpisode:
    """Prepare this process once for all its episodes."""
    made, wanted = pickle.loads(setup)
    for name, version in versions().items():
        if version != wanted[name]:
            raise UserInputError(
                f"{platform.node()} of the cluster has {name} {version}, here it is {wanted[name]}"
            )
    return prepare(made)
