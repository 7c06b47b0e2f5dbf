"""Requests with a response, a repetition or a timeout."""

import time
from types import SimpleNamespace

import pytest
from rclpy.task import Future

from mujoco_ros.wire.service_caller import TIMEOUT_S, ServiceCaller


class Deaf:
    """A client of an available service whose responses are lost until a test sends one."""

    def __init__(self, name: str = "get") -> None:
        self.srv_name = name
        self.sent: list[Future] = []
        self.removed: list[Future] = []

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, _request) -> Future:
        self.sent.append(Future())
        return self.sent[-1]

    def remove_pending_request(self, future: Future) -> None:
        self.removed.append(future)


@pytest.fixture
def client() -> Deaf:
    return Deaf()


def asker(client: Deaf) -> ServiceCaller:
    return ServiceCaller(SimpleNamespace(create_client=lambda *_, **__: client))


def test_an_idempotent_request_is_repeated_and_the_first_response_counts(client):
    answers: list[str] = []
    clerk, begin = asker(client), time.monotonic()
    clerk.call(None, "get", "?", answers.append, retry=True)
    for later in (0.5, 1.5, 1.6, 3.0):
        clerk.tick(begin + later)
    assert len(client.sent) == 3
    client.sent[1].set_result("!")
    assert answers == ["!"]
    assert client.removed == [client.sent[0], client.sent[2]]
    clerk.tick(begin + 10.0)
    assert len(client.sent) == 3


def test_another_request_times_out(client):
    reasons: list[str] = []
    clerk, begin = asker(client), time.monotonic()
    clerk.call(None, "get", "?", reasons.append, reasons.append)
    clerk.tick(begin + TIMEOUT_S - 0.5)
    assert (len(client.sent), reasons) == (1, [])
    clerk.tick(begin + TIMEOUT_S + 0.5)
    assert reasons == ["get does not answer"]
    assert client.removed == client.sent


@pytest.mark.parametrize(
    ("forgotten", "gone"),
    [
        ("/arm/open", ["/arm/open"]),
        ("/arm/", ["/arm/open", "/arm/open_gripper"]),
        ("/arm/absent", []),
    ],
)
def test_a_service_is_forgotten_by_its_whole_name_or_those_of_a_namespace(forgotten, gone):
    failed: list[str] = []
    destroyed: list[str] = []
    node = SimpleNamespace(
        create_client=lambda _kind, name, **_: Deaf(name),
        destroy_client=lambda client: destroyed.append(client.srv_name),
    )
    caller = ServiceCaller(node)
    for name in ("/arm/open", "/arm/open_gripper", "/arms/open"):
        caller.call(None, name, "?", pytest.fail, lambda _reason, name=name: failed.append(name))
    caller.forget(forgotten)
    assert failed == destroyed == gone
