"""The example that changes the gains of the arm."""

import re

import pytest
from control_msgs.msg import JointTrajectoryControllerState
from example_runs import CommandedSimulator

SCRIPT = "04_tune_gains.py"
KP = "gains.elbow_joint.kp"


def test_half_the_stiffness_doubles_the_error_and_leaves_the_torque(
    arm: CommandedSimulator,
) -> None:
    states = arm.listener.record(
        JointTrajectoryControllerState, "joint_trajectory_controller/controller_state"
    )
    before = arm.listener.get_parameter(KP)
    done = arm.run(SCRIPT, "--scale", "0.5", "--settle", "0.5")
    assert done.code == 0, done.errors
    rows = [[float(n) for n in line.split()] for line in done.output.splitlines()[1:3]]
    for kp, _kd, error, product, torque in rows:
        assert torque == pytest.approx(product, rel=0.01)
        assert kp * error == pytest.approx(product, rel=0.01)
    (full, half) = rows
    assert half[0] == 0.5 * full[0]
    assert half[2] == pytest.approx(2.0 * full[2], rel=0.02)
    # The same, as received by another subscriber.
    elbow = list(states.messages[0].joint_names).index("elbow_joint")
    errors = [abs(message.error.positions[elbow]) for message in states.messages]
    assert max(errors) == pytest.approx(abs(half[2]), rel=0.05)
    assert arm.listener.get_parameter(KP) == before
    assert done.output.splitlines()[-1] == "12 gains restored"


def test_gains_remain_with_keep(arm: CommandedSimulator) -> None:
    before = arm.listener.get_parameter(KP)
    done = arm.run(SCRIPT, "--scale", "0.9", "--settle", "0.1", "--keep")
    assert done.code == 0, done.errors
    assert arm.listener.get_parameter(KP) == pytest.approx(0.9 * before)
    assert arm.run(SCRIPT, "--scale", str(1 / 0.9), "--settle", "0.1", "--keep").code == 0
    assert arm.listener.get_parameter(KP) == pytest.approx(before)


def test_gains_out_of_range_are_rejected_together(arm: CommandedSimulator) -> None:
    before = arm.listener.get_parameter(KP)
    done = arm.run(SCRIPT, "--scale", "-1", "--settle", "0.1")
    assert done.code == 1
    assert re.match(r"rejected, no gains changed: .*kp' cannot be -\d+", done.errors)
    assert arm.listener.get_parameter(KP) == before


def test_the_error_for_a_joint_without_gains_names_those_with_gains(
    arm: CommandedSimulator,
) -> None:
    done = arm.run(SCRIPT, "--joint", "left_finger_joint")
    assert done.code == 1
    assert done.errors.endswith(
        "--joint is one of: shoulder_pan_joint, shoulder_lift_joint, elbow_joint, wrist_1_joint, "
        "wrist_2_joint, wrist_3_joint"
    )
