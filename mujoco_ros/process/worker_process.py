"""A process of low priority that answers questions, so that no thread here waits for the GIL."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from threading import Event
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment of a process: matrices of a robot's size are no work to be shared out."""
_NICE = 5
_PATIENCE_S = 5.0
"""How long to wait for a process that is told to end."""


class WorkerDiedError(RuntimeError):
    """The process is gone, and with it the answer."""


class WorkerProcess:
    """Answers one question after the other, in a process that runs a module which calls `serve`.

    The process is started for the first question, or by `start`, and ends with this one, however
    that ends. If it dies, the question it was asked fails with a ServantDiedError, and the next one
    is answered by a new process.
    """

    def __init__(
        self,
        module: str,
        charge: Callable[[], object],
        died: type[Exception] = WorkerDiedError,
    ) -> None:
        """Run a module, and send it what `charge` returns before everything else.

        Args:
            module: Its name.
            charge: Called whenever a process is started.
            died: What a question fails with when the process is gone, in place of the usual.
        """
        self._module, self._charge, self._died = module, charge, died
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self._closed = Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=module.rpartition(".")[2])

    @property
    def pid(self) -> int | None:
        """The number of the process, if one was started."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process now: the first answer comes sooner."""
        self._thread.submit(self._connected)

    def ask(self, question: object) -> "Future[Any]":
        """Return a future of the answer; it fails with what the process raised."""
        return self._thread.submit(self._ask, question)

    def finish(self) -> None:
        """Answer what was asked, and nothing more."""
        self._thread.submit(self._dismiss)
        self._thread.shutdown(wait=False)

    def close(self) -> None:
        """Answer nothing more; what is under way fails."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._dismiss()

    def _ask(self, question: object) -> Any:
        try:
            line = self._connected()
            line.send(question)
            succeeded, answer = line.recv()
        except (EOFError, OSError) as error:
            raise self._died(f"the process is gone: {self._ending()}") from error
        if not succeeded:
            raise answer
        return answer

    def _connected(self) -> Connection:
        """Return the line to the process, which is started if there is none."""
        if self._line is not None:
            return self._line
        if self._closed.is_set():
            raise EOFError
        ours, theirs = Pipe()
        with theirs:
            # A session of its own: Ctrl-C is for us.
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(theirs.fileno())],
                env=os.environ | ONE_THREAD,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        if (
            self._closed.is_set()
        ):  # meanwhile, by another thread, which may have seen no process to end
            ours.close()
            self._dismiss()
            raise EOFError
        ours.send(self._charge())
        self._line = ours
        return ours

    def _dismiss(self) -> None:
        self._closed.set()
        if self._process is not None:
            self._process.kill()
            self._process.wait(_PATIENCE_S)

    def _ending(self) -> str:
        """Clear away a process that no longer answers; return how it ended."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._closed.is_set():
            return "it was told to end"
        if self._process is None:
            return "it could not be started"
        self._process.kill()
        code = self._process.wait(_PATIENCE_S)
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


def serve(prepare: Callable[[Any], Callable[[Any], object]]) -> None:
    """Answer questions in the process of a `WorkerProcess`, until that is gone.

    Args:
        prepare: Handed what the process is charged with; returns what answers a question, or raises
            why it cannot.
    """
    _step_back()
    line = Connection(int(sys.argv[1]))
    try:
        answer = prepare(line.recv())
        while True:
            _send(line, *_answered(answer, line.recv()))
    except (EOFError, OSError):
        return


def _answered(answer: Callable[[Any], object], question: object) -> tuple[bool, object]:
    try:
        return True, answer(question)
    except Exception as error:
        return False, error


def _send(line: Connection, succeeded: bool, answer: object) -> None:
    try:
        line.send((succeeded, answer))
    except (pickle.PicklingError, TypeError, AttributeError):  # as of exceptions of some libraries
        line.send((False, RuntimeError(f"{type(answer).__name__}: {answer}")))


def _step_back() -> None:
    """Leave the processor to those who simulate; a real-time priority may have been inherited."""
    if hasattr(os, "sched_setscheduler"):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(_NICE)
