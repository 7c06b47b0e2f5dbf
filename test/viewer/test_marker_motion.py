"""Motions of interactive markers that their controls allow."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.marker_descriptions import (
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
)
from mujoco_ros.viewer.marker_motion import allowed, moving_control

MODE = InteractionMode
QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
"""About z."""


def turned(axis: tuple[float, float, float], angle: float) -> np.ndarray:
    quat = np.zeros(4)
    mujoco.mju_axisAngle2Quat(quat, np.array(axis), angle)
    return quat


WANTED = Pose(position=np.array([1.0, 2.0, 3.0]), quat_wxyz=turned((0.6, 0.0, 0.8), 0.7))


def marker(*controls: MarkerControl, quat: np.ndarray | None = None) -> InteractiveMarkerInfo:
    quat = Pose().quat_wxyz if quat is None else quat
    pose = Pose(position=np.array([0.2, -0.1, 0.8]), quat_wxyz=quat)
    return InteractiveMarkerInfo(
        name="goal",
        description="",
        frame="world",
        pose=pose,
        initial_quat=Pose().quat_wxyz,
        controls=controls,
    )


def control(mode: InteractionMode, **values) -> MarkerControl:
    return MarkerControl(name=mode.name, mode=mode, **values)


def test_a_pose_in_numbers_keeps_to_an_axis():
    one = marker(control(MODE.MOVE_AXIS, quat_wxyz=QUARTER))
    found = allowed(one, WANTED)
    np.testing.assert_allclose(found.position, [0.2, 2.0, 0.8], atol=1e-12)
    np.testing.assert_array_equal(found.quat_wxyz, one.pose.quat_wxyz)


def test_a_pose_in_numbers_keeps_to_a_plane_and_the_rotation_about_its_normal():
    one = marker(control(MODE.MOVE_ROTATE))
    found = allowed(one, WANTED)
    np.testing.assert_allclose(found.position, [0.2, 2.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(found.matrix[:, 0], [1.0, 0.0, 0.0], atol=1e-12)
    assert found.matrix[1, 1] < 1.0 - 1e-3


@pytest.mark.parametrize(
    "controls",
    [
        (control(MODE.MOVE_ROTATE_3D),),
        (control(MODE.MOVE_3D), control(MODE.ROTATE_3D)),
        (control(MODE.MOVE_ROTATE), control(MODE.MOVE_ROTATE, quat_wxyz=QUARTER)),
    ],
)
def test_a_pose_in_numbers_is_free_with_enough_controls(controls):
    found = allowed(marker(*controls), WANTED)
    np.testing.assert_allclose(found.position, WANTED.position, atol=1e-12)
    np.testing.assert_allclose(found.quat_wxyz, WANTED.quat_wxyz, atol=1e-12)


@pytest.mark.parametrize(
    ("position", "axis", "name"),
    [
        ((0.0, 0.0, 0.0), None, "turn_x"),
        ((0.3, 0.0, 0.0), None, "move_x"),
        ((0.0, 0.3, 0.0), None, "move_y"),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), "turn_x"),
        ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), "turn_y"),
        ((0.0, 0.1, 0.3), None, "move_all"),
        ((0.1, 0.0, 0.0), (0.0, 0.0, 1.0), "all"),
    ],
)
def test_a_pose_in_numbers_belongs_to_the_control_that_allows_it(position, axis, name):
    names = ("turn_x", "turn_y", "move_x", "move_y", "move_all", "all")
    modes = (*[MODE.ROTATE_AXIS] * 2, *[MODE.MOVE_AXIS] * 2, MODE.MOVE_3D, MODE.MOVE_ROTATE_3D)
    turns = {"turn_y": QUARTER, "move_y": QUARTER}
    one = marker(
        *(
            MarkerControl(name=it, mode=mode, quat_wxyz=turns.get(it, Pose().quat_wxyz))
            for it, mode in zip(names, modes, strict=True)
        )
    )
    quat = Pose().quat_wxyz if axis is None else turned(axis, 0.4)
    wanted = Pose(position=one.pose.position + position, quat_wxyz=quat)
    found = moving_control(one, wanted)
    assert found is not None
    assert found.name == name


def test_a_marker_without_controls_that_move_it_stays():
    one = marker(control(MODE.BUTTON), control(MODE.MENU))
    assert allowed(one, WANTED).equals(one.pose)
