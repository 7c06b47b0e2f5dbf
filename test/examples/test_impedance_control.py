"""The example of compliance with gravity compensation."""

import re
import signal

import numpy as np
import pytest
from example_runs import CommandedSimulator, positions
from sensor_msgs.msg import JointState
from simulators import stamps_of

SCRIPT = "05_impedance_control.py"
KP = "gains.elbow_joint.kp"


def test_a_compensated_arm_holds_its_configuration_and_yields_to_a_push(
    arm: CommandedSimulator,
) -> None:
    states = arm.joint_states()
    commands = arm.listener.record(JointState, "joint_commands", reliable=True)
    before = arm.listener.get_parameter(KP)
    done = arm.run_slowly(SCRIPT, "--softer", "100", "--push", "8", "--seconds", "1")
    assert done.code == 0, done.errors
    deflection = 8.0 / (before / 100.0)
    elbow = positions(states, "elbow_joint")
    assert elbow.max() - elbow[0] == pytest.approx(deflection, rel=0.1)
    assert elbow.min() > elbow[0] - 0.005
    for joint in ("shoulder_lift_joint", "wrist_1_joint"):
        assert np.ptp(positions(states, joint)) < 0.01, "others carry only gravity"
    assert elbow[-1] == pytest.approx(elbow[0], abs=0.005)
    assert arm.listener.get_parameter(KP) == before, "the gains should be restored"

    messages = commands.messages
    joint = list(messages[0].name).index("elbow_joint")
    gravity = min(message.effort[joint] for message in messages)  # the push has the other sign
    assert gravity == pytest.approx(-22.5, rel=0.1), "of the forearm and all it carries"
    assert arm.listener.spin_until(lambda: commands.latest.effort[joint] == 0.0)
    times = np.array([sec + 1e-9 * nanosec for sec, nanosec in stamps_of(messages)])
    assert np.median(np.diff(times)) == pytest.approx(0.005, abs=0.0011), "whole 2 ms of /clock"
    sag = re.search(r"^gravity would add (\S+) rad; compensated at \d+ Hz$", done.output, re.M)
    assert sag
    assert float(sag.group(1)) == pytest.approx(-gravity / (before / 100.0), rel=0.05)


def test_ctrl_c_restores_the_gains(arm: CommandedSimulator) -> None:
    before = arm.listener.get_parameter(KP)
    example = arm.start(SCRIPT, "--seconds", "1")
    assert arm.listener.spin_until(lambda: "held, " in example.output)
    assert arm.listener.get_parameter(KP) == pytest.approx(before / 100.0)
    example.process.send_signal(signal.SIGINT)
    arm.listener.spin_until(example.is_over)
    done = example.outcome()
    assert (done.code, done.errors) == (130, "")
    assert arm.listener.get_parameter(KP) == before


def test_the_error_for_a_joint_without_motor_names_those_with_motors(
    arm: CommandedSimulator,
) -> None:
    done = arm.run(SCRIPT, "--joint", "right_finger_joint")
    assert done.code == 1
    assert done.errors.startswith("no motor drives 'right_finger_joint'; --joint is one of: sho")
    assert not done.output


def test_rejected_gains_end_it(arm: CommandedSimulator) -> None:
    before = arm.listener.get_parameter(KP)
    done = arm.run(SCRIPT, "--softer", "-1")
    assert done.code == 1
    assert done.errors.startswith("gains refused: parameter 'gains.")
    assert arm.listener.get_parameter(KP) == before
