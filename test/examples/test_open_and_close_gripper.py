"""The example that opens and closes the gripper."""

import re
from collections.abc import Iterator

import pytest
from example_runs import CommandedSimulator, positions
from tf2_msgs.msg import TFMessage

SCRIPT = "06_open_and_close_gripper.py"
TRAJECTORY = "03_send_trajectory.py"
# The arm's joints with the gripper above the box, and around it.
ABOVE = ("0.182", "-1.816", "1.611", "-1.366", "-1.571", "-1.389")
AROUND = ("0.182", "-1.833", "1.918", "-1.656", "-1.571", "-1.389")


def height_of_the_box(arm: CommandedSimulator) -> float:
    frames = arm.listener.record(TFMessage, "/tf")
    assert arm.listener.spin_until(lambda: len(frames) > 0)
    transforms = {t.child_frame_id: t.transform for t in frames.messages[-1].transforms}
    arm.listener.forget_subscriptions()
    return float(transforms["box"].translation.z)


@pytest.fixture
def arm_with_a_moved_box(arm: CommandedSimulator) -> Iterator[CommandedSimulator]:
    yield arm
    arm.reset()


def test_on_the_box_it_stalls_and_the_box_can_be_lifted(
    arm_with_a_moved_box: CommandedSimulator,
) -> None:
    arm = arm_with_a_moved_box
    lying = height_of_the_box(arm)
    for place in (ABOVE, AROUND):
        assert arm.run(TRAJECTORY, "--seconds", "0.8", "--to", *place).code == 0
    done = arm.run(SCRIPT, "--only", "close")
    assert done.code == 0, done.errors
    stalled = re.match(r"close: stalled at (\S+) m with an effort of (\S+) N: ", done.output)
    assert stalled
    assert float(stalled.group(1)) == pytest.approx(0.001, abs=0.0004)
    assert abs(float(stalled.group(2))) == pytest.approx(6.0, abs=0.5)
    assert arm.run(TRAJECTORY, "--seconds", "1", "--to", *ABOVE).code == 0
    assert height_of_the_box(arm) > lying + 0.08


def test_in_the_air_it_reaches_both_ends(arm: CommandedSimulator) -> None:
    states = arm.joint_states()
    done = arm.run(SCRIPT)
    assert done.code == 0, done.errors
    assert [line.split(" at ")[0] for line in done.output.splitlines()] == [
        "close: reached its goal",
        "open: reached its goal",
    ]
    for finger in ("left_finger_joint", "right_finger_joint"):
        path = positions(states, finger)
        assert path[0] == pytest.approx(0.03, abs=0.001)
        assert path.min() < 0.001
        assert path[-1] > 0.029


def test_the_reason_of_a_rejection_is_in_the_log(arm: CommandedSimulator) -> None:
    done = arm.run(SCRIPT, "--only", "close", "--effort", "-1")
    assert (done.code, done.output) == (1, "")
    assert done.errors == "close: rejected; see the log of the simulator"
    assert "the effort limit must not be negative, got -1" in arm.simulator.log
