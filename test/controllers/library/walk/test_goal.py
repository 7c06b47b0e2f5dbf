"""Velocities that lead to a goal."""

import numpy as np
import pytest

from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.library.walk.footsteps import error_of, joined, velocity_to

FASTEST, STEP = BodyVelocity(0.3, 0.1, 0.35), 0.9


def test_a_pose_relative_to_a_place_is_its_error_there():
    place, relative = PlanarPose(1.0, 2.0, 3.0), PlanarPose(0.3, -0.2, 0.5)
    goal = joined(place, relative)
    assert abs(goal.yaw) <= np.pi
    assert error_of(goal, place) == pytest.approx(relative)


def test_a_far_goal_is_faced_and_a_near_one_is_approached_in_any_direction():
    behind = velocity_to(PlanarPose(-2.0, 0.1, 0.0), STEP, FASTEST)
    assert behind == BodyVelocity(0.0, 0.0, 0.35)
    assert velocity_to(PlanarPose(2.0, 0.0, 1.0), STEP, FASTEST) == BodyVelocity(0.3, 0.0, 0.0)
    near = velocity_to(PlanarPose(-0.09, 0.09, -0.09), STEP, FASTEST)
    assert near == pytest.approx(BodyVelocity(-0.1, 0.05, -0.1))
    assert velocity_to(PlanarPose(0.34, 0.34, 2.0), STEP, FASTEST) == FASTEST


def test_the_robot_stops_at_the_goal():
    assert velocity_to(PlanarPose(0.005, -0.005, 0.01), STEP, FASTEST).is_zero
    assert not velocity_to(PlanarPose(0.0, 0.0, 0.02), STEP, FASTEST).is_zero
