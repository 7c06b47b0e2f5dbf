"""A process that answers questions."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from mujoco_ros.process.worker_process import WorkerDiedError, WorkerProcess

PATIENCE_S = 60.0
MODULE = """
import os
from mujoco_ros.process.worker_process import serve

class Own(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")

def prepare(charge):
    def answer(question):
        if question == "nice":
            return os.nice(0)
        if question == "lambda":
            return lambda: None
        if question == "die":
            os._exit(3)
        return f"{charge} {int(question)}"
    return answer

serve(prepare)
"""


@pytest.fixture
def servant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "echo_process.py").write_text(MODULE)
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{root}")
    servant = WorkerProcess("echo_process", lambda: "charge")
    yield servant
    servant.close()


def test_it_answers_in_turn_with_what_there_is_or_why_there_is_nothing(servant):
    answers = [servant.ask(question) for question in ("1", "two", "lambda", "nice", "5")]
    assert answers[0].result(PATIENCE_S) == "charge 1"
    with pytest.raises(ValueError, match="'two'"):
        answers[1].result()
    with pytest.raises(RuntimeError, match="function"):
        answers[2].result(PATIENCE_S)
    assert answers[3].result(PATIENCE_S) >= 5, "it leaves the processor to others"
    assert answers[4].result(PATIENCE_S) == "charge 5"


def test_one_that_died_fails_its_question_and_is_replaced(servant):
    with pytest.raises(WorkerDiedError, match="exit code 3"):
        servant.ask("die").result(PATIENCE_S)
    first = servant.pid
    assert servant.ask("7").result(PATIENCE_S) == "charge 7"
    assert servant.pid != first


def test_one_that_finishes_answers_what_it_was_asked(servant):
    answer = servant.ask("8")
    servant.finish()
    assert answer.result(PATIENCE_S) == "charge 8"
    end = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{servant.pid}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{servant.pid}").exists()


def test_one_that_is_closed_while_it_starts_does_not_stay(servant, monkeypatch):
    begin = subprocess.Popen

    def interrupted(*arguments, **options):
        servant.close()
        return begin(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(WorkerDiedError, match="told to end"):
        servant.ask("1").result(PATIENCE_S)
    assert not Path(f"/proc/{servant.pid}").exists()


def test_one_that_is_closed_fails_what_is_under_way(servant):
    assert servant.ask("1").result(PATIENCE_S)
    os.kill(servant.pid, signal.SIGSTOP)  # so that it certainly has no answer
    answer = servant.ask("2")
    while not answer.running():
        time.sleep(0.01)
    servant.close()
    with pytest.raises(WorkerDiedError, match="told to end"):
        answer.result(PATIENCE_S)
