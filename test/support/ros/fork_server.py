"""Starts programs by forking a process that has already imported their modules.

Imports take most of the start time of a program, and the tests start hundreds of programs. A
forked program equals one started by Python, except that all share the hash seed. Programs that
still run when the tests end, in any way, are killed.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_IMPORTS = "mujoco_ros.cli.sim", "mujoco_ros.bridge.node", "mujoco_ros.cli.node_process"
# The simulator sets it before these imports.
_ENVIRONMENT = {"MUJOCO_GL": "off"}
_MAX_REQUEST = 1 << 20  # bytes


class ForkedProcess:
    """A forked program with the methods of `subprocess.Popen` that tests need."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._read_status(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code."""
        code = self._read_status(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout: float | None) -> int | None:
        if self.returncode is not None:
            return self.returncode
        poll = select.poll()
        poll.register(self._status)
        if poll.poll(None if timeout is None else 1e3 * timeout):
            reported = os.read(self._status, 16)
            os.close(self._status)
            assert reported, "the fork server has died"
            self.returncode = int(reported)
        return self.returncode


class ForkServer:
    """A process that has imported the simulator and forks for each program."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                # Unbuffered, so that output is visible at once.
                [sys.executable, "-u", __file__, str(theirs.fileno())],
                cwd=ROOT,
                env=os.environ | _ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def fork(
        self,
        program: str,
        *arguments: str,
        env: Mapping[str, str],
        stdout: int,
        stderr: int | None = None,
    ) -> ForkedProcess:
        """Start a program in its own session.

        Args:
            program: A module, as for ``python -m``, or the path of a script.
            arguments: Arguments of its command line.
            env: Its complete environment.
            stdout: Descriptor of a file.
            stderr: Descriptor of another file; by default the same.
        """
        status, theirs = os.pipe()
        request = json.dumps([program, arguments, dict(env)]).encode()
        files = [stdout, stdout if stderr is None else stderr, theirs]
        socket.send_fds(self._control, [request], files)
        os.close(theirs)
        pid = self._control.recv(16)
        assert pid, "the fork server has died"
        return ForkedProcess(int(pid), status)

    def close(self) -> None:
        self._control.close()
        self._process.wait()


@functools.cache
def fork_server() -> ForkServer:
    """Return the fork server of this process."""
    made = ForkServer()
    atexit.register(made.close)
    return made


def _serve(control: socket.socket) -> list[str]:
    """Fork for each request; return only in the child, with the program and its arguments."""
    running: dict[int, tuple[int, int]] = {}  # by pidfd: pid, and pipe of its exit code
    # A connection error instead of an empty request: the tests were killed.
    with contextlib.suppress(ConnectionError):
        while True:
            for ready in select.select([control, *running], [], [])[0]:
                if ready is not control:
                    pid, status = running.pop(ready)
                    _, how = os.waitpid(pid, 0)
                    os.write(status, str(os.waitstatus_to_exitcode(how)).encode())
                    os.close(status)
                    os.close(ready)
                    continue
                request, descriptors, _, _ = socket.recv_fds(control, _MAX_REQUEST, 3)
                if not request:
                    raise ConnectionAbortedError
                pid = os.fork()
                if pid == 0:
                    program, arguments, environment = json.loads(request)
                    _become(environment, *descriptors[:2])
                    return [program, *arguments]
                os.close(descriptors[0])
                os.close(descriptors[1])
                running[os.pidfd_open(pid)] = (pid, descriptors[2])
                control.send(str(pid).encode())
    for pidfd, (pid, _) in running.items():
        with contextlib.suppress(ProcessLookupError):  # not yet in its own session
            os.killpg(pid, signal.SIGKILL)  # with its child processes
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.waitpid(pid, 0)
    os._exit(0)


def _become(environment: Mapping[str, str], stdout: int, stderr: int) -> None:
    """Set up the session, files, environment and signals of the child."""
    os.setsid()
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(environment)
    if folders := environment.get("PYTHONPATH"):  # as at the start of an interpreter
        sys.path[1:1] = folders.split(os.pathsep)
        importlib.invalidate_caches()
        sys.modules.pop("sitecustomize", None)
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module("sitecustomize")
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[0] = str(ROOT)
    for name in _IMPORTS:
        importlib.import_module(name)
    gc.collect()
    sys.argv = _serve(socket.socket(fileno=int(sys.argv[1])))
    program = sys.argv[0]
    if program.endswith(".py"):
        sys.path[0] = str(Path(program).parent)
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
