"""Motions of interactive markers that their controls allow."""

from itertools import combinations

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.drag_handles import dragged
from mujoco_ros.viewer.marker_constraints import control_handles
from mujoco_ros.viewer.marker_descriptions import (
    ControlOrientation,
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


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (MODE.NONE, []),
        (MODE.MENU, []),
        (MODE.BUTTON, []),
        (MODE.MOVE_AXIS, ["move x 0"]),
        (MODE.MOVE_PLANE, ["slide 0"]),
        (MODE.ROTATE_AXIS, ["turn x 0"]),
        (MODE.MOVE_ROTATE, ["slide 0", "turn x 0"]),
        (MODE.MOVE_3D, ["move 0", "move x 0", "move y 0", "move z 0"]),
        (MODE.ROTATE_3D, ["turn x 0", "turn y 0", "turn z 0"]),
    ],
)
def test_a_control_has_the_handles_of_its_mode(projection, mode, names):
    one = marker(control(mode))
    found = list(control_handles(one, Pose(), one.pose, projection))
    assert [it.name for it in found] == names
    assert {it.control for it in found} <= {mode.name}
    assert (moving_control(one) is None) == (not names)


def test_a_control_that_moves_and_rotates_has_all_handles(projection):
    one = marker(control(MODE.MOVE_ROTATE_3D))
    assert len(list(control_handles(one, Pose(), one.pose, projection))) == 7


def test_every_handle_has_a_place_of_its_own(projection):
    facing = control(MODE.MOVE_PLANE, orientation=ControlOrientation.VIEW_FACING)
    one = marker(control(MODE.MOVE_3D), facing)
    points = [it.point for it in control_handles(one, Pose(), one.pose, projection)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(points, 2)) > 1e-2


@pytest.mark.parametrize("orientation", [ControlOrientation.INHERIT, ControlOrientation.FIXED])
def test_an_axis_turns_with_the_marker_or_is_fixed(projection, orientation):
    one = marker(control(MODE.MOVE_AXIS, orientation=orientation), quat=QUARTER)
    reference = Pose(position=np.array([0.0, 0.0, 0.1]), quat_wxyz=QUARTER)
    frame = reference @ one.pose
    (handle,) = control_handles(one, reference, frame, projection)
    moved = dragged(frame, handle, projection, np.array([20.0, 15.0]))
    by = moved.position - frame.position
    axis = [-1.0, 0.0, 0.0] if orientation is ControlOrientation.INHERIT else [0.0, 1.0, 0.0]
    assert np.linalg.norm(by) > 1e-3
    np.testing.assert_allclose(np.cross(by, axis), 0.0, atol=1e-12)


def test_a_handle_moves_in_its_plane_and_follows_the_mouse(projection):
    tilted = turned((0.0, 1.0, 0.0), -1.0)
    one = marker(control(MODE.MOVE_PLANE, quat_wxyz=tilted))
    (handle,) = control_handles(one, Pose(), one.pose, projection)
    pixels = np.array([12.0, -7.0])
    moved = dragged(one.pose, handle, projection, pixels)
    by = moved.position - one.pose.position
    assert abs(by @ Pose(quat_wxyz=tilted).matrix[:, 0]) < 1e-12
    now = projection.project(handle.point + by)
    np.testing.assert_allclose(now, projection.project(handle.point) + pixels, atol=0.1)


def test_a_plane_that_is_seen_from_its_edge_limits_the_motion(projection):
    edge = np.cross(projection.forward, projection.up)
    depth = projection.depth(np.zeros(3))
    by = projection.drag_on_plane(np.zeros(3), edge, np.array([300.0, 0.0]))
    assert abs(by @ edge) < 1e-9
    assert np.linalg.norm(by) <= 2.0 * depth + 1e-9


def test_a_control_that_faces_the_camera_moves_parallel_to_the_screen(projection):
    facing = control(MODE.MOVE_PLANE, orientation=ControlOrientation.VIEW_FACING)
    one = marker(facing)
    (handle,) = control_handles(one, Pose(), one.pose, projection)
    moved = dragged(one.pose, handle, projection, np.array([30.0, 20.0]))
    by = moved.position - one.pose.position
    np.testing.assert_allclose(by @ projection.forward, 0.0, atol=1e-12)
    np.testing.assert_array_equal(allowed(one, WANTED).position, WANTED.position)


def test_a_marker_rotates_about_the_axis_of_its_control(projection):
    one = marker(control(MODE.ROTATE_AXIS, quat_wxyz=QUARTER))
    (handle,) = control_handles(one, Pose(), one.pose, projection)
    moved = dragged(one.pose, handle, projection, np.array([9.0, 4.0]))
    np.testing.assert_array_equal(moved.position, one.pose.position)
    np.testing.assert_allclose(moved.matrix[:, 1], [0.0, 1.0, 0.0], atol=1e-12)
    assert moved.matrix[0, 0] < 1.0 - 1e-6


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
