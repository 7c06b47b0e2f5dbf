"""Rejected commands are counted, and logged at a limited rate."""

import pytest

from mujoco_ros.bridge.commands import rejection_log as module
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.control.events import CommandError
from mujoco_ros.model.errors import UserInputError


class Clock:
    now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module.time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def refusals(log: list[str], clock: Clock) -> RejectionLog:
    return RejectionLog(log.append)


def test_a_problem_is_logged_with_its_topic_and_counted_by_its_kind(
    refusals: RejectionLog, log: list[str]
) -> None:
    refusals.report("arm/joint_commands", "refused", "joint 'x' not found")
    refusals.report("arm/joint_commands", "positions clamped", "2 positions", count=2)
    assert log == [
        "arm/joint_commands: joint 'x' not found",
        "arm/joint_commands: 2 positions",
    ]
    assert refusals.counts == {
        "refused on arm/joint_commands": 1,
        "positions clamped on arm/joint_commands": 2,
    }


def test_an_error_of_a_message_is_refused_and_a_mistake_of_the_program_is_not(
    refusals: RejectionLog, log: list[str]
) -> None:
    for error in (CommandError("too fast"), UserInputError("no such frame")):
        with refusals.refusing("goal", "goal rejected: "):
            raise error
    with pytest.raises(ValueError, match="broadcast"), refusals.refusing("goal"):
        raise ValueError("operands could not be broadcast together")
    assert log == ["goal: goal rejected: too fast", "goal: goal rejected: no such frame"]
    assert refusals.counts == {"refused on goal": 2}


def test_a_repeated_message_is_logged_after_an_interval_with_its_count(
    refusals: RejectionLog, log: list[str], clock: Clock
) -> None:
    for _ in range(1000):
        refusals.report("a", "refused", "wrong")
        clock.now += 0.004
    assert log == ["a: wrong"]
    clock.now += 5.0
    refusals.report("a", "refused", "wrong")
    refusals.report("a", "refused", "wrong too")
    assert log[1:] == ["a: wrong (999 more before this)", "a: wrong too"]
    assert refusals.counts == {"refused on a": 1002}


def test_different_problems_are_all_logged_at_once(refusals: RejectionLog, log: list[str]) -> None:
    for message in ("joint 'x' not found", "joint 'y' not found"):
        for topic in ("a", "b"):
            refusals.report(topic, "refused", message)
    assert len(log) == 4


def test_the_rate_of_different_messages_is_limited(
    refusals: RejectionLog, log: list[str], clock: Clock
) -> None:
    for i in range(500):
        refusals.report("a", "refused", f"wrong {i}")
    refusals.report("b", "refused", "something else")
    assert len(log) == 21
    clock.now += 5.001
    refusals.report("a", "refused", "wrong again")
    assert log[-1] == "a: wrong again (480 more before this)"
    assert refusals.counts["refused on a"] == 501
