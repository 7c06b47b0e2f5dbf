"""A copy of this process, made before it has threads, that forks worker processes at once.

A new interpreter would import the same modules again: a second of processor time, which takes half
a minute on a busy machine, and memory that a copy shares.
"""

import ctypes
import gc
import logging
import os
import signal
import socket
import subprocess
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from threading import Lock
from typing import IO, NoReturn

_LOG = logging.getLogger(__name__)
_SET_PARENT_DEATH_SIGNAL, _SET_NAME = 1, 15
_prctl = ctypes.CDLL(None).prctl  # found now: a thread may hold the loader's lock at a fork
_SUPERVISOR = "fork_supervisor"
_MODULE_BYTES = 256
_STANDARD_STREAMS = 3
_DESCRIPTORS = 2
"""A request has the descriptor for the worker, and the pipe for its process id and exit code."""


class ForkedProcess:
    """A process that a server has forked, with the methods of `subprocess.Popen` for its end."""

    def __init__(self, pid: int, status: Connection) -> None:
        """Follow a process; `status` will receive its exit code."""
        self.pid = pid  # its id
        # Its exit code, negative for a signal; None while it runs
        self.returncode: int | None = None
        self.stderr: IO[bytes] | None = None  # its standard error, if that is a pipe
        self._status, self._lock = status, Lock()

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self._code(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code; subprocess.TimeoutExpired after the timeout [s]."""
        code = self._code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def terminate(self) -> None:
        """Request its end, unless it has ended."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End it, unless it has ended."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _code(self, timeout: float | None) -> int | None:
        if self.returncode is None and self._status.poll(timeout):
            with self._lock:
                if self.returncode is None:
                    try:
                        self.returncode = self._status.recv()
                    except (EOFError, OSError):  # the server was killed, and its forks with it
                        self.returncode = -signal.SIGKILL
        return self.returncode


class ForkServer:
    """A copy of this process that waits for requests; it ends with this process."""

    def __init__(self) -> None:
        """Fork it; this process must not have started threads of its own."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        with theirs:
            try:
                self.pid = os.fork()
            except OSError:
                self._control.close()
                raise
            if self.pid == 0:
                self._control.close()
                _serve(theirs, parent)

    def fork(self, module: str, descriptor: int) -> ForkedProcess:
        """Start a process that runs ``main([descriptor])`` of a module, with that open file."""
        status, theirs = Pipe(duplex=False)
        with theirs:
            socket.send_fds(self._control, [module.encode()], [descriptor, theirs.fileno()])
        try:
            return ForkedProcess(status.recv(), status)
        except EOFError:
            raise ChildProcessError("the fork server has ended, or cannot fork") from None

    def close(self) -> None:
        """End it and its forks."""
        self._control.shutdown(socket.SHUT_RDWR)  # also for copies of this process that have it
        self._control.close()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


_servers: list[ForkServer] = []


@contextmanager
def serving() -> Iterator[None]:
    """Have a server in the block, which begins after the imports and before threads start.

    Where the server cannot be forked, workers are new interpreters, with a warning.
    """
    try:
        server = ForkServer()
    except OSError as error:
        _LOG.warning("worker processes will start slowly: no fork server: %s", error.strerror)
        yield
        return
    _servers.append(server)
    try:
        yield
    finally:
        _servers.remove(server)
        server.close()


def server() -> ForkServer | None:
    """Return the server of this process, if there is one."""
    return _servers[0] if _servers else None


def _serve(control: socket.socket, parent: int) -> NoReturn:
    """Fork for each request until the parent ends."""
    try:
        _follow(parent, __name__)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for the forks
        gc.disable()
        gc.freeze()  # a collection of the forks would copy all pages
        own = os.getpid()
        while True:
            module, files, _, _ = socket.recv_fds(control, _MODULE_BYTES, _DESCRIPTORS)
            if not module:  # the other end is closed
                break
            # The kernel drops descriptors for which there is no place.
            with suppress(OSError):
                if len(files) == _DESCRIPTORS and os.fork() == 0:
                    _supervise(module.decode(), files[0], files[1], own)
            for file in files:  # if nothing was forked, the closed pipe tells the client
                os.close(file)
    finally:
        os._exit(0)


def _supervise(module: str, descriptor: int, status: int, parent: int) -> NoReturn:
    """Run a module in a fork of this process; report its process id and its exit code."""
    try:
        _follow(parent, _SUPERVISOR)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        own, report = os.getpid(), Connection(status, readable=False)
        pid = os.fork()
        if pid == 0:
            _run(module, descriptor, own)
        os.close(descriptor)
        report.send(pid)
        report.send(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    finally:
        os._exit(0)


def _run(module: str, descriptor: int, parent: int) -> NoReturn:
    code = 1
    try:
        _follow(parent, module)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(_STANDARD_STREAMS, descriptor)
        os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
        gc.enable()
        code = import_module(module).main([str(descriptor)])
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _follow(parent: int, module: str) -> None:
    """Name this process after a module, and end it with its parent."""
    _prctl(_SET_NAME, module.rpartition(".")[2].encode())
    end_with(parent)


def end_with(parent: int) -> None:
    """Have the kernel end this process with the thread that started it, even while it hangs."""
    _prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(0)  # the parent ended before the line above
