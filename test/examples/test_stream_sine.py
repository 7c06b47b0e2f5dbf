"""A sine, streamed to one joint at 100 Hz."""

import re
import signal

import numpy as np
import pytest
from example_runs import CommandedSimulator, positions
from sensor_msgs.msg import JointState

SCRIPT = "02_stream_sine.py"


def test_the_joint_follows_the_sine_and_the_others_stay(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    # A busy machine sends late; how late shows in the error.
    done = arm.run_slowly(SCRIPT, "--amplitude", "0.1", "--periods", "1", "--tolerance", "0.05")
    assert done.code == 0, done.errors
    elbow = positions(states, "elbow_joint")
    assert elbow.max() - elbow[0] == pytest.approx(0.2, abs=0.02)
    assert elbow.min() == pytest.approx(elbow[0], abs=0.02)
    assert elbow[-1] == pytest.approx(elbow[0], abs=0.005)
    assert np.ptp(positions(states, "shoulder_pan_joint")) < 0.005
    sent = re.search(r"^elbow_joint: (\d+) commands, delay (\d+) ms", done.output, re.M)
    assert sent
    assert 150 < int(sent.group(1)) < 260, "2.2 s at 100 Hz"
    assert re.search(r"^ *\S+ s  commanded +1\.\d{4}  measured +1\.\d{4}$", done.output, re.M)


def test_ctrl_c_leaves_no_velocity_behind(arm: CommandedSimulator) -> None:
    commands = arm.listener.record(JointState, "joint_commands", reliable=True)
    example = arm.start(SCRIPT, "--joint", "wrist_3_joint", "--periods", "20")
    assert arm.listener.spin_until(lambda: len(commands) and commands.latest.velocity[0] > 0.1)
    example.process.send_signal(signal.SIGINT)
    arm.listener.spin_until(example.is_over)
    done = example.outcome()
    assert (done.code, done.errors) == (130, "")
    assert arm.listener.spin_until(lambda: list(commands.latest.velocity) == [0.0])


def test_it_fails_for_a_joint_that_does_not_follow(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    done = arm.run(
        SCRIPT, "--joint", "right_finger_joint", "--amplitude", "-0.01", "--periods", "1"
    )
    assert done.code == 1
    assert "tracking error above --tolerance" in done.errors
    assert np.ptp(positions(states, "right_finger_joint")) < 0.001
    assert "right_finger_joint" in arm.simulator.log
    assert "passive" in arm.simulator.log
