"""Overlap of boxes and bounds."""

import itertools

import numpy as np
import pytest

from mujoco_ros.bridge.simulation_interfaces.filters import with_box, with_hull, with_sphere
from mujoco_ros.sim.observer import BoundingBox


def cube(x: float, y: float = 0.0, z: float = 0.0, half: float = 1.0) -> BoundingBox:
    centre = np.array([x, y, z])
    return BoundingBox(centre - half, centre + half)


@pytest.mark.parametrize(("x", "overlaps"), [(0.0, True), (1.9, True), (2.0, True), (2.1, False)])
def test_boxes_overlap_if_they_do_along_all_axes(x, overlaps):
    assert with_box(cube(0.0))(cube(x)) == overlaps
    assert with_box(cube(0.0))(cube(0.0, x)) == overlaps
    assert with_box(cube(0.0))(cube(0.0, 0.0, x)) == overlaps


def test_a_sphere_reaches_less_far_at_the_corners_of_a_box():
    assert with_sphere(np.array([1.9, 0.0, 0.0]), 1.0)(cube(0.0))
    assert not with_sphere(np.array([1.9, 1.9, 1.9]), 1.0)(cube(0.0))
    assert with_sphere(np.array([1.5, 1.5, 1.5]), 1.0)(cube(0.0))


def test_a_hull_overlaps_where_its_own_box_is_not_enough():
    tetrahedron = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], dtype=float)
    overlaps = with_hull(tetrahedron)
    assert overlaps(cube(0.0))
    assert overlaps(cube(1.0, 1.0, 1.0, half=0.5))
    assert not overlaps(cube(3.0, 3.0, 3.0, half=0.9))  # within the box around it
    assert not overlaps(cube(-1.2, -1.2, -1.2))


def test_a_hull_of_a_boxs_corners_is_that_box():
    chance = np.random.default_rng(1)
    for _ in range(200):
        one, other = (cube(*chance.uniform(-2, 2, 3), half=chance.uniform(0.1, 2)) for _ in "ab")
        hull = np.array(list(itertools.product(*zip(one.low, one.high, strict=True))))
        assert with_hull(hull)(other) == with_box(one)(other)


def test_small_gaps_between_hulls_are_detected():
    chance = np.random.default_rng(2)
    for _ in range(100):
        points = chance.normal(size=(30, 3))
        normal = chance.normal(size=3)
        normal /= np.linalg.norm(normal)
        box = cube(0.0, half=0.5)
        reach = 0.5 * np.abs(normal).sum()
        moved = points + (reach - (points @ normal).min()) * normal
        assert not with_hull(moved + 1e-6 * normal)(box)
        deepest = moved[np.argmin(moved @ normal)]
        corner = 0.5 * np.sign(normal)
        assert with_hull(moved - (deepest - corner) - 1e-6 * normal)(box)


def test_a_flat_hull_overlaps_like_any_other():
    triangle = with_hull(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float))
    assert triangle(cube(0.0, 0.0, 0.5))
    assert not triangle(cube(0.0, 0.0, 1.5))
