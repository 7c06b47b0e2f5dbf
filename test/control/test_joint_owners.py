import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_owners import JointOwners


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
