"""Wheels and robots move as rigid bodies that roll without slip."""

from math import atan, cos, pi, sin, tan

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.drive.kinematics import (
    PlanarJoint,
    RollingWheels,
    SteeredAxle,
    SteeredTraction,
    Twist,
    Wheel,
    differential,
    mecanum,
    omni,
)

CURVE = Twist(0.5, 0.0, 0.8)
ANY = Twist(0.5, -0.3, 0.8)


def test_the_wheels_of_a_differential_drive_follow_from_their_distance_to_the_axis_of_the_turn():
    speeds, angles = differential([0.1, 0.1], [0.1, 0.1], 0.4).command(CURVE, ())
    slow, fast = (0.5 - 0.8 * 0.2) / 0.1, (0.5 + 0.8 * 0.2) / 0.1
    assert speeds == pytest.approx([slow, slow, fast, fast])
    assert angles == ()


def test_radii_of_each_side_are_corrected_apart():
    drive = differential([0.1], [-0.2], 0.4)
    speeds, _ = drive.command(CURVE, ())
    assert speeds == pytest.approx([3.4, -3.3])
    assert drive.measure(speeds, ()) == pytest.approx(CURVE)


def test_a_wheel_that_spins_counts_as_the_mean_of_its_side():
    twist = differential([0.1, 0.1], [0.1, 0.1], 0.4).measure([1.0, 3.0, 2.0, 2.0], ())
    assert twist == pytest.approx(Twist(0.2, 0.0, 0.0), abs=1e-12)


# x, y and turn of ros2_controllers' documentation ("Mobile robot kinematics"), times the radius
MECANUM = np.array([[1, -1, -0.5], [1, 1, 0.5], [1, -1, 0.5], [1, 1, -0.5]])


def test_mecanum_wheels_have_the_speeds_of_the_documentation():
    drive = mecanum(0.1, 0.5)
    speeds, _ = drive.command(ANY, ())
    assert speeds == pytest.approx(MECANUM @ ANY / 0.1)
    assert drive.measure(speeds, ()) == pytest.approx(ANY)


def test_the_base_frame_can_be_anywhere_between_mecanum_wheels():
    x, y, turn = 0.2, -0.1, 0.3
    middle = Twist(
        ANY.x * cos(turn) - ANY.y * sin(turn) + y * ANY.turn,
        ANY.x * sin(turn) + ANY.y * cos(turn) - x * ANY.turn,
        ANY.turn,
    )
    speeds, _ = mecanum(0.1, 0.5, (x, y, turn)).command(ANY, ())
    assert speeds == pytest.approx(mecanum(0.1, 0.5).command(middle, ())[0])


@pytest.mark.parametrize("count", [3, 4, 5])
def test_omni_wheels_have_the_speeds_of_the_documentation(count):
    angles = 0.2 + 2 * pi * np.arange(count) / count
    expected = (np.sin(angles) * ANY.x - np.cos(angles) * ANY.y - 0.3 * ANY.turn) / 0.05
    drive = omni(count, 0.05, 0.3, 0.2)
    speeds, _ = drive.command(ANY, ())
    assert speeds == pytest.approx(expected)
    assert drive.measure(speeds, ()) == pytest.approx(ANY)


def test_a_turn_is_about_the_axle_of_a_differential_drive_wherever_the_base_frame_is():
    wheels = [Wheel(position=(-0.2, y), radius=0.1) for y in (0.2, -0.2)]
    drive = RollingWheels(wheels, axle=-0.2)
    speeds, _ = drive.command(Twist(0.0, 0.7, 1.0), ())
    assert speeds == pytest.approx([-2.0, 2.0])
    assert drive.measure(speeds, ()) == pytest.approx(Twist(0.0, 0.2, 1.0), abs=1e-12)


@pytest.mark.parametrize(
    ("wheels", "reason"),
    [
        ([Wheel(position=(0, 0.2), radius=0.1), Wheel(position=(1, 0.2), radius=0.1)], "determine"),
        ([Wheel(position=(0, 0.2), radius=0.1, grip=pi / 2)], "right angle"),
    ],
)
def test_wheels_that_cannot_determine_the_motion_are_an_error(wheels, reason):
    with pytest.raises(UserInputError, match=reason):
        RollingWheels(wheels, axle=0.0)


AXLES = {"wheelbase": 1.2, "radius": 0.3}
RADIUS = CURVE.x / CURVE.turn  # of the curve of the middle of the driven axle [m]


def test_all_wheels_of_ackermann_steering_turn_about_one_point():
    drive = SteeredAxle(**AXLES, traction_track=0.6, steering_track=0.7, open_loop=True)
    speeds, angles = drive.command(CURVE, (0.0, 0.0))
    assert angles == pytest.approx([atan(1.2 / (RADIUS + side * 0.35)) for side in (1, -1)])
    assert speeds == pytest.approx([0.8 * (RADIUS + side * 0.3) / 0.3 for side in (1, -1)])
    assert drive.measure(speeds, angles) == pytest.approx(CURVE)


def test_the_speeds_of_driven_wheels_are_for_the_measured_steering_angle():
    drive = SteeredAxle(**AXLES, traction_track=0.6)
    (right, left), (angle,) = drive.command(CURVE, (0.2,))
    assert angle == pytest.approx(atan(1.2 / RADIUS))
    radius = 1.2 / tan(0.2)
    assert right / left == pytest.approx((radius + 0.3) / (radius - 0.3))


def test_a_bicycle_has_one_wheel_at_each_axle():
    drive = SteeredAxle(**AXLES)
    (speed,), (angle,) = drive.command(CURVE, (0.0,))
    assert (speed, angle) == pytest.approx((0.5 / 0.3, atan(1.2 / RADIUS)))
    assert drive.measure((speed,), (angle,)) == pytest.approx(CURVE)


def test_wheels_wait_for_the_steering_if_they_shall():
    drive = SteeredAxle(**AXLES, waits_for_steering=True)
    (far,), _ = drive.command(CURVE, (0.0,))
    (near,), _ = drive.command(CURVE, (atan(1.2 / RADIUS),))
    assert near == pytest.approx(0.5 / 0.3)
    assert far == pytest.approx(near * cos(atan(1.2 / RADIUS)) / cos(pi / 6))


def test_a_steered_wheel_that_drives_is_ahead_of_the_axle():
    drive = SteeredTraction(1.2, 0.3)
    angle = atan(CURVE.turn * 1.2 / CURVE.x)
    (speed,), (steered,) = drive.command(CURVE, (angle,))
    assert (speed, steered) == pytest.approx((0.5 / cos(angle) / 0.3, angle))
    assert drive.measure((speed,), (steered,)) == pytest.approx(CURVE)
    (slow,), (across,) = drive.command(Twist(0.0, 0.0, -0.5), (0.0,))
    assert (slow, across) == pytest.approx((0.5 * 1.2 / 0.3 * cos(pi / 2), -pi / 2), abs=1e-9)


def test_a_robot_with_steering_at_rest_keeps_its_wheels_straight():
    for drive in (SteeredAxle(**AXLES), SteeredTraction(1.2, 0.3)):
        assert drive.command(Twist(), (0.1,)) == ((0.0,), (0.0,))


def test_a_planar_joint_turns_the_velocity_of_its_base_into_the_floor():
    joint = PlanarJoint()
    speeds, angles = joint.command(ANY, [pi / 2])
    assert speeds == pytest.approx([-ANY.y, ANY.x, ANY.turn])
    assert angles == ()
    assert joint.measure(speeds, [pi / 2]) == pytest.approx(ANY)
