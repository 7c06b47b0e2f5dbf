import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import (
    CollisionChecker,
    escape,
    first_clear,
)
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.limits import CollisionError
from mujoco_ros.controllers.planning.motion_planner import MotionPlanner
from mujoco_ros.controllers.planning.requests import JointMove, LineMove

TOUCHING = 0.323
"""Height of the tool at which the fingers' pads touch the table [m]."""
GAPS = [0.004, 0.002, -0.0002]
"""Distances within the margin of 5 mm; the last is an overlap of soft contacts [m]."""


@pytest.fixture(scope="module")
def away(down):
    return PlanningScene(objects={"box": down(2.0, 0.0, 0.5)})


@pytest.fixture(scope="module")
def low(arm, home, down):
    """Configurations with the fingers at a distance above the table."""
    inverse = InverseKinematics(arm)
    return lambda gap: inverse.solve(down(0.385, 0.133, TOUCHING + gap), home)


def gaps(checker, trajectory):
    """Yield the smallest distance along a motion, or the margin if that is kept."""
    margin = checker.scene.margin
    for q in trajectory.samples(np.arange(0.0, trajectory.duration, 2e-3))[0]:
        yield min(checker.pairs_within(q).values(), default=margin)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("kind", [JointMove, LineMove])
def test_a_start_within_the_margin_is_left_and_no_distance_decreases(
    arm, home, limits, down, low, away, gap, kind
):
    goal = home if kind is JointMove else down(0.385, 0.133, 0.45)
    move = kind(start=low(gap), goal=goal, limits=limits, scene=away)
    kept = np.array(
        list(gaps(CollisionChecker(arm, away), MotionPlanner(arm).plan(move).trajectory))
    )
    assert kept[0] == pytest.approx(gap, abs=1e-4)
    assert kept.min() > gap - 3e-4
    left_at = int(np.argmax(kept >= 0.0025))
    assert kept[left_at:].min() >= 0.0025 - 1e-6, "half of the margin from then on"
    assert kept[-1] == away.margin


def test_a_start_that_overlaps_is_a_collision(arm, home, limits, down, low, away):
    common = {"start": low(-0.002), "limits": limits, "scene": away}
    with pytest.raises(CollisionError, match=r"at the start .*table_board overlap by 2\.0 mm"):
        MotionPlanner(arm).plan(JointMove(goal=home, **common))
    with pytest.raises(CollisionError, match=r"on the line, .*table_board overlap by 2\.0 mm"):
        MotionPlanner(arm).plan(LineMove(goal=down(0.385, 0.133, 0.45), **common))


@pytest.mark.parametrize("way", [(0.1, 0.0, 0.0), (0.0, 0.0, -0.0015), (0.0, -0.1, 0.001)])
def test_a_line_that_does_not_lead_away_names_the_pair(arm, limits, down, low, away, way):
    goal = down(*(np.array([0.385, 0.133, TOUCHING + 0.002]) + way))
    with pytest.raises(CollisionError, match=r"table_board are only 2\.0 mm apart"):
        MotionPlanner(arm).plan(LineMove(start=low(0.002), goal=goal, limits=limits, scene=away))


def test_an_escape_turns_away_from_the_goal_where_that_leads_closer(arm, low, away):
    checker = CollisionChecker(arm, away)
    start = low(0.002)
    out = escape(checker, start, low(-0.02), seed=1)
    assert checker.is_free(out)
    assert np.abs(out - start).max() < 0.2
    way = np.linspace(start, out, 200)
    assert min(min(checker.pairs_within(q).values(), default=1.0) for q in way) > 0.002 - 3e-4
    assert (out == escape(checker, start, low(-0.02), seed=1)).all()


class FakeChecker:
    """A checker whose configurations are their pairs with distances [mm]."""

    def pairs_within(self, q, margin_scale=1.0):
        return {pair: 1e-3 * distance for pair, distance in q.items()}


@pytest.mark.parametrize(
    ("configurations", "number"),
    [
        ([{}], 0),
        ([{1: 2.0}, {1: 3.0}, {}], 2),
        ([{1: -0.5}, {1: 1.0, 2: 1.0}, {}], None),
        ([{1: -0.5, 2: 1.0}, {1: 1.0, 2: 1.0}, {1: 2.0}, {}], 3),
        ([{1: 2.0}, {1: 1.5}, {}], None),
        ([{1: 2.0}, {1: 4.0}, {1: 3.0}, {}], None),
        ([{1: 2.0, 2: 4.0}, {1: 3.0}, {1: 4.0, 2: 4.0}, {}], None),
        ([{1: 2.0}, {1: 2.0}], None),
        ([{1: -2.0}, {}], None),
    ],
)
def test_distances_within_the_margin_only_increase(configurations, number):
    assert first_clear(FakeChecker(), configurations) == number
