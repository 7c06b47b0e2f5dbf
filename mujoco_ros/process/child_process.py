"""Start and end of child processes, and the program that they run.

``python -m mujoco_ros.process.child_process PARENT MODULE ARGUMENTS…``
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from mujoco_ros.process.fork_server import ForkedProcess, end_with, server

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment variables by which numerical libraries compute in one thread.

The last digits of products and solutions from about 100 × 100 on depend on the number of threads.
Robot-sized matrices gain nothing from threads, and idle threads of a pool delay the simulator.
"""
CANNOT_RUN_HERE = 3
"""Exit code of a process that would end in the same way after a restart."""
_PROGRAM = "mujoco_ros.process.child_process"
_KILL_TIMEOUT_S = 5.0
_NICE = 5
_PLUGINS = "MUJOCO_ROS_PLUGINS"
"""Variable with the engine plugins that the parent loaded; without them, MuJoCo would crash when
this process reads the parent's models."""
_EXTRAS, _PLUGIN_LOADER = "mujoco_ros.extras", "mujoco_ros.model.scene.engine_plugins"
_STDERR = 2
_SIZE = struct.Struct("I")
_SIGNALS = {number.value: number.name for number in signal.Signals}
Process: TypeAlias = "subprocess.Popen[bytes] | ForkedProcess"


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs ``main(arguments)`` of a module in a child process.

    The child has a lower priority than this process and is killed when this process ends. The
    working folder is not on its module path: files there may be named like modules.
    """
    return [sys.executable, "-P", "-m", _PROGRAM, str(os.getpid()), module, *arguments]


def start(
    command: Sequence[str],
    *,
    stderr: int | None = None,
    pass_fds: Sequence[int] = (),
    variables: Mapping[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a child process that Ctrl-C in the terminal does not reach.

    The kernel kills a child of `python_command` when the *thread* that started it ends. `variables`
    are environment variables that the child does not inherit.
    """
    # A child inherits the blocked signals, so it is safe from its first instruction.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        return subprocess.Popen(
            command,
            env=_environment() | dict(variables or {}),
            stdin=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=pass_fds,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def start_program(
    module: str, *arguments: str, pass_fds: Sequence[int] = ()
) -> "subprocess.Popen[bytes]":
    """Start a child as `python_command` describes it, whose standard error is a pipe."""
    command = python_command(module, *arguments)
    return start(command, stderr=subprocess.PIPE, pass_fds=pass_fds)


def fork(module: str, *arguments: str, connection: int) -> Process:
    """Start a child as `start_program`, but as a fork of the fork server if there is one.

    It gets the argument ``--connection`` with the number that an open file has in the child.
    """
    passed = ["--connection", str(connection)]
    forks = server()
    if forks is None:
        return start_program(module, *passed, *arguments, pass_fds=[connection])
    ours, theirs = socket.socketpair()
    output, error = os.pipe()
    try:
        with ours, theirs:
            process = forks.fork(__name__, theirs.fileno())
            variables = (f"{name}={value}" for name, value in os.environ.items())
            words = [module, str(len(arguments)), *arguments, *variables]
            program = os.fsencode("\0".join(words))
            socket.send_fds(ours, [_SIZE.pack(len(program))], [error, connection])
            ours.sendall(program)
    except OSError:  # the server was killed
        os.close(output)
        return start_program(module, *passed, *arguments, pass_fds=[connection])
    finally:
        os.close(error)
    process.stderr = os.fdopen(output, "rb", buffering=0)
    return process


def end(process: Process, timeout_s: float = 0.0) -> int | None:
    """Await a process's end, and kill it at the timeout; None if it hangs in a kernel driver."""
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
    with suppress(subprocess.TimeoutExpired):
        return process.wait(_KILL_TIMEOUT_S)
    return None


def exit_reason(code: int | None) -> str:
    """Describe an exit code as `end` returns it: ``exit code 1`` or ``SIGKILL``."""
    if code is None:
        return "hangs in the kernel"
    return f"exit code {code}" if code >= 0 else _SIGNALS.get(-code, f"signal {-code}")


def _environment() -> dict[str, str]:
    package = str(Path(__file__).resolve().parents[2])
    if package == sysconfig.get_path("purelib"):
        return dict(os.environ)
    path = filter(None, (os.environ.get("PYTHONPATH"), package))
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)}


def main(arguments: Sequence[str]) -> int:
    """Run a module in a fork of the fork server, from which it inherits nothing but imports."""
    with socket.socket(fileno=int(arguments[0])) as control:
        size, (error, connection), _, _ = socket.recv_fds(control, _SIZE.size, 2)
        (length,) = _SIZE.unpack(size)
        program = control.recv(length, socket.MSG_WAITALL)
    os.dup2(error, _STDERR)
    os.close(error)
    module, count, *words = os.fsdecode(program).split("\0")
    own, variables = words[: int(count)], words[int(count) :]
    os.environ.clear()
    for variable in variables:
        name, _, value = variable.partition("=")
        os.environ[name] = value
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    Path("/proc/self/comm").write_text(module.rpartition(".")[2], encoding="ascii")
    return _run(module, ["--connection", str(connection), *own])


def _main() -> int:
    """Tie this process to its parent, then run ``main`` of a module; return the exit code."""
    parent, module, *arguments = sys.argv[1:]
    end_with(int(parent))
    return _run(module, arguments)


def _run(module: str, arguments: Sequence[str]) -> int:
    # The parent's real-time priority may be inherited.
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(_NICE)
    # The parent may end during this import, which takes long: so it comes last.
    try:
        run = import_module(module).main
        if os.environ.get(_PLUGINS):
            import_module(_PLUGIN_LOADER).load_inherited()
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] == "mujoco_ros":
            raise  # incomplete installation of this package
        sys.stderr.write(f"{import_module(_EXTRAS).missing_module(missing)}, and start again\n")
        return CANNOT_RUN_HERE
    code: int = run(arguments)
    return code


if __name__ == "__main__":
    sys.exit(_main())
