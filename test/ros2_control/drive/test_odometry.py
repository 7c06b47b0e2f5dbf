"""The pose of a robot follows exact arcs, and its velocity is a mean."""

from math import cos, pi, sin

import pytest

from mujoco_ros.ros2_control.drive.kinematics import Twist
from mujoco_ros.ros2_control.drive.odometry import Odometry


def pose(odometry):
    return odometry.x, odometry.y, odometry.heading


def test_a_quarter_of_a_circle_in_one_step_is_exact():
    odometry = Odometry()
    odometry.integrate(Twist(pi, 0.0, pi / 2), 1.0)
    assert pose(odometry) == pytest.approx((2.0, 2.0, pi / 2))


def test_sideways_motion_turns_with_the_robot():
    odometry = Odometry()
    odometry.integrate(Twist(0.0, pi, pi / 2), 1.0)
    assert pose(odometry) == pytest.approx((-2.0, 2.0, pi / 2))


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-6, 1e-3])
def test_nearly_straight_motion_is_the_limit_of_arcs(turn):
    odometry = Odometry()
    odometry.set_pose(1.0, 2.0, 0.3)
    odometry.integrate(Twist(0.5, 0.1, turn), 2.0)
    x = 1.0 + cos(0.3 + turn) * 1.0 - sin(0.3 + turn) * 0.2
    assert pose(odometry)[0] == pytest.approx(x, abs=1e-6)
    assert pose(odometry)[2] == pytest.approx(0.3 + 2.0 * turn)


def test_velocities_are_means_of_the_last_steps():
    odometry = Odometry(window=4)
    for speed in (1.0, 2.0, 3.0, 4.0, 5.0):
        odometry.average(Twist(speed, 0.0, -speed))
    assert odometry.twist == pytest.approx(Twist(3.5, 0.0, -3.5))
    odometry.set_pose()
    assert (pose(odometry), odometry.twist) == ((0.0, 0.0, 0.0), Twist())
