import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_escape import left, way_out
from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.errors import CollisionError
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.motion_planner import MotionPlanner
from mujoco_ros.controllers.planning.requests import JointMove, LineMove

TOUCHING = 0.323
"""Height of the tool when the fingers' pads touch the table [m]."""
GAPS = [0.004, 0.002, -0.0002]
"""Within the margin of 5 mm; the last as deep as contacts are soft [m]."""


@pytest.fixture(scope="module")
def away(down):
    return PlanningScene(objects={"box": down(2.0, 0.0, 0.5)})


@pytest.fixture(scope="module")
def low(arm, home, down):
    """Postures with the fingers down, so far above the table."""
    inverse = InverseKinematics(arm)
    return lambda gap: inverse.solve(down(0.385, 0.133, TOUCHING + gap), home)


def gaps(collisions, trajectory):
    """Return the distance to what is nearest, or the margin if that is kept, all along."""
    margin = collisions.surroundings.margin
    for q in trajectory.samples(np.arange(0.0, trajectory.duration, 2e-3))[0]:
        yield min(collisions.near(q).values(), default=margin)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("kind", [JointMove, LineMove])
def test_a_start_within_the_margin_is_left_and_nothing_comes_nearer(
    arm, home, limits, down, low, away, gap, kind
):
    goal = home if kind is JointMove else down(0.385, 0.133, 0.45)
    move = kind(start=low(gap), goal=goal, limits=limits, surroundings=away)
    kept = np.array(list(gaps(Collisions(arm, away), MotionPlanner(arm).plan(move).trajectory)))
    assert kept[0] == pytest.approx(gap, abs=1e-4)
    assert kept.min() > gap - 3e-4
    left_at = int(np.argmax(kept >= 0.0025))
    assert kept[left_at:].min() >= 0.0025 - 1e-6, "half of the margin, and for good"
    assert kept[-1] == away.margin


def test_a_start_that_overlaps_is_no_matter_of_margins(arm, home, limits, down, low, away):
    common = {"start": low(-0.002), "limits": limits, "surroundings": away}
    with pytest.raises(CollisionError, match=r"at the start .*table_board overlap by 2\.0 mm"):
        MotionPlanner(arm).plan(JointMove(goal=home, **common))
    with pytest.raises(CollisionError, match=r"on the line, .*table_board overlap by 2\.0 mm"):
        MotionPlanner(arm).plan(LineMove(goal=down(0.385, 0.133, 0.45), **common))


@pytest.mark.parametrize("way", [(0.1, 0.0, 0.0), (0.0, 0.0, -0.0015), (0.0, -0.1, 0.001)])
def test_a_line_that_does_not_lead_away_says_what_is_near(arm, limits, down, low, away, way):
    goal = down(*(np.array([0.385, 0.133, TOUCHING + 0.002]) + way))
    with pytest.raises(CollisionError, match=r"table_board are only 2\.0 mm apart"):
        MotionPlanner(arm).plan(
            LineMove(start=low(0.002), goal=goal, limits=limits, surroundings=away)
        )


def test_where_the_straight_way_leads_nearer_another_way_out_is_taken(arm, low, away):
    collisions = Collisions(arm, away)
    start = low(0.002)
    out = way_out(collisions, start, low(-0.02), seed=1)
    assert collisions.free(out)
    assert np.abs(out - start).max() < 0.2
    way = np.linspace(start, out, 200)
    assert min(min(collisions.near(q).values(), default=1.0) for q in way) > 0.002 - 3e-4
    assert (out == way_out(collisions, start, low(-0.02), seed=1)).all()


class Told:
    """Stands for collisions: a posture is what is near there, by millimetres."""

    def near(self, q, share=1.0):
        return {pair: 1e-3 * distance for pair, distance in q.items()}


@pytest.mark.parametrize(
    ("postures", "number"),
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
def test_what_is_near_may_get_farther_only_and_nothing_else_may_come_near(postures, number):
    assert left(Told(), postures) == number
