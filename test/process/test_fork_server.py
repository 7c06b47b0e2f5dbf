"""Processes that a copy of this one forks."""

import errno
import os
import resource
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

import pytest

from mujoco_ros.process import fork_server
from mujoco_ros.process.fork_server import ForkServer
from mujoco_ros.process.limits import WorkerDiedError, WorkerLimits, used_memory
from mujoco_ros.process.worker_process import WorkerProcess, _Setup

MODULE = """
import os, time
from mujoco_ros.process.worker_process import serve
kept = []

def keep(size):
    kept.append(bytearray(b"x") * size)
    return os.getpid()

def main(arguments):
    return serve(arguments, lambda _setup: keep)
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    """A server that finds the module above."""
    (tmp_path / "forked_worker.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(fork_server, "_servers", [])
    with fork_server.serving():
        made = fork_server.server()
        assert made is not None
        yield made
    assert fork_server.server() is None
    assert has_ended(str(made.pid))


@pytest.fixture
def worker(server: ForkServer) -> Iterator[WorkerProcess]:
    memory = used_memory(os.getpid()) + (1 << 30)  # a fork begins with the memory of the tests
    limits = WorkerLimits(processor_s=60.0, wall_s=100.0, memory_bytes=memory)
    made = WorkerProcess("forked_worker", lambda: None, limits=limits, is_forked=True)
    yield made
    made.close()


def parent(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


def has_ended(pid: str) -> bool:
    """Return whether a process has ended; the exit code of an orphan may be uncollected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_worker_is_a_fork_that_is_named_after_its_module(server, worker) -> None:
    pid = worker.submit(1).result(100.0)
    assert pid == worker.pid
    supervisor = parent(pid)
    assert parent(supervisor) == server.pid
    assert Path(f"/proc/{supervisor}/comm").read_text() == "fork_supervisor\n"
    assert Path(f"/proc/{pid}/comm").read_text() == "forked_worker\n"
    assert worker.submit(1).result(100.0) == pid


def test_a_killed_worker_is_replaced(worker) -> None:
    first = worker.submit(1).result(100.0)
    os.kill(first, signal.SIGSTOP)
    request = worker.submit(1)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(WorkerDiedError, match="SIGKILL"):
        request.result(100.0)
    assert worker.submit(1).result(100.0) != first


def test_a_worker_whose_supervisor_is_killed_is_replaced(worker) -> None:
    first = worker.submit(1).result(100.0)
    os.kill(parent(first), signal.SIGKILL)
    while not has_ended(str(first)):
        time.sleep(0.01)
    assert worker.submit(1).result(100.0) != first


def test_a_worker_that_keeps_much_memory_is_replaced(worker) -> None:
    first = worker.submit(1).result(100.0)
    assert worker.submit(1 << 20).result(100.0) == first
    assert worker.submit(512 << 20).result(100.0) == first  # more than other tests have freed
    assert worker.submit(1).result(100.0) != first
    assert not Path(f"/proc/{first}").exists()


def test_a_worker_is_started_by_python_without_the_server(server, worker, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", sys.path[0])
    os.kill(server.pid, signal.SIGKILL)
    os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    assert parent(worker.submit(1).result(100.0)) == os.getpid()


def test_a_process_reports_its_exit_code(server) -> None:
    ours, theirs = Pipe()
    process = server.fork("no_such_module", theirs.fileno())
    assert process.wait(100.0) == process.poll() == 1
    process.kill()
    process = server.fork("forked_worker", theirs.fileno())
    theirs.close()
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    ours.close()  # the worker has no client
    assert process.wait(100.0) == 0


def test_server_and_workers_end_with_their_program(tmp_path: Path) -> None:
    (tmp_path / "forked_worker.py").write_text(MODULE)
    program = textwrap.dedent("""
        from mujoco_ros.process import fork_server
        from mujoco_ros.process.worker_process import WorkerProcess
        with fork_server.serving():
            worker = WorkerProcess("forked_worker", lambda: None, is_forked=True)
            print(fork_server.server().pid, worker.submit(1).result(), flush=True)
            input()
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        text=True,
    )
    assert process.stdout is not None
    pids = process.stdout.readline().split()
    assert len(pids) == 2
    process.kill()
    process.communicate()
    while not all(map(has_ended, pids)):
        time.sleep(0.01)


def test_a_process_that_has_ended_before_its_id_is_read_is_no_other_process(
    server, monkeypatch
) -> None:
    receive = Connection.recv

    def receive_late(connection: Connection) -> int:
        poll = select.poll()
        poll.register(connection, 0)
        poll.poll()  # until the server has reported the end and closed the pipe
        return receive(connection)

    ours, theirs = Pipe()
    monkeypatch.setattr(Connection, "recv", receive_late)
    with ours, theirs:
        process = server.fork("no_such_module", theirs.fileno())
    assert process.wait(100.0) == 1
    assert not Path(f"/proc/{process.pid}").exists()
    assert process.pid < int(Path("/proc/sys/kernel/pid_max").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def refuse() -> int:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_where_no_process_can_be_forked_the_block_runs_without_a_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(os, "fork", refuse)
    with fork_server.serving():
        assert fork_server.server() is None
    assert [it.levelname for it in caplog.records] == ["WARNING"]
    assert "Resource temporarily unavailable" in caplog.text


def test_a_server_that_cannot_fork_keeps_its_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forked_worker.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    begun, fork = set(), os.fork

    def fork_once() -> int:  # this process the server, the server what forks one worker
        if os.getpid() in begun:
            return refuse()
        begun.add(os.getpid())
        return fork()

    monkeypatch.setattr(os, "fork", fork_once)
    with fork_server.serving():
        made = fork_server.server()
        assert made is not None
        ours, theirs = Pipe()
        first = made.fork("forked_worker", theirs.fileno())
        with pytest.raises(ChildProcessError):
            made.fork("forked_worker", theirs.fileno())
        ours.send(None)
        ours.send(_Setup(None))
        ours.send(1)
        assert ours.recv() == (True, first.pid)


@pytest.mark.parametrize("free", [0, 1])
def test_a_server_without_descriptors_keeps_its_other_processes(server, worker, free) -> None:
    first = worker.submit(1).result(100.0)
    limit = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    used = {int(file.name) for file in Path(f"/proc/{server.pid}/fd").iterdir()}
    unused = [number for number in range(len(used) + 3) if number not in used]
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (unused[free], limit[1]))
    ours, theirs = Pipe()
    with ours, theirs:
        with pytest.raises(ChildProcessError, match="cannot fork"):
            server.fork("forked_worker", theirs.fileno())
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limit)
        assert worker.submit(1).result(100.0) == first
        process = server.fork("forked_worker", theirs.fileno())
    assert process.wait(100.0) == 0
