"""The gripper over the middleware: opening, closing, gripping, and what its clients are told."""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from benches import Bench
from commanders import ARM, Sent, grip, point, seconds

_FINGER = "left_finger_joint"
_INDEX = 6
_OPEN = 0.03
_BOX = 0.001  # where the finger is that touches the box of 40 mm: the pads are 38 mm apart at 0
_NAN, _INF = float("nan"), float("inf")


@pytest.fixture
def boxed(bench: Bench) -> Iterator[Bench]:
    """The arm with the box floating between its open fingers."""
    data, model = bench.simulation.data, bench.simulation.model
    gravity = model.opt.gravity.copy()
    model.opt.gravity[:] = 0.0
    bench.run(0.5)
    site, box, turn = data.site("arm/grasp"), data.joint("box/box_free"), np.zeros(4)
    mujoco.mju_mat2Quat(turn, site.xmat)
    box.qpos[:], box.qvel[:] = [*site.xpos, *turn], 0.0
    yield bench
    model.opt.gravity[:] = gravity


def _finger(bench: Bench) -> tuple[float, float]:
    """Return position and effort of the finger."""
    state = bench.joint_states()[-1]
    return state.position[_INDEX], state.effort[_INDEX]


def _answer(bench: Bench, sent: Sent, within: float = 3.0) -> Any:
    return bench.finish(sent, within)


def test_the_gripper_closes_and_opens(bench: Bench) -> None:
    for target in (0.0, _OPEN, 0.01):
        sent = bench.commander.grip(target)
        assert sent.accepted
        answer = _answer(bench, sent)
        result = answer.result
        assert answer.status == GoalStatus.STATUS_SUCCEEDED
        assert (result.reached_goal, result.stalled) == (True, False)
        assert list(result.state.name) == [_FINGER]
        assert result.state.position[0] == pytest.approx(target, abs=0.001)
        bench.run(0.3)
        assert _finger(bench)[0] == pytest.approx(target, abs=2e-4)
    assert bench.warnings == []


def test_feedback_has_the_position_of_the_finger(bench: Bench) -> None:
    begin = bench.time
    sent = bench.commander.grip(0.0, velocity=0.1)
    _answer(bench, sent)
    assert len(sent.feedback) >= 5
    states = {seconds(state.header.stamp): state for state in bench.joint_states()}
    for i, feedback in enumerate(sent.feedback):
        state = feedback.state
        time = seconds(state.header.stamp)
        assert time == pytest.approx(begin + 0.05 * i, abs=0.002)
        assert list(state.name) == [_FINGER]
        assert state.position[0] == states[time].position[_INDEX]
        assert state.velocity[0] == states[time].velocity[_INDEX]


def test_the_reference_moves_at_the_commanded_speed(bench: Bench) -> None:
    sent = bench.commander.grip(0.0, velocity=0.02)
    bench.run(0.5)
    assert bench.references[0, _INDEX] == pytest.approx(_OPEN - 0.02 * 0.5, abs=1e-9)
    assert not sent.ended
    bench.configure(max_velocity=0.01)
    bench.commander.grip(0.0)
    bench.run(0.5)
    assert bench.references[0, _INDEX] == pytest.approx(_OPEN - 0.02 * 0.5 - 0.01 * 0.5, abs=1e-9)


def test_closing_on_a_box_stalls_and_holds_it(boxed: Bench) -> None:
    sent = boxed.commander.grip(0.0)
    answer = _answer(boxed, sent)
    result = answer.result
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert (result.reached_goal, result.stalled) == (False, True)
    assert result.state.position[0] == pytest.approx(_BOX, abs=1e-4)
    assert result.state.effort[0] == pytest.approx(-6.0, abs=0.15)  # 3 N a finger
    box = boxed.simulation.data.joint("box/box_free")
    boxed.simulation.model.opt.gravity[2] = -9.81
    boxed.run(1.0)
    site = boxed.simulation.data.site("arm/grasp").xpos
    np.testing.assert_allclose(box.qpos[:3], site, atol=0.005)
    assert _finger(boxed)[0] == pytest.approx(_BOX, abs=1e-4)


def test_a_stall_can_be_a_success(boxed: Bench) -> None:
    boxed.configure(allow_stalling=True, stall_timeout=0.2)
    sent = boxed.commander.grip(0.0)
    answer = _answer(boxed, sent)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert (answer.result.reached_goal, answer.result.stalled) == (False, True)


def test_an_effort_limit_acts_at_the_joint_until_the_next_command(boxed: Bench) -> None:
    boxed.configure(stall_timeout=0.3)
    for effort, expected in ((1.0, -1.0), (0.0, -6.0), (0.5, -0.5)):
        sent = boxed.commander.grip(0.0, effort=effort)
        result = _answer(boxed, sent).result
        assert result.stalled
        # The pads give way slowly under the full force.
        assert result.state.effort[0] == pytest.approx(expected, rel=0.15)
        assert _finger(boxed)[1] == pytest.approx(expected, rel=0.15)
    boxed.run(0.5)
    assert _finger(boxed)[1] == pytest.approx(-0.5, rel=1e-3)


