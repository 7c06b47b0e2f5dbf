"""Episodes in parallel: in worker processes, or on the machines of a Ray cluster."""

import gc
import os
import pickle
import platform
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import lru_cache, partial
from typing import Any, NamedTuple

from mujoco_ros.controllers.evaluation.episode import (
    Clock,
    Episode,
    run_episode,
    scene_hash,
    versions,
)
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.process.limits import WorkerDiedError
from mujoco_ros.process.worker_process import WorkerProcess, serve

RunEpisode = Callable[[int], Episode]
DIED = "worker_died"
ATTEMPTS = 3  # number of worker crashes after which an episode counts as failed


class EpisodeSetup(NamedTuple):
    """The data with which a process runs episodes."""

    trial: Trial
    clock: Clock
    run: RunEpisode | None  # runs an episode instead of the trial
    scene: str = ""  # hash of the scene, which must be the same here; empty for any


def episodes(
    trial: Trial, seeds: Sequence[int], clock: Clock, *, jobs: int, run: RunEpisode | None = None
) -> Generator[Episode, None, None]:
    """Run episodes and yield each when it is done, in any order.

    A crashed worker is replaced, and its episode is repeated. `clock` returns processor time [s];
    another process can import it. `run` runs an episode instead of the trial.
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
    """Return the function that runs the episode of a seed in this process."""
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
    gc.freeze()  # what is left was imported: the next collections do not look at it
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


AUTO = "auto"  # the cluster that RAY_ADDRESS names, or this machine's cluster
_CONNECT_S = 10.0  # time in which a cluster must accept a connection
_EMPTY_S = 60.0  # longest time without a processor
_REFRESH_S = 1.0  # period in which the processors are counted, and the longest wait for episodes
_QUEUED = 2  # episodes that are submitted, for each processor of the cluster: one runs, one waits


def cluster_episodes(
    trial: Trial,
    seeds: Sequence[int],
    clock: Clock,  # returns processor time [s]; a function that can be imported on all machines
    *,
    address: str,  # ``host:port`` of a cluster that runs, or `AUTO`
    run: RunEpisode | None = None,  # runs an episode instead of the trial
    scene: str = "",  # hash of the scene; empty to compute it
) -> Generator[Episode, None, None]:
    """Run episodes on a cluster, of which this machine is part, and yield each when it is done.

    The episodes of a machine that dies, or leaves the cluster, run again on the others; machines
    that join get episodes. An episode whose process dies several times, on machines that live on,
    has failed.
    """
    require("cluster", "--cluster")
    import ray  # an extra
    from ray import exceptions

    if run:
        scene = ""
    elif not scene:
        scene = scene_hash(assemble(trial.scene_config()))
    setup = pickle.dumps(EpisodeSetup(trial, clock, run, scene))
    _connect(ray, address)
    submit = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(run_seed).remote
    waiting, deaths = deque(seeds), Counter[int]()
    running: dict[Any, int] = {}
    processors = _Processors(ray)
    try:
        while waiting or running:
            places = _QUEUED * processors.count()
            while waiting and len(running) < places:
                seed = waiting.popleft()
                running[submit(versions(), setup, seed)] = seed
            if not running:
                continue
            # All that are done, not one at a time: a call takes as long as it has references.
            ray.wait(list(running), num_returns=1, timeout=_REFRESH_S)
            done, _ = ray.wait(list(running), num_returns=len(running), timeout=0.0)
            for reference in done:
                seed = running.pop(reference)
                try:
                    yield ray.get(reference)
                except exceptions.RayTaskError as error:
                    raise _cause(error) from error
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


class _Processors:
    """The processors of the cluster, which change when machines join and leave."""

    def __init__(self, ray: Any) -> None:
        self._ray, self._count = ray, 0
        self._counted_at = self._seen_at = time.monotonic() - _REFRESH_S

    def count(self) -> int:
        """Return their number, counted once a second; 0 for a short time only."""
        now = time.monotonic()
        if now >= self._counted_at + _REFRESH_S or not self._count:
            self._counted_at = now
            self._count = int(self._ray.cluster_resources().get("CPU", 0))
            if self._count:
                self._seen_at = now
            elif now > self._seen_at + _EMPTY_S:
                raise UserInputError(
                    f"the Ray cluster has had no processor for {_EMPTY_S:g} s; add machines with "
                    "--num-cpus above 0"
                )
            else:
                time.sleep(_REFRESH_S)
        return self._count


def run_seed(wanted: Mapping[str, str], setup: bytes, seed: int) -> Episode:
    """Run the episode of a seed in a process of a cluster, which has the `wanted` versions."""
    for name, version in versions().items():
        if version != wanted.get(name):
            raise UserInputError(
                f"{platform.node()} of the cluster has another version of this package or of "
                f"MuJoCo: {name} is {version}, here it is {wanted.get(name)}"
            )
    return _prepared(setup)(seed)


@lru_cache(maxsize=1)
def _prepared(setup: bytes) -> RunEpisode:
    """Prepare this process once for all its episodes."""
    return prepare(pickle.loads(setup))


def _connect(ray: Any, address: str) -> None:
    """Join a cluster; Ray itself would try for minutes where nothing answers."""
    target = os.environ.get("RAY_ADDRESS", AUTO) if address == AUTO else address
    try:
        host, _, port = target.rpartition(":")
        if target != AUTO:
            if not (host and port.isdecimal()):
                raise ValueError(f"expected host:port or {AUTO}")
            socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
    except (OSError, OverflowError, ValueError) as error:
        raise UserInputError(
            f"no Ray cluster at '{target}': {error}; start one with: ray start --head"
        ) from error
    try:
        ray.init(address=target, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        cause = " ".join(str(error).split())
        raise UserInputError(
            f"the Ray cluster at '{target}' cannot be used from here: {cause}; this machine must "
            "be part of it: ray start --head, or ray start --address HOST:PORT"
        ) from error


def _cause(error: Any) -> Exception:
    """Return the error of an episode; the user can mend a machine without this package."""
    cause = error.cause
    if isinstance(cause, ImportError) or "failed to import" in str(cause):
        text = " ".join(str(cause).split())
        return UserInputError(f"a machine of the cluster lacks this package, or a part: {text}")
    return cause if isinstance(cause, Exception) else RuntimeError(str(error))
