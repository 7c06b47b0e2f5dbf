"""A machine's contract with those who ask, without anybody who does."""

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from hosted import controller
from lifecycle_msgs import msg, srv
from rclpy.node import Node
from scripted import ROBOT, seen

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
    """A contract whose publications are kept, and whose executor is the test."""

    def __init__(self, node: Node) -> None:
        self.runner = SupervisedController(controller(TABLE))
        self.runner.configure(ROBOT)
        self.sent: dict[str, list[Any]] = {}
        self.log: list[str] = []
        self.time = 0.0
        endpoints = SimpleNamespace(node=node, publisher=self._publisher)
        self.contract = LifecycleInterface(
            endpoints, self.runner, _at_once, lambda: self.time, ("waiting",)
        )
        self.contract._log = SimpleNamespace(
            info=self.log.append, warning=self.log.append, debug=lambda _text: None
        )

    def _publisher(self, _kind: Any, topic: str, _qos: Any) -> Any:
        return SimpleNamespace(publish=self.sent.setdefault(topic, []).append)

    def tick(self) -> str:
        self.time += 0.01
        self.runner.step(seen(), self.time)
        return self.runner.state

    def change(self, label: str = "", number: int = 0) -> bool:
        answer = _Answer()
        wanted = msg.Transition(id=number, label=label)
        self.contract._change(srv.ChangeState.Request(transition=wanted), answer)
        return bool(answer.response.success)

    def told(self) -> list[tuple[float, int, str, str, str]]:
        """Have the executor tell, and return what it told."""
        self.contract._tell()
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


def test_a_number_is_a_transition_of_one_state_and_not_of_another_with_its_label(made):
    ids = {(it.start, it.label): it.id for it in made.runner.controller.machine.transitions}
    made.tick()
    assert made.change("go")
    assert made.tick() == "WORK"
    assert not made.change(number=ids["REST", "done"])
    assert made.change(number=ids["WORK", "done"])
    assert made.tick() == "REST"
    assert not made.change(number=ids["WORK", "done"])
    assert made.log == [
        f"refused: 'transition {ids[start, 'done']}' is not available in {state}; available: done"
        for start, state in (("REST", "WORK"), ("WORK", "REST"))
    ]


def test_before_the_first_tick_nothing_can_be_asked_for_and_that_is_why(made):
    assert not made.change("go")
    (line,) = made.log
    assert line.endswith("in IDLE; available: nothing before the next tick, at which it begins")


def test_all_that_happens_between_two_turns_of_the_executor_is_told_in_order(made):
    made.tick()
    made.change("go")
    made.tick()
    made.runner.stop("enough")
    made.time = 0.5
    made.runner.reset()
    made.runner.pause("waiting")
    made.runner.go_on()
    assert made.told() == [
        (pytest.approx(0.02), 1, "go", "IDLE", "WORK"),
        (pytest.approx(0.02), 0, "error", "WORK", "error"),
        (pytest.approx(0.5), 0, "reset", "error", "IDLE"),
        (pytest.approx(0.5), 0, "waiting", "IDLE", "waiting"),
        (pytest.approx(0.5), 0, "go_on", "waiting", "IDLE"),
    ]
    assert [it.data for it in made.sent["~/state"]] == [
        *("IDLE", "WORK", "error", "IDLE", "waiting", "IDLE")
    ]


def test_what_happens_in_a_branch_is_told_and_is_no_change_of_the_state(made):
    made.tick()
    made.change("both")
    while made.tick() != "BOTH" or made.time < 0.1:
        pass
    told = made.told()
    assert [(start, goal) for _, _, _, start, goal in told] == [
        ("IDLE", "BOTH"),
        ("BOTH/LEFT/A", "BOTH/LEFT/B"),
    ]
    assert [it.data for it in made.sent["~/state"]] == ["IDLE", "BOTH"]


def test_a_flood_of_wrong_requests_is_no_flood_of_lines(made):
    made.tick()
    assert not any(made.change("sing") for _ in range(200))
    assert len(made.log) == 10
