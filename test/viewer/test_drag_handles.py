"""Dragging a frame by its handles."""

import numpy as np
import pytest

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.drag_handles import Handle, dragged, handles, ring
from mujoco_ros.viewer.framing import ScreenProjection

NAMES = ["move", "move x", "move y", "move z", "turn x", "turn y", "turn z"]


def skewed_frame() -> Pose:
    quat = np.array([0.9, 0.1, -0.1, 0.05])
    return Pose(position=np.array([0.2, -0.1, 0.8]), quat_wxyz=quat / np.linalg.norm(quat))


def handle(name: str, frame: Pose, projection: ScreenProjection) -> Handle:
    return next(each for each in handles(frame, projection) if each.name == name)


def test_a_frame_has_handles_to_translate_and_to_rotate_it(projection):
    assert [each.name for each in handles(skewed_frame(), projection)] == NAMES


@pytest.mark.parametrize("name", NAMES[:4])
def test_a_handle_that_moves_follows_the_mouse(projection, name):
    frame = skewed_frame()
    held = handle(name, frame, projection)
    along = projection.project(held.point + 1e-3 * held.direction) - projection.project(held.point)
    pixels = 5.0 * along / np.linalg.norm(along) if held.axis is not None else np.array([4.0, -3.0])
    moved = dragged(frame, held, projection, pixels)
    now = projection.project(handle(name, moved, projection).point)
    np.testing.assert_allclose(now, projection.project(held.point) + pixels, atol=0.5)
    np.testing.assert_array_equal(moved.quat_wxyz, frame.quat_wxyz)


@pytest.mark.parametrize("axis", range(3))
def test_a_handle_moves_a_frame_along_its_axis_only(projection, axis):
    frame = skewed_frame()
    moved = dragged(
        frame, handle(NAMES[1 + axis], frame, projection), projection, np.array([7.0, 5.0])
    )
    by = frame.matrix.T @ (moved.position - frame.position)
    assert abs(by[axis]) > 1e-4
    np.testing.assert_allclose(np.delete(by, axis), 0.0, atol=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_a_handle_rotates_a_frame_about_its_axis_only_and_follows_the_mouse(projection, axis):
    frame = skewed_frame()
    held = handle(NAMES[4 + axis], frame, projection)
    along = projection.project(held.point + 1e-3 * held.direction) - projection.project(held.point)
    pixels = 3.0 * along / np.linalg.norm(along)
    turned = dragged(frame, held, projection, pixels)
    np.testing.assert_array_equal(turned.position, frame.position)
    np.testing.assert_allclose(turned.matrix[:, axis], frame.matrix[:, axis], atol=1e-12)
    now = projection.project(handle(held.name, turned, projection).point)
    np.testing.assert_allclose(now, projection.project(held.point) + pixels, atol=0.7)


def test_an_axis_that_points_at_the_camera_limits_the_motion():
    projection = ScreenProjection(
        position=np.zeros(3),
        right=np.array([0.0, -1.0, 0.0]),
        up=np.array([0.0, 0.0, 1.0]),
        forward=np.array([1.0, 0.0, 0.0]),
        focal=600.0,
        width=800.0,
        height=600.0,
    )
    frame = Pose(position=np.array([2.0, 1e-3, 0.0]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
    moved = dragged(frame, handle("move x", frame, projection), projection, np.array([40.0, 40.0]))
    assert np.linalg.norm(moved.position - frame.position) < 0.25


def test_the_handle_that_rotates_is_in_the_middle_of_its_ring(projection):
    frame = skewed_frame()
    for axis in range(3):
        corners = ring(handle(NAMES[4 + axis], frame, projection), frame.position)
        np.testing.assert_allclose(
            corners[len(corners) // 2], handle(NAMES[4 + axis], frame, projection).point, atol=1e-12
        )
