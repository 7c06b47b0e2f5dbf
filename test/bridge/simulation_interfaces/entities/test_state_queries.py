"""Questions to the physics thread."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from simulation_interfaces.msg import Result

from mujoco_ros.bridge.simulation_interfaces.entities.state_queries import StateQueries
from mujoco_ros.bridge.simulation_interfaces.rejection import failed
from mujoco_ros.sim.command_queue import CommandQueue


class Noted:
    """An answer that is given to nobody."""

    def __init__(self) -> None:
        self.response: Any = SimpleNamespace(result=Result())
        self.given = False

    def __call__(self) -> None:
        self.given = True

    def fail(self, message: str) -> None:
        self.response.result = Result(result=Result.RESULT_OPERATION_FAILED, error_message=message)
        self()


class Desk:
    """Questions, and both threads played by the test."""

    def __init__(self, limit: int = 100) -> None:
        self.commands = CommandQueue(limit)
        self.tasks: list[Callable[[], object]] = []
        self.noted = self.looked = 0
        executor = SimpleNamespace(create_task=self._later)
        self.questions = StateQueries(
            SimpleNamespace(executor=executor), self.commands, self._note, self._look
        )
        self.told: list[tuple[str, int]] = []

    def _later(self, call: Callable[..., object], *args: Any) -> None:
        self.tasks.append(lambda: call(*args))

    def _note(self) -> int:
        self.noted += 1
        return self.noted

    def _look(self, noted: int) -> int:
        self.looked += 1
        return noted

    def ask(self, name: str) -> Noted:
        answer = Noted()

        def tell(state: int) -> None:
            self.told.append((name, state))
            answer()

        self.questions.observe(answer, tell)
        return answer

    def execute(self) -> None:
        tasks, self.tasks = self.tasks, []
        for task in tasks:
            task()


def test_a_question_is_told_in_the_executors_thread():
    desk = Desk()
    answer = desk.ask("a")
    desk.commands.drain()
    assert not answer.given
    desk.execute()
    assert answer.given
    assert desk.told == [("a", 1)]


def test_questions_that_come_meanwhile_are_asked_together_and_of_a_later_state():
    desk = Desk()
    desk.ask("a")
    desk.commands.drain()
    for name in "bcd":
        desk.ask(name)
    for _ in range(2):
        desk.execute()
        desk.commands.drain()
    desk.execute()
    assert desk.told == [("a", 1), ("b", 2), ("c", 2), ("d", 2)]
    assert (desk.noted, desk.looked) == (2, 2)


def test_what_one_refuses_or_fails_at_does_not_concern_the_others():
    def refuse(_state: int) -> None:
        raise failed("not this one")

    def fail(_state: int) -> None:
        raise KeyError("x")

    desk, refused, wrong = Desk(), Noted(), Noted()
    desk.ask("a")
    desk.questions.observe(refused, refuse)
    desk.questions.observe(wrong, fail)
    good = desk.ask("b")
    for _ in range(2):
        desk.commands.drain()
        desk.execute()
    assert good.given
    assert refused.response.result.error_message == "not this one"
    assert wrong.response.result.error_message == "KeyError('x')"


def test_a_full_queue_is_answered_at_once():
    desk = Desk(limit=1)
    desk.commands.submit(lambda: None)
    answer, other = desk.ask("a"), Noted()
    desk.questions.submit(lambda: 1, other, lambda _: None)
    for it in (answer, other):
        assert it.given
        assert it.response.result.error_message.startswith("busy: 1 commands are waiting")
    desk.commands.drain()
    desk.ask("b")
    desk.commands.drain()
    desk.execute()
    assert desk.told == [("b", 1)]


@pytest.mark.parametrize("observed", [True, False])
def test_the_end_of_the_physics_is_answered(observed: bool):
    desk, answer = Desk(), Noted()
    if observed:
        desk.questions.observe(answer, lambda _: None)
    else:
        desk.questions.submit(lambda: 1, answer, lambda _: None)
    desk.commands.close()
    desk.execute()
    assert answer.response.result.error_message == "the simulator is shutting down"


def test_what_a_command_raises_is_answered():
    def refuse() -> int:
        raise failed("held")

    desk, answer = Desk(), Noted()
    desk.questions.submit(refuse, answer, lambda _: None)
    desk.commands.drain()
    desk.execute()
    assert answer.response.result.error_message == "held"
