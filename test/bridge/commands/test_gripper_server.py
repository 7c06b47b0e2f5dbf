"""The gripper action: opening, closing, gripping, results and warnings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from command_clients import ARM, SentGoal, grip, point, seconds
from stepped_node import SteppedNode

_FINGER = "left_finger_joint"
_INDEX = 6
_OPEN = 0.03
_BOX = 0.001  # where the finger is that touches the box of 40 mm: the pads are 38 mm apart at 0
_NAN, _INF = float("nan"), float("inf")


@pytest.fixture
def boxed(stepped: SteppedNode) -> Iterator[SteppedNode]:
    """The arm with the box floating between its open fingers."""
    data, model = stepped.simulation.data, stepped.simulation.model
    gravity = model.opt.gravity.copy()
    model.opt.gravity[:] = 0.0
    stepped.run(0.5)
    site, box, turn = data.site("arm/grasp"), data.joint("box/box_free"), np.zeros(4)
    mujoco.mju_mat2Quat(turn, site.xmat)
    box.qpos[:], box.qvel[:] = [*site.xpos, *turn], 0.0
    yield stepped
    model.opt.gravity[:] = gravity


def _finger(stepped: SteppedNode) -> tuple[float, float]:
    """Return position and effort of the finger."""
    state = stepped.joint_states()[-1]
    return state.position[_INDEX], state.effort[_INDEX]


def _answer(stepped: SteppedNode, sent: SentGoal, within: float = 3.0) -> Any:
    return stepped.finish(sent, within)


def test_the_gripper_closes_and_opens(stepped: SteppedNode) -> None:
    for target in (0.0, _OPEN, 0.01):
        sent = stepped.commander.grip(target)
        assert sent.accepted
        answer = _answer(stepped, sent)
        result = answer.result
        assert answer.status == GoalStatus.STATUS_SUCCEEDED
        assert (result.reached_goal, result.stalled) == (True, False)
        assert list(result.state.name) == [_FINGER]
        assert result.state.position[0] == pytest.approx(target, abs=0.001)
        stepped.run(0.3)
        assert _finger(stepped)[0] == pytest.approx(target, abs=2e-4)
    assert stepped.warnings == []


def test_feedback_has_the_position_of_the_finger(stepped: SteppedNode) -> None:
    begin = stepped.time
    sent = stepped.commander.grip(0.0, velocity=0.1)
    _answer(stepped, sent)
    assert len(sent.feedback) >= 5
    states = {seconds(state.header.stamp): state for state in stepped.joint_states()}
    for i, feedback in enumerate(sent.feedback):
        state = feedback.state
        time = seconds(state.header.stamp)
        assert time == pytest.approx(begin + 0.05 * i, abs=0.002)
        assert list(state.name) == [_FINGER]
        assert state.position[0] == states[time].position[_INDEX]
        assert state.velocity[0] == states[time].velocity[_INDEX]


def test_closing_on_a_box_stalls_and_holds_it(boxed: SteppedNode) -> None:
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


def test_an_effort_limit_acts_at_the_joint_until_the_next_command(boxed: SteppedNode) -> None:
    boxed.configure(stall_timeout=0.3)
    for effort, expected in ((1.0, -1.0), (0.0, -6.0), (0.5, -0.5)):
        sent = boxed.commander.grip(0.0, effort=effort)
        result = _answer(boxed, sent).result
        assert result.stalled
        # The pads yield slowly under the full force.
        assert result.state.effort[0] == pytest.approx(expected, rel=0.15)
        assert _finger(boxed)[1] == pytest.approx(expected, rel=0.15)
    boxed.run(0.5)
    assert _finger(boxed)[1] == pytest.approx(-0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"position": [_NAN]}, "position of joint 'left_finger_joint' is nan"),
        ({"position": []}, "a gripper command has 1 position, got 0"),
        ({"velocity": [0.1, 0.1]}, "a gripper command has at most 1 velocity, got 2"),
        ({"effort": [-1.0]}, "the effort limit must not be negative, got -1"),
        ({"name": ["right_finger_joint"]}, "the gripper's joint is 'left_finger_joint', not 'righ"),
    ],
)
def test_an_invalid_command_is_refused_with_the_cause_and_changes_nothing(
    stepped: SteppedNode, fields: dict[str, Any], reason: str
) -> None:
    goal = grip(0.0)
    for name, value in fields.items():
        setattr(goal.command, name, value)
    before = stepped.references
    assert not stepped.commander.send(goal).accepted
    (warning,) = stepped.warnings
    assert warning.startswith(f"gripper_controller/gripper_cmd: goal rejected: {reason}")
    stepped.run(0.05)
    np.testing.assert_array_equal(stepped.references, before)


def test_a_command_may_name_the_joint(stepped: SteppedNode) -> None:
    goal = grip(0.02)
    goal.command.name = [_FINGER]
    sent = stepped.commander.send(goal)
    assert _answer(stepped, sent).result.reached_goal


def test_a_position_beyond_the_limit_is_clamped_and_reported(stepped: SteppedNode) -> None:
    result = _answer(stepped, stepped.commander.grip(-0.05)).result
    assert result.reached_goal
    assert stepped.warnings == [
        "gripper_controller/gripper_cmd: "
        "position -0.05 of joint 'left_finger_joint' was clamped to its limits [0, 0.03]"
    ]
    stepped.configure(out_of_limits="refuse")
    assert not stepped.commander.grip(0.05).accepted
    assert (
        "position 0.05 of joint 'left_finger_joint' is outside its limits [0, 0.03]"
        in (stepped.warnings[1])
    )


def test_a_canceled_goal_stops_the_reference(stepped: SteppedNode) -> None:
    sent = stepped.commander.grip(0.0, velocity=0.02)
    stepped.run(0.5)
    sent.cancel()
    stepped.step()
    stepped.pass_on()
    answer = sent.result()
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert (answer.result.reached_goal, answer.result.stalled) == (False, False)
    held = stepped.references[0, _INDEX]
    stepped.run(0.3)
    assert stepped.references[0, _INDEX] == held
    assert _finger(stepped)[0] == pytest.approx(held, abs=1e-3)


def test_a_stream_that_claims_the_finger_ends_the_goal_and_its_effort_limit(
    stepped: SteppedNode,
) -> None:
    sent = stepped.commander.grip(0.0, velocity=0.02, effort=0.001)
    stepped.run(0.3)
    stepped.deliver(stepped.commander.publish_joints, [_FINGER], position=[_OPEN])
    stepped.run(1.0)
    assert sent.result().status == GoalStatus.STATUS_ABORTED
    assert stepped.warnings == ["gripper_controller: joint_commands took over left_finger_joint"]
    assert _finger(stepped)[0] == pytest.approx(_OPEN, abs=1e-4)
    # And back again.
    assert _answer(stepped, stepped.commander.grip(0.01)).result.reached_goal
    assert len(stepped.warnings) == 1, "a stream that has ended loses nothing"


def test_the_arm_moves_while_the_gripper_does(stepped: SteppedNode) -> None:
    home = stepped.references[0, :6]
    moving = stepped.commander.follow(point(0.3, home - [0.2, 0, 0, 0, 0, 0], [0.0] * 6))
    gripping = stepped.commander.grip(0.0)
    assert _answer(stepped, moving).result.error_code == 0
    assert _answer(stepped, gripping).result.reached_goal
    assert stepped.control.owners() == {
        "joint_trajectory_controller": ARM,
        "gripper_controller": (_FINGER,),
        "unclaimed": ("right_finger_joint",),
    }


def test_a_reset_ends_the_goal_and_opens_the_gripper(stepped: SteppedNode) -> None:
    sent = stepped.commander.grip(0.0, velocity=0.02, effort=1.0)
    stepped.run(0.5)
    stepped.diverge()
    stepped.pass_on()
    assert sent.result().status == GoalStatus.STATUS_ABORTED
    stepped.run(0.1)
    assert stepped.references[0, _INDEX] == _OPEN
    limits = stepped.simulation.model.actuator("arm/gripper").forcerange
    np.testing.assert_array_equal(limits, [-20.0, 20.0])


_HAND = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <body name="palm">
      <geom size="0.01"/>
      <body name="left"><joint name="left" axis="0 0 1" range="0 60" damping="0.1"/>
        <geom type="capsule" size="0.01" fromto="0.02 0 0 0.1 0 0" contype="0" mass="0.1"/></body>
      <body name="right"><joint name="right" axis="0 0 -1" range="0 60" damping="0.1"/>
        <geom type="capsule" size="0.01" fromto="0.02 0 0 0.1 0 0" contype="0" mass="0.1"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="split"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed>
  </tendon>
  <equality><joint joint1="left" joint2="right"/></equality>
  <actuator>
    <general name="fingers" tendon="split" ctrlrange="0 255" forcerange="-5 5" biastype="affine"
      gainprm="0.3137255" biasprm="0 -100 -10"/>
  </actuator>
</mujoco>"""


def test_a_gripper_of_an_actuator_moves_its_tendon_in_radians(tmp_path: Path) -> None:
    (tmp_path / "hand.xml").write_text(_HAND)
    scene = tmp_path / "scene.yaml"
    scene.write_text("robots: [{name: hand, model: hand.xml, gripper: fingers}]")
    stepped = SteppedNode(str(scene))
    try:
        stepped.configure(max_velocity=1.0)
        for target in (0.8, 0.0, 0.4):
            answer = _answer(stepped, stepped.commander.grip(target), 5.0)
            assert answer.status == GoalStatus.STATUS_SUCCEEDED
            assert answer.result.reached_goal
            assert list(answer.result.state.name) == ["split"]
            assert answer.result.state.position[0] == pytest.approx(target, abs=5e-4)
            finger = stepped.joint_states()[-1]
            assert finger.position == pytest.approx([target, target], abs=2e-3)
        goal = grip(0.1)
        goal.command.name = ["left"]
        assert not stepped.commander.send(goal).accepted
        assert stepped.warnings == [
            "gripper_controller/gripper_cmd: goal rejected: the gripper's tendon is 'split', not "
            "'left'"
        ]
    finally:
        stepped.close()
