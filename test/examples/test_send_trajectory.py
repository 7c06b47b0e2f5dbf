"""The example that sends a trajectory, and its possible outcomes."""

import re
import signal

import pytest
from example_runs import CommandedSimulator, positions

SCRIPT = "03_send_trajectory.py"


def test_the_joints_go_there_and_back(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    done = arm.run_slowly(SCRIPT, "--by", "-0.1", "--seconds", "0.5")
    assert done.code == 0, done.errors
    assert done.output.splitlines()[-1] == "succeeded: goal reached"
    for joint in ("shoulder_pan_joint", "wrist_3_joint"):
        path = positions(states, joint)
        assert path.min() - path[0] == pytest.approx(-0.1, abs=0.02)
        assert path[-1] == pytest.approx(path[0], abs=0.005)
    assert re.search(r"s  largest error 0\.0\d+ rad or m, of ", done.output)


def test_some_joints_can_be_moved_to_given_positions(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    there = ("--joints", "wrist_1_joint", "wrist_2_joint", "--seconds", "0.4", "--to")
    assert arm.run(SCRIPT, *there, "-1.0", "-1.4").code == 0
    assert positions(states, "wrist_1_joint")[-1] == pytest.approx(-1.0, abs=0.01)
    assert positions(states, "wrist_2_joint")[-1] == pytest.approx(-1.4, abs=0.01)


def test_a_joint_that_leaves_its_tolerance_aborts_the_goal(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    moved = ("--joints", "wrist_3_joint", "--by", "1.5", "--seconds", "0.8")
    done = arm.run(SCRIPT, *moved, "--path-tolerance", "0.0002")
    assert done.code == 1
    assert done.errors.startswith("aborted with error code -4: path tolerance violated")
    assert "'wrist_3_joint'" in done.errors
    assert "allowed is 0.0002" in done.errors
    path = positions(states, "wrist_3_joint")
    assert path.max() - path[0] < 1.4, "it should have stopped before the first waypoint"


def test_the_reason_of_a_rejection_is_in_the_log(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--seconds", "-1")
    assert done.code == 1
    assert done.errors == "the goal was rejected; see the log of the simulator"
    assert "goal rejected: time_from_start of point 0 is negative" in arm.simulator.log


def test_errors_for_wrong_names_and_numbers_have_the_valid_ones(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--joints", "elbow")
    assert (done.code, done.output) == (1, "")
    assert done.errors.startswith("the controller has no joint 'elbow'; it has: shoulder_pan_")
    done = arm.run(SCRIPT, "--joints", "elbow_joint", "--to", "1", "2")
    assert done.code == 1
    assert done.errors == "--to has 2 positions; there are 1: elbow_joint"


def test_ctrl_c_cancels_the_goal_and_the_joints_stop(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    example = arm.start(SCRIPT, "--joints", "wrist_3_joint", "--by", "2", "--seconds", "4")
    assert arm.listener.spin_until(lambda: example.output.count(" s  largest error") > 1)
    example.process.send_signal(signal.SIGINT)
    arm.listener.spin_until(example.is_over)
    done = example.outcome()
    assert (done.code, done.errors) == (130, "")
    assert done.output.splitlines()[-1] == "canceled: the joints stop"
    stopped = len(states)
    assert arm.listener.spin_until(lambda: len(states) > stopped + 500)
    path = positions(states, "wrist_3_joint")
    assert 0.005 < path[-1] - path[0] < 1.9
    assert path[-1] == pytest.approx(path[-200], abs=1e-3)
