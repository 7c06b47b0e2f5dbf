"""Points of the world on the screen."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.viewer.projection import ScreenProjection

WIDTH, HEIGHT = 800.0, 600.0


@pytest.fixture(scope="module")
def empty() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjSpec().compile()
    return model, mujoco.MjData(model)


def lens(empty, **camera) -> ScreenProjection:
    seen = mujoco.MjvCamera()
    seen.lookat[:] = (1.0, 2.0, 0.5)
    seen.distance, seen.azimuth, seen.elevation = 2.0, 0.0, 0.0  # looks along +x
    for name, value in camera.items():
        setattr(seen, name, value)
    return ScreenProjection.of(*empty, seen, WIDTH, HEIGHT)


def test_what_the_camera_looks_at_is_in_the_middle(empty):
    np.testing.assert_allclose(lens(empty).project(np.array([1.0, 2.0, 0.5])), [400.0, 300.0])


def test_the_top_of_the_picture_is_where_the_field_of_view_ends(empty):
    model, _ = empty
    rise = 2.0 * np.tan(np.radians(model.vis.global_.fovy) / 2)
    np.testing.assert_allclose(
        lens(empty).project(np.array([1.0, 2.0, 0.5 + rise])), [400.0, 0.0], atol=1e-3
    )


def test_what_is_on_the_left_is_on_the_left(empty):
    x, y = lens(empty).project(np.array([1.0, 2.3, 0.5]))
    assert x < 400.0
    assert y == pytest.approx(300.0)


def test_what_is_behind_the_eye_is_nowhere(empty):
    assert lens(empty).project(np.array([-5.0, 2.0, 0.5])) is None


def test_a_point_follows_the_mouse_in_the_plane_before_the_eye(empty):
    seen, point = lens(empty, azimuth=37.0, elevation=-20.0), np.array([1.2, 1.9, 0.6])
    pixels = np.array([30.0, -12.0])
    moved = point + seen.in_plane(point, pixels)
    np.testing.assert_allclose(seen.project(moved), seen.project(point) + pixels, atol=1e-6)


@pytest.mark.parametrize("orthographic", [0, 1])
def test_a_point_on_its_way_follows_the_mouse_however_far(empty, orthographic):
    seen = lens(empty, azimuth=30.0, elevation=-35.0, orthographic=orthographic)
    point, way = np.array([1.1, 1.9, 0.4]), np.array([0.0, 0.6, 0.8])
    goal = point + 0.7 * way
    pixels = seen.project(goal) - seen.project(point)
    assert seen.along(point, way, pixels) == pytest.approx(0.7)


def test_without_perspective_things_are_as_large_wherever_they_are(empty):
    seen = lens(empty, orthographic=1)
    near, far = np.array([0.0, 2.0, 0.5]), np.array([1.5, 2.0, 0.5])
    assert seen.metres_per_pixel(near) == seen.metres_per_pixel(far)
