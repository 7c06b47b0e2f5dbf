"""Trial builds: what a client sends is first read and compiled in another process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mujoco_ros.bridge import trial_worker
from mujoco_ros.bridge.component import Component
from mujoco_ros.model.errors import ParseError
from mujoco_ros.model.file_access import client_files
from mujoco_ros.model.reading import Reading, repeated_reading
from mujoco_ros.process import fork_server
from mujoco_ros.process.limits import (
    WorkerDiedError,
    WorkerLimitError,
    WorkerLimits,
    share_of_memory,
)
from mujoco_ros.process.worker_process import WorkerProcess

LIMITS = WorkerLimits(
    processor_s=60.0, wall_s=300.0, memory_bytes=share_of_memory(2, largest=8 << 30)
)
"""Limits of one model."""


class BuildCancelledError(RuntimeError):
    """A client cancelled the change of the model."""

    def __init__(self) -> None:
        super().__init__("cancelled by a client (~/cancel_build)")


class TrialBuilds(Component):
    """Builds models in a worker process, which a model may crash, fill or keep busy.

    The process starts with the first model or, to rehearse, with the simulator. If it dies, keeps
    much memory, or ends because it is idle, the next model starts another one.
    """

    def __init__(
        self, limits: WorkerLimits = LIMITS, rehearsal: Callable[[], object] | None = None
    ) -> None:
        """Prepare the worker process, and what a fork of the simulator rehearses before the first
        model.

        That model then takes no longer than the others.
        """
        self._cancelled, self._rehearsal = False, rehearsal
        self._worker = WorkerProcess(
            trial_worker.__name__,
            lambda: None,
            died=WorkerDiedError,
            limits=limits,
            is_forked=True,
        )

    @property
    def pid(self) -> int | None:
        """The id of the process, once it was started."""
        return self._worker.pid

    @contextmanager
    def after_trial(
        self, where: str, function: Callable[..., object], *args: object
    ) -> Iterator[None]:
        """Build a model on trial, and have the block, in this thread, repeat the reading.

        The block reads the same files, and computes nothing again that `computed_once` has. The
        function, which can be pickled and imports no ROS, may raise `UserInputError`; if the
        process dies, a limit is exceeded, or a file has changed since, that is a `ParseError`,
        which begins with `where`. `cancel` raises `BuildCancelledError`.
        """
        _, reading = self._run(where, trial_worker.BuildTrial(function, args, client_files()))
        with repeated_reading(reading):
            yield

    def evaluate(self, where: str, function: Callable[..., Any], *args: object) -> Any:
        """Return the result of a function, which can be pickled; see `after_trial`."""
        trial = trial_worker.BuildTrial(function, args, client_files(), has_result=True)
        return self._run(where, trial)[0]

    def cancel(self) -> None:
        """End the trial in progress, and refuse others until the change of the model ends."""
        self._cancelled = True
        self._worker.interrupt()

    def finish(self) -> None:
        """Accept trials again."""
        self._cancelled = False

    rollback = finish

    def start(self) -> None:
        """Fork the process, where that is possible, and have it rehearse."""
        if self._rehearsal is not None and fork_server.server() is not None:
            self._worker.submit(trial_worker.BuildTrial(self._rehearsal))

    def stop(self) -> None:
        """End the process; the trial in progress fails."""
        self._worker.close()

    def _run(self, where: str, trial: trial_worker.BuildTrial) -> tuple[Any, Reading]:
        if self._cancelled:
            raise BuildCancelledError
        try:
            answer: tuple[Any, Reading] = self._worker.submit(trial).result()
        except WorkerLimitError as error:
            raise ParseError(f"{where}: too large to build, limit {error}") from error
        except WorkerDiedError as error:
            if self._cancelled:
                raise BuildCancelledError from error
            raise ParseError(
                f"{where}: it cannot be built: {error}; the simulator is not affected"
            ) from error
        return answer
