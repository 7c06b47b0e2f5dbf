"""Answers that take long."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from simulation_interfaces.msg import Result

from mujoco_ros.bridge.simulation_interfaces.entities.background import BackgroundWorker
from mujoco_ros.bridge.simulation_interfaces.rejection import RequestRejectedError, failed


class Noted:
    """An answer that is given to nobody."""

    def __init__(self) -> None:
        self.response: Any = SimpleNamespace(result=Result())
        self.given = threading.Event()

    def __call__(self) -> None:
        self.given.set()

    @property
    def result(self) -> tuple[int, str]:
        assert self.given.wait(10.0)
        return self.response.result.result, self.response.result.error_message


def test_jobs_are_done_one_after_the_other_and_answered():
    background, done = BackgroundWorker(), []
    answers = [Noted() for _ in range(5)]
    for number, answer in enumerate(answers):
        background.answer(answer, lambda number=number: done.append(number))
    assert [answer.result for answer in answers] == [(Result.RESULT_OK, "")] * 5
    assert done == [0, 1, 2, 3, 4]


def test_what_a_job_refuses_or_fails_at_is_told_and_the_next_is_done():
    def refuse() -> None:
        raise failed("no such luck")

    def fail() -> None:
        raise KeyError("x")

    background, answers = BackgroundWorker(), [Noted() for _ in range(3)]
    for answer, job in zip(answers, (refuse, fail, lambda: None), strict=True):
        background.answer(answer, job)
    assert [answer.result for answer in answers] == [
        (Result.RESULT_OPERATION_FAILED, "no such luck"),
        (Result.RESULT_OPERATION_FAILED, "KeyError('x')"),
        (Result.RESULT_OK, ""),
    ]


def test_too_many_jobs_are_refused_at_once():
    background, go = BackgroundWorker(), threading.Event()

    def flood() -> None:
        for _ in range(40):
            background.answer(Noted(), go.wait)

    with pytest.raises(RequestRejectedError, match="busy: 32 requests"):
        flood()
    go.set()
