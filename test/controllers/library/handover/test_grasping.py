"""Poses of the tools that pass a box from hand to hand."""

import numpy as np
import pytest

from mujoco_ros.controllers.library.pick_place.grasping import behind, presenting, receiving
from mujoco_ros.model.pose import Pose

CENTRE = np.array([0.6, 0.1, 0.5])


def turned(angle: float, axis: tuple[float, float, float]) -> np.ndarray:
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis))])


@pytest.mark.parametrize("heading", [0.0, 0.7, -2.0])
def test_a_presented_tool_is_horizontal_with_its_fingers_side_by_side(heading):
    tool = presenting(CENTRE, heading)
    x, y, z = tool.matrix.T
    assert tool.position == pytest.approx(CENTRE)
    assert z == pytest.approx([np.cos(heading), np.sin(heading), 0.0])
    assert y[2] == pytest.approx(0.0)
    assert x == pytest.approx([0.0, 0.0, -1.0])


@pytest.mark.parametrize("quarters", range(4))
@pytest.mark.parametrize("slack", [-0.05, 0.0, 0.05])
def test_the_receiving_tool_is_opposite_with_its_fingers_at_a_right_angle(quarters, slack):
    giver = presenting(CENTRE, 0.7)
    # A cube in the hand, in any of its orientations, a little turned about the fingers.
    box = giver @ Pose(quat_wxyz=turned(quarters * np.pi / 2 + slack, (0.0, 1.0, 0.0)))
    tool = receiving(box, giver)
    assert tool.position == pytest.approx(CENTRE)
    assert np.linalg.det(tool.matrix) == pytest.approx(1.0)
    assert tool.matrix[:, 2] @ giver.matrix[:, 2] == pytest.approx(-np.cos(slack))
    assert tool.matrix[:, 1] @ giver.matrix[:, 1] == pytest.approx(0.0, abs=1e-9)
    faces = np.abs(box.matrix.T @ tool.matrix)
    assert np.sort(faces.ravel()) == pytest.approx([0.0] * 6 + [1.0] * 3, abs=1e-9), "aligned"


def test_a_tool_is_drawn_back_along_its_fingers():
    tool = presenting(CENTRE, np.pi / 2)
    moved = behind(tool, 0.1)
    assert moved.position == pytest.approx(CENTRE - [0.0, 0.1, 0.0])
    assert moved.quat_wxyz is tool.quat_wxyz
