"""Commands run between two steps; those that cannot are told of, and end their goal."""

import numpy as np
import pytest
from benches import Bench
from commanders import ARM, point, trajectory

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.control.events import Outcome


@pytest.fixture
def submit(bench: Bench) -> CommandSubmission:
    return CommandSubmission(bench.simulation, bench.refusals)


def test_a_command_runs_before_the_next_step_with_the_time_of_that_step(
    bench: Bench, submit: CommandSubmission
) -> None:
    bench.run(0.005)
    times: list[float] = []
    submit("topic", times.append)
    assert times == []
    bench.step()
    assert times == [0.005]
    assert bench.simulation.time == 0.005  # that of the step which used it


def test_commands_run_in_their_order_of_arrival(bench: Bench, submit: CommandSubmission) -> None:
    order: list[int] = []
    for i in range(10):
        submit("topic", lambda _time, i=i: order.append(i))
    bench.step()
    assert order == list(range(10))


def test_a_command_that_fails_is_reported_and_the_simulation_continues(
    bench: Bench, submit: CommandSubmission
) -> None:
    def fail(_time: float) -> None:
        raise ZeroDivisionError("a mistake")

    submit("arm/topic", fail)
    bench.step(3)
    bench.pass_on()
    assert bench.warnings == ["arm/topic: ZeroDivisionError('a mistake')"]
    assert bench.refusals.counts == {"failed on arm/topic": 1}
    assert bench.simulation.time == 0.002


def test_a_goal_whose_command_fails_is_aborted_with_the_reason(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(bench.control, "follow", fail)
    sent = bench.commander.follow(point(1.0, [0.0] * 6))
    bench.step()
    answer = sent.result().result
    assert answer.error_code == Outcome.INVALID_GOAL
    assert answer.error_string == "ZeroDivisionError('a mistake')"


def test_more_commands_than_the_queue_holds_are_refused(
    bench: Bench, submit: CommandSubmission
) -> None:
    ran: list[float] = []
    for _ in range(1024 + 10):
        submit("topic", ran.append)
    assert bench.warnings == ["topic: 1024 commands are waiting for the physics thread"]
    assert bench.refusals.counts == {"refused on topic": 10}
    bench.step()
    assert len(ran) == 1024


def test_a_goal_that_finds_the_queue_full_is_aborted_with_the_reason(
    bench: Bench, submit: CommandSubmission
) -> None:
    for _ in range(1024):
        submit("topic", lambda _time: None)
    sent = bench.commander.follow(point(1.0, [0.0] * 6))
    answer = sent.result().result
    assert answer.error_code == Outcome.INVALID_GOAL
    assert answer.error_string == "1024 commands are waiting for the physics thread"
    bench.step()
    assert not bench.control.active


# --- what comes from before a reset

_BEFORE = "before the simulation was reset"


def _reset(bench: Bench, time: float) -> None:
    """Reset after two seconds, to a time."""
    bench.simulation.set_time(2.0)
    bench.simulation.reset(time=time)
    bench.pass_on()


@pytest.mark.parametrize("time", [2.0, 0.0])
def test_a_joint_command_stamped_before_a_reset_is_dropped(bench: Bench, time: float) -> None:
    _reset(bench, time)
    before = bench.references
    for stamped in (1.995, 1.9):
        bench.deliver(bench.commander.publish_joints, ARM[:1], position=[0.5], at=stamped)
        bench.run(0.002)
    assert np.array_equal(bench.references, before)
    assert bench.warnings[0].startswith(f"joint_commands: stamped 1.995000 s, {_BEFORE}")
    assert bench.refusals.counts == {"dropped on joint_commands": 2}


@pytest.mark.parametrize("stamped", [0.0, 2.001, 1.7e9])
def test_a_joint_command_without_a_stamp_or_with_a_later_one_is_applied(
    bench: Bench, stamped: float
) -> None:
    _reset(bench, 2.0)
    bench.deliver(bench.commander.publish_joints, ARM[:1], position=[0.5], at=stamped)
    bench.run(0.002)
    assert bench.references[0, 0] == 0.5
    assert bench.warnings == []


@pytest.mark.parametrize("time", [2.0, 0.0])
def test_a_trajectory_stamped_before_a_reset_is_refused(bench: Bench, time: float) -> None:
    _reset(bench, time)
    message = trajectory(point(1.0, [0.1] * 6), start=1.99)
    bench.deliver(bench.commander.publish_trajectory, message)
    bench.run(0.002)
    (warning,) = bench.warnings
    assert _BEFORE in warning
    assert not bench.control.active
    assert not bench.commander.follow(point(1.0, [0.1] * 6), start=1.99).accepted


def test_an_accepted_goal_overtaken_by_a_reset_ends_with_the_reason(
    bench: Bench,
) -> None:
    bench.simulation.set_time(2.0)
    bench.step()
    sent = bench.commander.follow(point(1.0, [0.1] * 6), start=2.005)
    assert sent.accepted
    bench.simulation.reset(time=2.5)
    bench.step()
    assert _BEFORE in sent.result().result.error_string
    assert not bench.control.active
