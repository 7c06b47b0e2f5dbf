import pickle

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose, rpy_of

QUARTER = Pose(position=np.array([1.0, 2.0, 3.0]), quat_wxyz=np.sqrt([0.5, 0.0, 0.0, 0.5]))


def test_the_columns_of_the_matrix_are_the_frames_axes():
    assert QUARTER.matrix == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))


def test_composition_rotates_and_translates_the_inner_pose():
    ahead = Pose(position=np.array([1.0, 0.0, 0.0]), quat_wxyz=QUARTER.quat_wxyz)
    there = QUARTER @ ahead
    assert there.position == pytest.approx([1.0, 3.0, 3.0])
    assert there.quat_wxyz == pytest.approx([0.0, 0.0, 0.0, 1.0])
    assert there.matrix == pytest.approx(QUARTER.matrix @ ahead.matrix)


def test_a_pose_and_its_inverse_undo_each_other():
    for none in (QUARTER @ QUARTER.inverse(), QUARTER.inverse() @ QUARTER):
        assert none.position == pytest.approx(np.zeros(3), abs=1e-15)
        assert none.quat_wxyz == pytest.approx([1.0, 0.0, 0.0, 0.0])


def test_the_distance_of_poses_is_that_of_their_origins():
    other = Pose(position=np.array([1.0, 5.0, 7.0]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
    assert QUARTER.distance_to(other) == other.distance_to(QUARTER) == 5.0


def test_a_pose_can_be_pickled():
    assert pickle.loads(pickle.dumps(QUARTER)).position == pytest.approx(QUARTER.position)


@pytest.mark.parametrize(
    ("position", "quat_wxyz"),
    [([0.0, np.nan, 0.0], [1.0, 0.0, 0.0, 0.0]), ([0.0] * 3, [0.0] * 4), ([0.0] * 3, [np.inf] * 4)],
)
def test_an_invalid_pose_is_rejected_by_name(position, quat_wxyz):
    QUARTER.check("it")
    with pytest.raises(UserInputError, match="'box' needs a valid pose, got"):
        Pose(position=np.array(position), quat_wxyz=np.array(quat_wxyz)).check("'box'")


def test_roll_pitch_and_yaw_are_rotations_about_fixed_axes():
    quat, angles = np.zeros(4), np.array([0.4, -0.7, 2.5])
    mujoco.mju_euler2Quat(quat, angles, "XYZ")
    assert rpy_of(quat) == pytest.approx(angles)
    up = rpy_of(np.array([0.5, 0.5, 0.5, -0.5]) + 1e-17)
    assert np.isfinite(up).all()


@pytest.mark.parametrize("pitch", [np.pi / 2, np.pi / 2 - 1e-7, -np.pi / 2, -np.pi / 2 + 1e-7, 1.5])
def test_roll_pitch_and_yaw_are_exact_near_a_pitch_of_a_quarter_turn(pitch):
    quat, again = np.zeros((2, 4))
    mujoco.mju_euler2Quat(quat, np.array([0.4, pitch, -2.5]), "XYZ")
    angles = rpy_of(3.0 * quat)
    assert angles[1] == pytest.approx(pitch, abs=1e-15)
    mujoco.mju_euler2Quat(again, np.array(angles), "XYZ")
    assert abs(again @ quat) == pytest.approx(1.0, abs=1e-15)
    assert np.abs(angles).max() <= np.pi
