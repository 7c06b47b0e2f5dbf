"""Projection of points of the world to the screen."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.viewer.projection import ScreenProjection

WIDTH, HEIGHT = 800.0, 600.0


@pytest.fixture(scope="module")
def empty() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjSpec().compile()
    return model, mujoco.MjData(model)


def projection(empty, **camera) -> ScreenProjection:
    viewed = mujoco.MjvCamera()
    viewed.lookat[:] = (1.0, 2.0, 0.5)
    viewed.distance, viewed.azimuth, viewed.elevation = 2.0, 0.0, 0.0  # along +x
    for name, value in camera.items():
        setattr(viewed, name, value)
    return ScreenProjection.of_camera(*empty, viewed, WIDTH, HEIGHT)


def test_the_point_that_the_camera_targets_is_in_the_middle(empty):
    np.testing.assert_allclose(projection(empty).project(np.array([1.0, 2.0, 0.5])), [400.0, 300.0])


def test_the_field_of_view_ends_at_the_top_of_the_screen(empty):
    model, _ = empty
    rise = 2.0 * np.tan(np.radians(model.vis.global_.fovy) / 2)
    np.testing.assert_allclose(
        projection(empty).project(np.array([1.0, 2.0, 0.5 + rise])), [400.0, 0.0], atol=1e-3
    )


def test_a_point_on_the_left_is_on_the_left_of_the_screen(empty):
    x, y = projection(empty).project(np.array([1.0, 2.3, 0.5]))
    assert x < 400.0
    assert y == pytest.approx(300.0)


def test_a_point_behind_the_camera_has_no_projection(empty):
    assert projection(empty).project(np.array([-5.0, 2.0, 0.5])) is None


def test_a_point_follows_the_mouse_parallel_to_the_screen(empty):
    screen, point = projection(empty, azimuth=37.0, elevation=-20.0), np.array([1.2, 1.9, 0.6])
    pixels = np.array([30.0, -12.0])
    moved = point + screen.drag_in_plane(point, pixels)
    np.testing.assert_allclose(screen.project(moved), screen.project(point) + pixels, atol=1e-6)


@pytest.mark.parametrize("orthographic", [0, 1])
def test_a_point_on_an_axis_follows_the_mouse_over_any_distance(empty, orthographic):
    screen = projection(empty, azimuth=30.0, elevation=-35.0, orthographic=orthographic)
    point, direction = np.array([1.1, 1.9, 0.4]), np.array([0.0, 0.6, 0.8])
    goal = point + 0.7 * direction
    pixels = screen.project(goal) - screen.project(point)
    assert screen.drag_along(point, direction, pixels) == pytest.approx(0.7)


def test_without_perspective_the_scale_is_the_same_at_any_depth(empty):
    screen = projection(empty, orthographic=1)
    near, far = np.array([0.0, 2.0, 0.5]), np.array([1.5, 2.0, 0.5])
    assert screen.metres_per_pixel(near) == screen.metres_per_pixel(far)
