"""Requests that are handled in a separate thread."""

import threading
from typing import Any

import pytest
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import GetSpawnables
from threads import RecordingResponder

from mujoco_ros.bridge.simulation_interfaces.interfaces import BackgroundWorker
from mujoco_ros.rclpy_ext.service import RequestRejectedError


class Awaited(RecordingResponder):
    """A responder that can wait for its response."""

    def __init__(self) -> None:
        self._done = threading.Event()
        super().__init__(GetSpawnables.Response())

    def _keep(self, response: Any, header: object) -> None:
        super()._keep(response, header)
        self._done.set()

    @property
    def result(self) -> tuple[int, str]:
        assert self._done.wait(10.0)
        return super().result


def test_requests_are_handled_one_after_the_other():
    background, done = BackgroundWorker(), []
    responders = [Awaited() for _ in range(5)]
    for number, responder in enumerate(responders):
        background.run(responder, lambda number=number: done.append(number))
    assert [responder.result for responder in responders] == [(Result.RESULT_OK, "")] * 5
    assert done == [0, 1, 2, 3, 4]


def test_a_request_that_is_rejected_or_fails_does_not_stop_the_next():
    def reject() -> None:
        raise RequestRejectedError("no such luck")

    def fail() -> None:
        raise KeyError("x")

    background, responders = BackgroundWorker(), [Awaited() for _ in range(3)]
    for responder, fill in zip(responders, (reject, fail, lambda: None), strict=True):
        background.run(responder, fill)
    assert [responder.result for responder in responders] == [
        (Result.RESULT_OPERATION_FAILED, "no such luck"),
        (Result.RESULT_OPERATION_FAILED, "KeyError('x')"),
        (Result.RESULT_OK, ""),
    ]


def test_too_many_requests_are_rejected_at_once():
    background, go = BackgroundWorker(), threading.Event()

    def flood() -> None:
        for _ in range(40):
            background.run(Awaited(), go.wait)

    with pytest.raises(RequestRejectedError, match="busy: 32 requests"):
        flood()
    go.set()
