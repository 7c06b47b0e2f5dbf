"""A worker process, which answers requests without holding the GIL of this process."""

import logging
import pickle
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from multiprocessing.connection import Connection, Pipe
from threading import Event
from typing import Any

from mujoco_ros.process import child_process
from mujoco_ros.process.worker_limits import LimitWatch, WorkerDiedError, WorkerLimits

_LOG = logging.getLogger(__name__)

_EXIT_S = 1.0
"""Time for a process that closed its connection to exit by itself [s]."""


class WorkerProcess:
    """Answers one request at a time, in a process whose module calls `serve` in its ``main``.

    The process starts with the first request, or by `start`, and ends with this one. If it dies,
    the request that it was handling fails, and the next one starts another process.
    """

    def __init__(
        self,
        module: str,
        setup: Callable[[], object],
        died: type[Exception] = WorkerDiedError,
        limits: WorkerLimits | None = None,
    ) -> None:
        """Prepare the worker.

        Args:
            module: Name of the module.
            setup: Called for each start of the process; its result is sent before all requests.
            died: The error of a request whose process died.
            limits: Limits of each request; a process that exceeds one is killed, and the request
                fails with a `WorkerLimitError`.
        """
        self._module, self._setup, self._died = module, setup, died
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._closed = Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=module.rpartition(".")[2])

    @property
    def pid(self) -> int | None:
        """The id of the process, once it was started."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process now, so that the first answer comes sooner."""
        self._thread.submit(self._connect).add_done_callback(self._log_failure)

    def submit(self, request: object) -> "Future[Any]":
        """Return a future of the answer; it fails with the exception of the worker."""
        return self._thread.submit(self._request, request)

    def interrupt(self) -> None:
        """Kill the process; the request in progress fails, and the next one starts another."""
        process = self._process
        if process is not None:
            process.kill()

    def finish(self) -> None:
        """Answer the requests made so far, then end the process."""
        self._thread.submit(self._kill)
        self._thread.shutdown(wait=False)

    def close(self) -> None:
        """End the process; the request in progress fails, and the others are cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._kill()

    def _request(self, request: object) -> Any:
        watch = None
        try:
            connection = self._connect()
            if self._limits is not None and self._process is not None:
                watch = LimitWatch(self._process, self._limits)
            with watch or nullcontext():
                connection.send(request)
                succeeded, answer = connection.recv()
        except (EOFError, OSError) as error:
            reason = self._discard()
            if watch is not None:
                watch.check(reason)
            raise self._died(f"the worker process is gone: {reason}") from error
        if not succeeded:
            raise answer
        return answer

    def _connect(self) -> Connection:
        """Return the connection to the process, which is started if necessary.

        Raises:
            EOFError: The worker is closed.
            OSError: The process ended at once.
            Exception: The process cannot be started; of the type for a process that died.
        """
        if self._connection is not None and self._process is not None:
            if self._process.poll() is None:
                return self._connection
            self._discard()  # it was ended while it was idle
        if self._closed.is_set():
            raise EOFError
        try:
            ours, theirs = Pipe()
            with theirs:
                descriptor = theirs.fileno()
                self._process = child_process.start(
                    child_process.python_command(self._module, str(descriptor)),
                    pass_fds=[descriptor],
                    variables=child_process.ONE_THREAD,
                )
        except OSError as error:
            reason = error.strerror or error
            raise self._died(f"the worker process could not be started: {reason}") from error
        if self._closed.is_set():  # by another thread, perhaps before there was a process to kill
            ours.close()
            self._kill()
            raise EOFError
        ours.send(self._limits)
        ours.send(self._setup())
        self._connection = ours
        return ours

    def _log_failure(self, started: "Future[Connection]") -> None:
        error = None if started.cancelled() else started.exception()
        if error is not None and not self._closed.is_set():
            _LOG.error("%s: %s", self._module, error)

    def _kill(self) -> None:
        self._closed.set()
        if self._process is not None:
            child_process.end(self._process)

    def _discard(self) -> str:
        """Discard a process that does not answer; return how it ended."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._closed.is_set():
            return "it was closed"
        assert self._process is not None
        return child_process.exit_reason(child_process.end(self._process, _EXIT_S))


def serve(arguments: Sequence[str], prepare: Callable[[Any], Callable[[Any], object]]) -> int:
    """Answer requests in a worker process until its parent ends; return the exit code.

    Args:
        arguments: Of the ``main`` that calls this.
        prepare: Called with the setup; returns the function that answers a request. An exception
            of either becomes the answer.
    """
    connection = Connection(int(arguments[0]))
    with suppress(EOFError, OSError):  # the parent ended
        limits: WorkerLimits | None = connection.recv()
        prepared, answer = _attempt(prepare, connection.recv())
        while True:
            request = connection.recv()
            if limits is not None:
                limits.apply()
            _send(connection, *(_attempt(answer, request) if prepared else (False, answer)))
    return 0


def _attempt(function: Callable[[Any], Any], argument: object) -> tuple[bool, Any]:
    try:
        return True, function(argument)
    except Exception as error:
        return False, error


def _send(connection: Connection, succeeded: bool, answer: object) -> None:
    try:
        connection.send((succeeded, answer))
    except (pickle.PicklingError, TypeError, AttributeError):  # exceptions of some libraries
        connection.send((False, RuntimeError(f"{type(answer).__name__}: {answer}")))
