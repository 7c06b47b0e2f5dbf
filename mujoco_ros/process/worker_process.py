"""A worker process, which answers requests without holding the GIL of this process."""

import logging
import pickle
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from threading import Timer
from typing import Any, NamedTuple

from mujoco_ros.process import child_process, fork_server
from mujoco_ros.process.child_process import Process
from mujoco_ros.process.limits import WorkerDiedError, WorkerLimitError, WorkerLimits, used_memory

_LOG = logging.getLogger(__name__)

_EXIT_S = 1.0  # time for a process that closed its connection to exit by itself [s]
_PERIOD_S = 0.05  # time between two checks of the limits
_MOST_GROWTH = 64 << 20
"""Memory that a limited process may keep, beyond its use after the first request [byte]."""


class _Setup(NamedTuple):
    content: object


class WorkerProcess:
    """Answers one request at a time, in a process whose module calls `serve` in its ``main``.

    The process starts with the first request, or by `start`, and ends with this one, with limits
    also when it is idle. If it dies, the request that it was handling fails, and the next one
    starts another process.
    """

    def __init__(
        self,
        module: str,
        setup: Callable[[], object],
        died: type[Exception] = WorkerDiedError,
        limits: WorkerLimits | None = None,
        *,
        is_forked: bool = False,
    ) -> None:
        """Prepare the worker; a request whose process `died` raises that error.

        `setup` is called for each start of the process, until `prepare` replaces it; its result is
        sent before all requests. A process that exceeds `limits` is killed: a `WorkerLimitError`.
        If `is_forked`, it is a fork of the `fork_server`, if there is one.
        """
        self._module, self._setup, self._died = module, setup, died
        self._limits, self._is_forked = limits, is_forked
        self._process: Process | None = None
        self._connection: Connection | None = None
        self._sent: Callable[[], object] | None = None
        self._first_bytes, self._is_closed = 0, False
        self._count, self._timer = 0, Timer(0.0, bool)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=module.rpartition(".")[2])

    @property
    def pid(self) -> int | None:
        """The id of the process, once it was started."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process now, so that the first answer comes sooner."""
        with suppress(RuntimeError):  # it is closed
            self._thread.submit(self._connect, self._setup).add_done_callback(self._log_failure)

    def prepare(self, setup: Callable[[], object]) -> None:
        """Prepare for later requests with another setup; a process that runs keeps running."""
        self._setup = setup
        if self._process is not None:
            self.start()

    def submit(self, request: object) -> "Future[Any]":
        """Return a future of the answer; it fails with the exception of the worker."""
        return self._thread.submit(self._request, request, self._setup)

    def interrupt(self) -> None:
        """Kill the process; the request in progress fails, and the next one starts another."""
        process = self._process
        if process is not None:
            process.kill()
            with suppress(RuntimeError):  # it is closed
                self._thread.submit(lambda: self._discard() if self._process is process else "")

    def finish(self) -> None:
        """Answer the requests made so far, then end the process."""
        self._thread.submit(self._kill)
        self._thread.shutdown(wait=False)

    def close(self) -> None:
        """End the process; the request in progress fails, and the others are cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._kill()

    def _request(self, request: object, setup: Callable[[], object]) -> Any:
        exceeded, limits = "", self._limits
        self._count += 1
        try:
            connection = self._connect(setup)
            connection.send(request)
            if limits is not None:
                exceeded = self._enforce(limits, connection)
            succeeded, answer = connection.recv()
            self._end_if_grown()
        except (EOFError, OSError) as error:
            reason = self._discard()
            if limits is not None and reason == signal.SIGXCPU.name:
                exceeded = limits.processor
            if exceeded:
                raise WorkerLimitError(exceeded) from error
            raise self._died(f"the worker process is gone: {reason}") from error
        if limits is not None:
            self._end_later(limits.idle_s)
        if not succeeded:
            raise answer
        return answer

    def _end_later(self, seconds: float) -> None:
        """End the process after a time without a request."""
        self._timer.cancel()
        self._timer = Timer(seconds, self._submit_end, [self._count])
        self._timer.daemon = True
        self._timer.start()

    def _submit_end(self, count: int) -> None:
        with suppress(RuntimeError):  # it is closed
            self._thread.submit(lambda: self._discard() if count == self._count else "")

    def _enforce(self, limits: WorkerLimits, connection: Connection) -> str:
        """Wait for the answer, or kill the process at a limit and return the limit."""
        process, deadline = self._process, time.monotonic() + limits.wall_s
        assert process is not None
        while not connection.poll(_PERIOD_S):
            too_large = used_memory(process.pid) > limits.memory_bytes
            if too_large or time.monotonic() > deadline:
                process.kill()
                return limits.memory if too_large else limits.wall
        return ""

    def _connect(self, setup: Callable[[], object]) -> Connection:
        """Return the connection to the process, started if necessary; EOFError if it is closed."""
        if self._connection and self._process and self._process.poll() is not None:
            self._discard()  # it was ended while it was idle
        if self._is_closed:
            raise EOFError
        if self._connection is None:
            self._connection = self._started()
        if self._sent is not setup:
            self._connection.send(_Setup(setup()))
            self._sent = setup
        return self._connection

    def _started(self) -> Connection:
        try:
            ours, theirs = Pipe()
            with theirs:
                self._process = self._start(theirs.fileno())
        except OSError as error:
            reason = error.strerror or error
            raise self._died(f"the worker process could not be started: {reason}") from error
        if self._is_closed:  # by another thread, perhaps before there was a process to kill
            ours.close()
            self._kill()
            raise EOFError
        ours.send(self._limits)
        self._sent, self._first_bytes = None, 0
        return ours

    def _start(self, descriptor: int) -> Process:
        server = fork_server.server() if self._is_forked else None
        if server is not None:
            with suppress(OSError):  # it was killed
                return server.fork(self._module, descriptor)
        return child_process.start(
            child_process.python_command(self._module, str(descriptor)),
            pass_fds=[descriptor],
            variables=child_process.ONE_THREAD,
        )

    def _end_if_grown(self) -> None:
        """End a limited process that has kept much memory after a request."""
        if self._limits is None or self.pid is None:
            return
        now = used_memory(self.pid)
        self._first_bytes = self._first_bytes or now
        if now - self._first_bytes > _MOST_GROWTH:
            self._discard()

    def _log_failure(self, done: "Future[Any]") -> None:
        error = None if done.cancelled() else done.exception()
        if error is not None and not (self._is_closed or isinstance(error, OSError)):
            _LOG.error("%s: %s", self._module, error)

    def _kill(self) -> None:
        self._is_closed = True
        self._timer.cancel()
        if self._process is not None:
            child_process.end(self._process)

    def _discard(self) -> str:
        """Discard a process that does not answer; return how it ended."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._is_closed:
            return "it was closed"
        assert self._process is not None
        return child_process.exit_reason(child_process.end(self._process, _EXIT_S))


def serve(arguments: Sequence[str], prepare: Callable[[Any], Callable[[Any], object]]) -> int:
    """Answer requests in a worker process until its parent ends; return the exit code.

    `prepare` gets each setup and returns the function that answers the requests after it. An
    exception of either becomes the answer.
    """
    connection = Connection(int(arguments[0]))
    with suppress(EOFError, OSError):  # the parent ended
        limits: WorkerLimits | None = connection.recv()
        while True:
            message = connection.recv()
            if isinstance(message, _Setup):
                prepared, answer = _attempt(prepare, message.content)
                continue
            if limits is not None:
                limits.apply()
            _send(connection, *(_attempt(answer, message) if prepared else (False, answer)))
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
