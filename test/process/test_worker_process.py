"""A worker process that answers requests."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mujoco_ros.process.limits import WorkerDiedError
from mujoco_ros.process.worker_process import WorkerProcess

TIMEOUT_S = 120.0
MODULE = """
import os
from mujoco_ros.process.worker_process import serve

def prepare(setup):
    if setup == "invalid":
        raise LookupError("invalid setup")
    def answer(request):
        if request == "nice":
            return os.nice(0)
        if request == "lambda":
            return lambda: None
        if request == "threads":
            return os.environ["OMP_NUM_THREADS"]
        if request == "die":
            os._exit(3)
        return f"{setup} {int(request)}"
    return answer

def main(arguments):
    return serve(arguments, prepare)
"""


@pytest.fixture
def start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], WorkerProcess]]:
    (tmp_path / "echo_process.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    workers: list[WorkerProcess] = []

    def begin(setup: str) -> WorkerProcess:
        workers.append(WorkerProcess("echo_process", lambda: setup))
        return workers[-1]

    yield begin
    for worker in workers:
        worker.close()


@pytest.fixture
def worker(start: Callable[[str], WorkerProcess]) -> WorkerProcess:
    return start("setup")


def test_it_answers_in_order_with_a_result_or_an_error(worker):
    answers = [worker.submit(request) for request in ("1", "two", "lambda", "nice", "5")]
    assert answers[0].result(TIMEOUT_S) == "setup 1"
    with pytest.raises(ValueError, match="'two'"):
        answers[1].result()
    with pytest.raises(RuntimeError, match="function"):
        answers[2].result(TIMEOUT_S)
    assert answers[3].result(TIMEOUT_S) >= 5, "it leaves the processor to others"
    assert answers[4].result(TIMEOUT_S) == "setup 5"


def test_another_setup_holds_for_later_requests_also_in_another_process(worker):
    before = worker.submit("1")
    worker.prepare(lambda: "another setup")
    after = worker.submit("2")
    assert before.result(TIMEOUT_S) == "setup 1"
    assert after.result(TIMEOUT_S) == "another setup 2"
    with pytest.raises(WorkerDiedError):
        worker.submit("die").result(TIMEOUT_S)
    assert worker.submit("3").result(TIMEOUT_S) == "another setup 3"
    worker.close()
    worker.prepare(lambda: "unused")


def test_an_invalid_setup_fails_each_request_and_keeps_the_process(start):
    worker = start("invalid")
    for request in ("1", "2"):
        with pytest.raises(LookupError, match="invalid setup"):
            worker.submit(request).result(TIMEOUT_S)
    assert Path(f"/proc/{worker.pid}").exists()


def test_a_worker_that_died_fails_its_request_and_is_replaced(worker):
    with pytest.raises(WorkerDiedError, match="exit code 3"):
        worker.submit("die").result(TIMEOUT_S)
    first = worker.pid
    assert worker.submit("7").result(TIMEOUT_S) == "setup 7"
    assert worker.pid != first


def test_a_request_after_an_interrupt_of_an_idle_worker_is_answered(worker, monkeypatch):
    assert worker.submit("1").result(TIMEOUT_S) == "setup 1"
    poll = worker._process.poll
    # A killed process may not have ended yet.
    monkeypatch.setattr(worker._process, "poll", lambda: None)
    worker.interrupt()
    answer = worker.submit("2")
    monkeypatch.setattr(worker._process, "poll", poll)
    assert answer.result(TIMEOUT_S) == "setup 2"


def test_a_worker_calculates_in_one_thread(worker, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert worker.submit("threads").result(TIMEOUT_S) == "1"


def test_a_worker_that_cannot_be_started_gives_the_reason(worker, monkeypatch, caplog):
    reason = "the worker process could not be started: No such file or directory"
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    worker.start()
    with pytest.raises(WorkerDiedError, match=reason):
        worker.submit("1").result(TIMEOUT_S)
    assert [it.getMessage() for it in caplog.records] == [f"echo_process: {reason}"]
    monkeypatch.undo()


def test_a_worker_that_finishes_answers_its_requests(worker):
    answer = worker.submit("8")
    worker.finish()
    assert answer.result(TIMEOUT_S) == "setup 8"
    deadline = time.monotonic() + TIMEOUT_S
    while Path(f"/proc/{worker.pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{worker.pid}").exists()


def test_a_worker_that_is_closed_during_its_start_does_not_stay(worker, monkeypatch):
    begin = subprocess.Popen

    def interrupted(*arguments, **options):
        worker.close()
        return begin(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(WorkerDiedError, match="it was closed"):
        worker.submit("1").result(TIMEOUT_S)
    assert not Path(f"/proc/{worker.pid}").exists()


def test_a_worker_that_is_closed_fails_the_request_in_progress(worker):
    assert worker.submit("1").result(TIMEOUT_S)
    os.kill(worker.pid, signal.SIGSTOP)  # so that it certainly has no answer
    answer = worker.submit("2")
    while not answer.running():
        time.sleep(0.01)
    worker.close()
    with pytest.raises(WorkerDiedError, match="it was closed"):
        answer.result(TIMEOUT_S)
