from typing import ClassVar

import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curve import (
    first_collision,
    interpolate,
    parameter_range,
    piecewise_cubics,
    round_corners,
)
from mujoco_ros.controllers.planning.kinematics.limits import NoPathError


class Gate:
    """A checker for which only the neighbourhoods of a corner's two sides are free."""

    def __init__(self, width):
        self.width = width

    def is_free(self, q, margin_scale=1.0):
        return min(abs(q[0]), abs(q[1] - 1.0)) <= self.width

    def step_count(self, start, goal):
        return max(1, int(np.ceil(np.abs(goal - start).max() / STEP)))


STEP = 0.01
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize("width", [1.0, 0.1, 0.02])
def test_a_corner_is_cut_as_far_as_there_is_no_collision(width):
    curve = round_corners(CORNERS, Gate(width))
    begin, end = parameter_range(curve)
    points = curve(np.linspace(begin, end, 500))
    assert points[0] == pytest.approx(CORNERS[0])
    assert points[-1] == pytest.approx(CORNERS[-1])
    cut = np.minimum(np.abs(points[:, 0]), np.abs(points[:, 1] - 1.0)).max()
    assert width / 8 < cut <= width + 1e-3 or width == 1.0
    assert points.min() >= -1e-12  # it stays within the hull of the corners, so in the limits
    assert points.max() <= 1.0 + 1e-12


def test_a_corner_without_room_is_an_error():
    with pytest.raises(NoPathError, match="too narrow"):
        round_corners(CORNERS, Gate(1e-6))


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_two_checks_of_a_curve_are_at_most_a_step_apart(scale):
    class Noted(Gate):
        seen: ClassVar[list[np.ndarray]] = []

        def is_free(self, q, margin_scale=1.0):
            self.seen.append(q)
            return True

    uneven = np.array([[0.0, 0.0], [0.6, 0.8], [0.61, 0.8], [0.62, 0.81], [0.0, 0.1]])
    first_collision(round_corners(uneven, Gate(9.0)), noted := Noted(9.0), scale)
    far = np.abs(np.diff(noted.seen, axis=0)).max(axis=1)
    assert far.max() <= scale * STEP + 1e-9
    assert len(far) < 5 * 2.0 / (scale * STEP), "and not much closer"


def test_two_corners_are_a_straight_line(arm, home):
    goal = home + np.array([0.5, -0.2, 0.1, 0.0, 0.3, -0.4])
    curve = round_corners(np.stack([home, goal]), CollisionChecker(arm, PlanningScene()))
    points = curve(np.linspace(*parameter_range(curve), 50))
    along = (points - home) @ (goal - home) / np.dot(goal - home, goal - home)
    assert points == pytest.approx(home + along[:, None] * (goal - home))
    assert (np.diff(along) > 0).all()


def test_the_cubics_of_a_curve_are_equal_to_it():
    random = np.random.default_rng(2)
    curve = interpolate(random.normal(size=(7, 3)), np.linspace(0.0, 2.0, 7))
    breaks, pieces = piecewise_cubics(curve)
    for at in np.linspace(0.0, 1.999, 30):
        part = np.searchsorted(breaks, at, side="right") - 1
        powers = (at - breaks[part]) ** np.arange(3, -1, -1)
        assert powers @ pieces[:, part] == pytest.approx(curve(at))


def test_the_first_collision_of_a_curve_is_found():
    inside = interpolate(np.linspace((0.0, 0.0), (1.0, 1.0), 5), np.linspace(0.0, 1.0, 5))
    assert not Gate(0.1).is_free(first_collision(inside, Gate(0.1)))
    assert first_collision(inside, Gate(0.6)) is None