def test_the_default_effort_limit_is_a_setting(boxed: Bench) -> None:
    boxed.configure(stall_timeout=0.3, max_effort=0.7)
    result = _answer(boxed, boxed.commander.grip(0.0)).result
    assert result.state.effort[0] == pytest.approx(-0.7, rel=1e-3)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"position": [_NAN]}, "position of joint 'left_finger_joint' is nan"),
        ({"position": [_INF]}, "position of joint 'left_finger_joint' is inf"),
        ({"position": [-1e300]}, "position of joint 'left_finger_joint' is -1e+300"),
        ({"position": []}, "a gripper command has 1 position, got 0"),
        ({"position": [0.0, 0.0]}, "a gripper command has 1 position, got 2"),
        ({"velocity": [0.1, 0.1]}, "a gripper command has at most 1 velocity, got 2"),
        ({"velocity": [_NAN]}, "velocity of joint 'left_finger_joint' is nan"),
        ({"effort": [-1.0]}, "the effort limit must not be negative, got -1"),
        ({"effort": [_INF]}, "effort of joint 'left_finger_joint' is inf"),
        ({"name": ["right_finger_joint"]}, "the gripper's joint is 'left_finger_joint', not 'righ"),
        ({"name": [_FINGER, _FINGER]}, "the gripper's joint is 'left_finger_joint', not 'left_"),
    ],
)
def test_an_invalid_command_is_refused_with_the_cause_and_changes_nothing(
    bench: Bench, fields: dict[str, Any], complaint: str
) -> None:
    goal = grip(0.0)
    for name, value in fields.items():
        setattr(goal.command, name, value)
    before = bench.references
    assert not bench.commander.send(goal).accepted
    (warning,) = bench.warnings
    assert warning.startswith(f"gripper_controller/gripper_cmd: goal rejected: {complaint}")
    bench.run(0.05)
    np.testing.assert_array_equal(bench.references, before)


def test_a_command_may_name_the_joint(bench: Bench) -> None:
    goal = grip(0.02)
    goal.command.name = [_FINGER]
    sent = bench.commander.send(goal)
    assert _answer(bench, sent).result.reached_goal


def test_a_position_beyond_the_limit_is_clamped_and_reported(bench: Bench) -> None:
    result = _answer(bench, bench.commander.grip(-0.05)).result
    assert result.reached_goal
    assert bench.warnings == [
        "gripper_controller/gripper_cmd: "
        "position -0.05 of joint 'left_finger_joint' was clamped to its limits [0, 0.03]"
    ]
    bench.configure(out_of_limits="refuse")
    assert not bench.commander.grip(0.05).accepted
    assert (
        "position 0.05 of joint 'left_finger_joint' is outside its limits [0, 0.03]"
        in (bench.warnings[1])
    )


def test_a_canceled_goal_stops_the_reference(bench: Bench) -> None:
    sent = bench.commander.grip(0.0, velocity=0.02)
    bench.run(0.5)
    sent.cancel()
    bench.step()
    bench.pass_on()
    answer = sent.result()
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert (answer.result.reached_goal, answer.result.stalled) == (False, False)
    held = bench.references[0, _INDEX]
    bench.run(0.3)
    assert bench.references[0, _INDEX] == held
    assert _finger(bench)[0] == pytest.approx(held, abs=1e-3)


def test_a_newer_goal_ends_the_older_one(bench: Bench) -> None:
    first = bench.commander.grip(0.0, velocity=0.02)
    bench.run(0.3)
    second = bench.commander.grip(_OPEN)
    assert _answer(bench, second).result.reached_goal
    answer = first.result()
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert (answer.result.reached_goal, answer.result.stalled) == (False, False)


def test_a_stream_that_claims_the_finger_ends_the_goal_and_its_effort_limit(bench: Bench) -> None:
    sent = bench.commander.grip(0.0, velocity=0.02, effort=0.001)
    bench.run(0.3)
    bench.deliver(bench.commander.publish_joints, [_FINGER], position=[_OPEN])
    bench.run(1.0)
    assert sent.result().status == GoalStatus.STATUS_ABORTED
    assert bench.warnings == ["gripper_controller: joint_commands took over left_finger_joint"]
    assert _finger(bench)[0] == pytest.approx(_OPEN, abs=1e-4)
    # And back again.
    assert _answer(bench, bench.commander.grip(0.01)).result.reached_goal
    assert len(bench.warnings) == 1, "a stream that has ended loses nothing"


def test_the_arm_moves_while_the_gripper_does(bench: Bench) -> None:
    home = bench.references[0, :6]
    moving = bench.commander.follow(point(0.3, home - [0.2, 0, 0, 0, 0, 0], [0.0] * 6))
    gripping = bench.commander.grip(0.0)
    assert _answer(bench, moving).result.error_code == 0
    assert _answer(bench, gripping).result.reached_goal
    assert bench.control.owners() == {
        "joint_trajectory_controller": ARM,
        "gripper_controller": (_FINGER,),
        "unclaimed": ("right_finger_joint",),
    }


def test_a_reset_ends_the_goal_and_opens_the_gripper(bench: Bench) -> None:
    sent = bench.commander.grip(0.0, velocity=0.02, effort=1.0)
    bench.run(0.5)
    bench.diverge()
    bench.pass_on()
    assert sent.result().status == GoalStatus.STATUS_ABORTED
    bench.run(0.1)
    assert bench.references[0, _INDEX] == _OPEN
    limits = bench.simulation.model.actuator("arm/gripper").forcerange
    np.testing.assert_array_equal(limits, [-20.0, 20.0])


def test_a_goal_for_a_paused_simulation_waits(bench: Bench) -> None:
    bench.simulation.paused = True
    sent = bench.commander.grip(0.0)
    assert sent.accepted
    bench.step(100)
    bench.listener.spin_for(0.1)
    assert not sent.ended
    bench.simulation.paused = False
    assert _answer(bench, sent).result.reached_goal
