"""Commands run between two steps; a command that fails is reported and ends its goal."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from command_clients import ARM, point, trajectory
from stepped_node import SteppedNode

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.control.events import Outcome
from mujoco_ros.sim.stepping.lockstep import Lockstep


@pytest.fixture
def submit(stepped: SteppedNode) -> CommandSubmission:
    return CommandSubmission(stepped.simulation, stepped.refusals, Lockstep(stepped.simulation))


def test_a_command_runs_before_the_next_step_with_the_time_of_that_step(
    stepped: SteppedNode, submit: CommandSubmission
) -> None:
    stepped.run(0.005)
    times: list[float] = []
    submit("topic", times.append)
    assert times == []
    stepped.step()
    assert times == [0.005]
    assert stepped.simulation.time == 0.005  # that of the step which used it


def test_commands_run_in_their_order_of_arrival(
    stepped: SteppedNode, submit: CommandSubmission
) -> None:
    order: list[int] = []
    for i in range(10):
        submit("topic", lambda _time, i=i: order.append(i))
    stepped.step()
    assert order == list(range(10))


def test_a_command_that_fails_is_reported_and_the_simulation_continues(
    stepped: SteppedNode, submit: CommandSubmission
) -> None:
    def fail(_time: float) -> None:
        raise ZeroDivisionError("a mistake")

    submit("arm/topic", fail)
    stepped.step(3)
    stepped.pass_on()
    assert stepped.warnings == ["arm/topic: ZeroDivisionError('a mistake')"]
    assert stepped.refusals.counts == {"failed on arm/topic": 1}
    assert stepped.simulation.time == 0.002


def test_a_command_that_fails_at_a_later_tick_is_reported(stepped: SteppedNode) -> None:
    kept: list[Callable[[float], None]] = []

    def take(_topic: str, _stamp: int, command: Callable[[float], None], *_others: object) -> str:
        kept.append(command)
        return ""

    lockstep = SimpleNamespace(take=take, stepped=())
    CommandSubmission(stepped.simulation, stepped.refusals, lockstep)("topic", lambda _time: 1 / 0)
    stepped.step()
    kept[0](0.0)
    stepped.pass_on()
    assert stepped.warnings == ["topic: ZeroDivisionError('division by zero')"]


def test_a_goal_whose_command_fails_is_aborted_with_the_reason(
    stepped: SteppedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(stepped.control, "follow", fail)
    sent = stepped.commander.follow(point(1.0, [0.0] * 6))
    stepped.step()
    answer = sent.result().result
    assert answer.error_code == Outcome.INVALID_GOAL
    assert answer.error_string == "ZeroDivisionError('a mistake')"


def test_more_commands_than_the_queue_holds_are_refused(
    stepped: SteppedNode, submit: CommandSubmission
) -> None:
    ran: list[float] = []
    for _ in range(1024 + 10):
        submit("topic", ran.append)
    assert stepped.warnings == ["topic: 1024 commands are waiting for the physics thread"]
    assert stepped.refusals.counts == {"refused on topic": 10}
    stepped.step()
    assert len(ran) == 1024


def test_a_goal_that_finds_the_queue_full_is_aborted_with_the_reason(
    stepped: SteppedNode, submit: CommandSubmission
) -> None:
    for _ in range(1024):
        submit("topic", lambda _time: None)
    sent = stepped.commander.follow(point(1.0, [0.0] * 6))
    answer = sent.result().result
    assert answer.error_code == Outcome.INVALID_GOAL
    assert answer.error_string == "1024 commands are waiting for the physics thread"
    stepped.step()
    assert not stepped.control.active


def test_a_goal_is_canceled_while_the_queue_is_full(
    stepped: SteppedNode, submit: CommandSubmission
) -> None:
    sent = stepped.commander.follow(point(1.0, [0.0] * 6))
    stepped.run(0.1)
    for _ in range(1024):
        submit("topic", lambda _time: None)
    assert len(sent.cancel().goals_canceling) == 1
    stepped.step()
    stepped.pass_on()
    assert sent.result().status == GoalStatus.STATUS_CANCELED


# --- commands from before a reset

_BEFORE = "before the simulation was reset"


def _reset(stepped: SteppedNode, time: float) -> None:
    """Reset after two seconds, to a time."""
    stepped.simulation.set_time(2.0)
    stepped.simulation.reset(time=time)
    stepped.pass_on()


@pytest.mark.parametrize("time", [2.0, 0.0])
def test_a_joint_command_stamped_before_a_reset_is_dropped(
    stepped: SteppedNode, time: float
) -> None:
    _reset(stepped, time)
    before = stepped.references
    for stamped in (1.995, 1.9):
        stepped.deliver(stepped.commander.publish_joints, ARM[:1], position=[0.5], at=stamped)
        stepped.run(0.002)
    assert np.array_equal(stepped.references, before)
    assert stepped.warnings[0].startswith(f"joint_commands: stamped 1.995000 s, {_BEFORE}")
    assert stepped.refusals.counts == {"dropped on joint_commands": 2}


@pytest.mark.parametrize("stamped", [0.0, 2.001, 1.7e9])
def test_a_joint_command_without_a_stamp_or_with_a_later_one_is_applied(
    stepped: SteppedNode, stamped: float
) -> None:
    _reset(stepped, 2.0)
    stepped.deliver(stepped.commander.publish_joints, ARM[:1], position=[0.5], at=stamped)
    stepped.run(0.002)
    assert stepped.references[0, 0] == 0.5
    assert stepped.warnings == []


@pytest.mark.parametrize("time", [2.0, 0.0])
def test_a_trajectory_stamped_before_a_reset_is_refused(stepped: SteppedNode, time: float) -> None:
    _reset(stepped, time)
    message = trajectory(point(1.0, [0.1] * 6), start=1.99)
    stepped.deliver(stepped.commander.publish_trajectory, message)
    stepped.run(0.002)
    (warning,) = stepped.warnings
    assert _BEFORE in warning
    assert not stepped.control.active
    assert not stepped.commander.follow(point(1.0, [0.1] * 6), start=1.99).accepted


def test_an_accepted_goal_overtaken_by_a_reset_ends_with_the_reason(
    stepped: SteppedNode,
) -> None:
    stepped.simulation.set_time(2.0)
    stepped.step()
    sent = stepped.commander.follow(point(1.0, [0.1] * 6), start=2.005)
    assert sent.accepted
    stepped.simulation.reset(time=2.5)
    stepped.step()
    assert _BEFORE in sent.result().result.error_string
    assert not stepped.control.active


@pytest.mark.parametrize("how", [{"stamp": 4_000_000}, {"start": 0.004}])
def test_a_command_from_before_the_state_of_its_robot_was_set_is_dropped(
    stepped: SteppedNode, submit: CommandSubmission, how: dict[str, float]
) -> None:
    taken: list[str] = []
    submit = CommandSubmission(
        stepped.simulation,
        stepped.refusals,
        SimpleNamespace(
            take=lambda topic, _stamp, command, *_: taken.append(topic) or command(0.0) or "",
            stepped=(),
        ),
    )
    stepped.run(0.005)
    none = np.array([], dtype=np.intp)
    stepped.simulation.hold_robot(0, none, np.array([]), "test")
    ran: list[float] = []
    submit("arm/topic", ran.append, control=stepped.control, **how)
    submit("free", ran.append, **how)  # for no robot
    submit("arm/new", ran.append, control=stepped.control, stamp=5_000_000)
    submit("arm/none", ran.append, control=stepped.control)
    stepped.step()
    stepped.pass_on()
    assert len(ran) == 3
    assert taken == ["arm/topic", "free", "arm/new", "arm/none"], "it answers its lockstep tick"
    (warning,) = stepped.warnings
    assert warning.startswith("arm/topic: ")
    assert "before the state of the robot was set at 0.005000 s" in warning
    stepped.simulation.reset()
    submit("arm/topic", ran.append, control=stepped.control, stamp=1)
    stepped.step()
    assert len(ran) == 4, "none is outdated after a reset"
