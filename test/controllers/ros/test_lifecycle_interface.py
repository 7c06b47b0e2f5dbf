"""The lifecycle interface of a machine, without a client."""

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from lifecycle_msgs import msg, srv
from rclpy.node import Node
from sample_states import controller
from scripted_states import ROBOT, seen

from mujoco_ros.controllers.ros.lifecycle_interface import LifecycleInterface
from mujoco_ros.controllers.runtime.supervisor import SupervisedController

TABLE = """
rate: 100
initial: IDLE
states:
  IDLE: {class: Hold}
  WORK: {class: Wait, duration: 0.0}
  REST: {class: Wait, duration: 0.0}
  BOTH:
    parallel:
      LEFT:
        machine:
          initial: A
          states: {A: {class: Wait, duration: 0.0}, B: {class: Hold, outcome: ok}}
          transitions: {A: {done: B}}
      RIGHT: {class: Wait, duration: 100.0}
    join: [{when: {LEFT: ok, RIGHT: done}, outcome: over}]
transitions:
  IDLE: {go: {to: WORK, trigger: request}, both: {to: BOTH, trigger: request}}
  WORK: {done: {to: REST, trigger: strict}}
  REST: {done: {to: IDLE, trigger: strict}}
  BOTH: {over: IDLE}
"""


class Made:
    """An interface whose publications are recorded, and whose executor is the test."""

    def __init__(self, node: Node) -> None:
        self.time = 0.0
        self.supervised = SupervisedController(controller(TABLE), lambda: self.time)
        self.supervised.configure(ROBOT)
        self.sent: dict[str, list[Any]] = {}
        self.log: list[str] = []
        endpoints = SimpleNamespace(node=node, publisher=self._publisher)
        self.interface = LifecycleInterface(endpoints, self.supervised, _at_once, ("waiting",))
        self.interface._logger = SimpleNamespace(
            info=self.log.append, warning=self.log.append, debug=lambda _text: None
        )

    def _publisher(self, _kind: Any, topic: str, _qos: Any) -> Any:
        return SimpleNamespace(publish=self.sent.setdefault(topic, []).append)

    def tick(self) -> str:
        self.time += 0.01
        self.supervised.step(seen(), self.time)
        return self.supervised.state

    def change(self, label: str = "", number: int = 0) -> bool:
        answer = _Answer()
        wanted = msg.Transition(id=number, label=label)
        self.interface._change_state(srv.ChangeState.Request(transition=wanted), answer)
        return bool(answer.response.success)

    def published(self) -> list[tuple[float, int, str, str, str]]:
        """Run the executor, and return the published events."""
        self.interface._publish_events()
        events = self.sent["~/transition_event"]
        listed = [
            (e.timestamp * 1e-9, e.transition.id, e.transition.label, *_places(e)) for e in events
        ]
        events.clear()
        return listed


class _Answer:
    def __init__(self) -> None:
        self.response = srv.ChangeState.Response()

    def __call__(self) -> None:
        pass


def _places(event: msg.TransitionEvent) -> tuple[str, str]:
    return event.start_state.label, event.goal_state.label


def _at_once(call: Callable[[], Any]) -> "Future[Any]":
    future: Future[Any] = Future()
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    return future


@pytest.fixture
def made(ros_node: Node) -> Made:
    return Made(ros_node)


def test_a_number_is_the_transition_of_one_state_only(made):
    ids = {(it.start, it.label): it.id for it in made.supervised.machine.transitions}
    made.tick()
    assert made.change("go")
    assert made.tick() == "WORK"
    assert not made.change(number=ids["REST", "done"])
    assert made.change(number=ids["WORK", "done"])
    assert made.tick() == "REST"
    assert not made.change(number=ids["WORK", "done"])
    assert made.log == [
        f"rejected: 'transition {ids[start, 'done']}' is not available in {state}; available: done"
        for start, state in (("REST", "WORK"), ("WORK", "REST"))
    ]


def test_no_transition_is_available_before_the_first_tick(made):
    assert not made.change("go")
    (line,) = made.log
    assert line.endswith("in IDLE; available: none before the first tick")


def test_all_events_between_two_runs_of_the_executor_are_published_in_order(made):
    made.tick()
    made.change("go")
    made.tick()
    made.supervised.stop("enough")
    made.time = 0.5
    made.supervised.reset()
    made.supervised.pause("waiting")
    made.supervised.resume()
    assert made.published() == [
        (pytest.approx(0.02), 1, "go", "IDLE", "WORK"),
        (pytest.approx(0.02), 0, "error", "WORK", "error"),
        (pytest.approx(0.5), 0, "reset", "error", "IDLE"),
        (pytest.approx(0.5), 0, "waiting", "IDLE", "waiting"),
        (pytest.approx(0.5), 0, "resume", "waiting", "IDLE"),
    ]
    assert [it.data for it in made.sent["~/state"]] == [
        *("IDLE", "WORK", "error", "IDLE", "waiting", "IDLE")
    ]
    assert [it.data for it in made.sent["~/reason"]] == ["", "requested", "enough", "", "", ""]


def test_a_transition_in_a_branch_is_published_without_a_change_of_the_state(made):
    made.tick()
    made.change("both")
    while made.tick() != "BOTH" or made.time < 0.1:
        pass
    published = made.published()
    assert [(start, goal) for _, _, _, start, goal in published] == [
        ("IDLE", "BOTH"),
        ("BOTH/LEFT/A", "BOTH/LEFT/B"),
    ]
    assert [it.data for it in made.sent["~/state"]] == ["IDLE", "BOTH"]


def test_a_burst_of_rejected_requests_is_limited_in_the_log(made):
    made.tick()
    assert not any(made.change("sing") for _ in range(200))
    assert len(made.log) == 10


def test_lost_events_are_logged(made):
    for _ in range(10_001):
        made.supervised.pause("waiting")
        made.supervised.resume()
    assert len(made.published()) == 10_000
    assert made.log[0] == "transition_event: the executor was too slow, and events were lost"
