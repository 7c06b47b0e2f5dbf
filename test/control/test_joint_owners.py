"""Rates and ages of command sources."""

import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_owners import CommandRates, CommandTally, JointOwners


def owners(joints: JointOwners) -> dict[CommandSource, list[int]]:
    return {source: owned.tolist() for source, owned in joints.by_source()}


def test_all_joints_are_unclaimed_at_first():
    joints = JointOwners(2)
    assert owners(joints) == {CommandSource.UNCLAIMED: [0, 1]}
    assert joints.unclaimed.tolist() == [True, True]


def test_a_claim_returns_the_previous_owners_with_the_joints_they_lost():
    joints = JointOwners(4)
    joints.claim(CommandSource.POSITION, np.array([3, 0]))
    lost = joints.claim(CommandSource.TRAJECTORY, np.array([3, 1, 0]))
    assert [(source, indices.tolist()) for source, indices in lost] == [
        (CommandSource.UNCLAIMED, [1]),
        (CommandSource.POSITION, [3, 0]),
    ]
    assert owners(joints) == {
        CommandSource.UNCLAIMED: [2],
        CommandSource.TRAJECTORY: [0, 1, 3],
    }


def test_a_claim_of_own_joints_preempts_no_source():
    joints = JointOwners(2)
    joints.claim(CommandSource.EFFORT, np.array([0, 1]))
    assert joints.claim(CommandSource.EFFORT, np.array([1])) == []


def test_released_joints_are_unclaimed():
    joints = JointOwners(3)
    joints.claim(CommandSource.EFFORT, np.array([0, 1, 2]))
    joints.release(np.array([1]))
    assert joints.unclaimed.tolist() == [False, True, False]
    joints.release()
    assert joints.unclaimed.all()


def test_owners_are_restored_from_a_saved_state():
    joints = JointOwners(2)
    joints.claim(CommandSource.GRIPPER, np.array([1]))
    saved = joints.save_state()
    joints.release()
    joints.restore_state(saved)
    assert owners(joints) == {CommandSource.UNCLAIMED: [0], CommandSource.GRIPPER: [1]}


def test_each_source_has_its_rate_over_the_time_of_the_report_and_the_age_of_its_newest_command():
    rates = CommandRates()
    for step in range(10):
        rates.add("fast", 0.1 * step)
    rates.add("slow", 0.25)
    assert rates.report(1.0, 2.0) == (
        CommandTally("fast", 5.0, 1.0 - 0.1 * 9),
        CommandTally("slow", 0.5, 0.75),
    )


def test_a_silent_source_is_reported_with_a_rate_of_zero_and_a_growing_age():
    rates = CommandRates()
    rates.add("once", 1.0)
    rates.report(2.0, 1.0)
    assert rates.report(3.0, 1.0) == (CommandTally("once", 0.0, 2.0),)


def test_a_report_over_no_time_has_no_rates():
    rates = CommandRates()
    rates.add("paused", 1.0)
    assert rates.report(1.0, 0.0) == (CommandTally("paused", 0.0, 0.0),)


def test_a_command_that_takes_effect_with_the_next_step_is_no_older_than_new():
    rates = CommandRates()
    rates.add("next", 1.001)
    assert rates.report(1.0, 1.0)[0].age == 0.0


def test_after_a_reset_there_are_no_sources():
    rates = CommandRates()
    rates.add("before", 1.0)
    rates.clear()
    assert rates.report(2.0, 1.0) == ()
