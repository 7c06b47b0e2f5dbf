from itertools import pairwise

import numpy as np
import pytest

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.kinematics.limits import CollisionError, NoPathError
from mujoco_ros.controllers.planning.motion_planner import plan_path
from mujoco_ros.model.pose import Pose

START = np.array([-1.2, 1.2, 0.0, 0.6, 0.0, 0.3, 0.0])
GOAL = START * (-1, 1, 1, 1, 1, 1, 1)
"""Configurations on the two sides of the wall."""
UPRIGHT = Pose(position=np.array([0.0, 0.0, 0.1]), quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]))


def assert_free(corners, checker):
    for first, second in pairwise(corners):
        for part in np.linspace(0.0, 1.0, 200):
            assert checker.is_free(first + part * (second - first))


@pytest.mark.parametrize("held", [None, HeldObject(object="brick", pose=UPRIGHT)])
def test_a_path_leads_around_a_wall_with_a_held_object(seven, held):
    scene = PlanningScene(held=held)
    corners, iterations = plan_path(
        CollisionChecker(seven, scene), START, GOAL, seed=1, iterations=2000
    )
    assert iterations > 0
    assert corners[0] == pytest.approx(START)
    assert corners[-1] == pytest.approx(GOAL)
    assert_free(corners, CollisionChecker(seven, scene))


def test_a_free_straight_path_is_taken(seven):
    goal = START + np.array([-0.3, -0.5, 0.2, 0.1, 0.0, 0.3, 0.1])
    checker = CollisionChecker(seven, PlanningScene())
    corners, iterations = plan_path(checker, START, goal, seed=1, iterations=1)
    assert iterations == 0
    assert (corners == [START, goal]).all()


def test_the_same_seed_gives_the_same_bits(seven):
    def plan(seed):
        checker = CollisionChecker(seven, PlanningScene())
        return plan_path(checker, START, GOAL, seed=seed, iterations=2000)[0].tobytes()

    first = plan(1)
    assert plan(2) != first
    assert plan(1) == first


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_too_few_iterations_find_no_path(seven, iterations):
    checker = CollisionChecker(seven, PlanningScene())
    with pytest.raises(NoPathError, match=f"no path was found in {iterations} iterations"):
        plan_path(checker, START, GOAL, seed=1, iterations=iterations)


def test_a_collision_at_start_or_goal_is_named(seven):
    inside = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.6, 0.0])
    checker = CollisionChecker(seven, PlanningScene())
    with pytest.raises(CollisionError, match=r"at the goal .*wall"):
        plan_path(checker, START, inside, seed=1, iterations=100)
    with pytest.raises(CollisionError, match=r"at the start .*wall"):
        plan_path(checker, inside, START, seed=1, iterations=100)


def test_joints_stay_within_their_limits(seven):
    corners, _ = plan_path(
        CollisionChecker(seven, PlanningScene()), START, GOAL, seed=3, iterations=2000
    )
    assert (corners >= seven.lower).all()
    assert (corners <= seven.upper).all()
