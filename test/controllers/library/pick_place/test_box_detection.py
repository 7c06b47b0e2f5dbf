"""Detection of boxes in computed depth images."""

import numpy as np
import pytest

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.library.pick_place.box_detection import detect_box
from mujoco_ros.controllers.library.pick_place.grasping import QUARTER, upright, yaw
from mujoco_ros.model.pose import Pose

HEIGHT, WIDTH, FOCAL = 120, 160, 150.0
TABLE, CAMERA = 0.3, 0.6
MATRIX = np.array([[FOCAL, 0, (WIDTH - 1) / 2], [0, FOCAL, (HEIGHT - 1) / 2], [0, 0, 1.0]])
DOWN = Pose(position=np.array([0.4, 0.1, CAMERA]), quat_wxyz=np.array([0.0, 1.0, 0.0, 0.0]))


def depth_image(*boxes: tuple[float, float, float]) -> Image:
    """Return an image from above of cubes of 40 mm, each at x and y with a yaw."""
    down, across = np.mgrid[:HEIGHT, :WIDTH]
    rays = np.stack([(across - MATRIX[0, 2]) / FOCAL, (down - MATRIX[1, 2]) / FOCAL], axis=-1)
    depth = np.full((HEIGHT, WIDTH), CAMERA - TABLE)
    for x, y, turned in boxes:
        top = CAMERA - TABLE - 0.04
        away = rays * top * (1, -1) + DOWN.position[:2] - (x, y)
        turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
        depth[(np.abs(away @ turn) < 0.02).all(axis=-1)] = top
    return Image(time=0.0, depth=depth, colour=None, matrix=MATRIX, pose=DOWN)


@pytest.mark.parametrize("turned", [0.0, 0.3, -0.7, 1.2])
def test_a_box_is_detected_with_position_and_yaw(turned):
    found = detect_box(depth_image((0.42, 0.07, turned)))
    assert found is not None
    assert found.position == pytest.approx((0.42, 0.07, TABLE + 0.02), abs=1e-3)
    off = yaw(found) - turned
    assert off - QUARTER * round(off / QUARTER) == pytest.approx(0.0, abs=0.04)


def test_the_box_nearest_to_the_middle_counts_and_none_at_the_border():
    found = detect_box(depth_image((0.41, 0.11, 0.0), (0.5, 0.0, 0.0)))
    assert found is not None
    assert found.position[:2] == pytest.approx((0.41, 0.11), abs=1e-3)
    assert detect_box(depth_image((0.56, 0.1, 0.0))) is None
    assert detect_box(depth_image()) is None


def test_near_points_are_the_hand_and_an_empty_image_has_no_box():
    image = depth_image((0.42, 0.07, 0.0))
    image.depth[60:, :40] = 0.1
    found = detect_box(image)
    assert found is not None
    assert found.position[:2] == pytest.approx((0.42, 0.07), abs=1e-3)
    image.depth[:] = np.inf
    assert detect_box(image) is None
    assert yaw(upright(0, 0, 0, 0.4)) == pytest.approx(0.4)
