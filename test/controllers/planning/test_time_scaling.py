import numpy as np
import pytest

from mujoco_ros.controllers.planning.curve import interpolate
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits, Payload, TimingError
from mujoco_ros.controllers.planning.time_scaling import time_curve


def wavy(home, size=6, points=8):
    """A curve on which all joints oscillate a few times."""
    at = np.linspace(0.0, 4.0, points)
    shape = np.sin(np.outer(at, np.arange(1, size + 1)) * 0.7)
    return interpolate(home + 0.6 * shape, at)


def test_limits_are_kept_at_every_millisecond_and_reached(arm, home, limits):
    dynamics = Dynamics(arm)
    trajectory = time_curve(wavy(home), limits, dynamics=dynamics)
    times = np.arange(0.0, trajectory.duration, 1e-3)
    q, dq, ddq = trajectory.samples(times)
    assert (np.abs(dq) <= limits.velocity).all()
    assert (np.abs(ddq) <= limits.acceleration * 1.001).all()
    torques = np.array([dynamics.torques(*now) for now in zip(q, dq, ddq, strict=True)])
    assert (np.abs(torques) <= limits.torque).all()
    used = np.maximum(np.abs(dq) / limits.velocity, np.abs(ddq) / limits.acceleration).max(axis=1)
    assert np.median(used) > 0.95
    for end in (0.0, trajectory.duration):
        assert np.abs(trajectory.sample(end)[1]).max() == 0.0
    assert trajectory.start == pytest.approx(home)


def test_a_straight_line_takes_as_long_as_its_slowest_joint(home):
    limits = MotionLimits(velocity=np.full(6, 2.0), acceleration=np.full(6, 4.0))
    way = np.zeros((5, 6))
    way[:, 2] = np.linspace(0.0, 3.0, 5)
    trajectory = time_curve(interpolate(home + way, np.linspace(0.0, 3.0, 5)), limits)
    assert trajectory.duration == pytest.approx(3.0 / 2.0 + 2.0 / 4.0, rel=0.01)


def test_the_curves_own_speed_and_acceleration_are_limited(home, limits):
    way = np.linspace(0.0, 0.2, 5)[:, None] * np.ones(6)
    curve = interpolate(home + way, np.linspace(0.0, 1.0, 5))
    trajectory = time_curve(curve, limits, speed=0.5, acceleration=1.0)
    assert trajectory.duration == pytest.approx(1.0 / 0.5 + 0.5 / 1.0, rel=0.01)
    assert trajectory.rates.max() <= 0.5


def test_weaker_motors_take_longer_and_keep_their_limit(arm, home, limits):
    dynamics = Dynamics(arm, Payload(mass=2.0, com=np.zeros(3)))
    weak = MotionLimits(
        velocity=limits.velocity,
        acceleration=limits.acceleration,
        torque=np.array([7.0, 56.0, 42.0, 9.0, 5.0, 2.5]),
    )
    quick, slow = (time_curve(wavy(home), it, dynamics=dynamics) for it in (limits, weak))
    assert slow.duration > 1.1 * quick.duration
    samples = slow.samples(np.arange(0.0, slow.duration, 1e-3))
    torques = np.array([dynamics.torques(*now) for now in zip(*samples, strict=True)])
    assert (np.abs(torques) <= weak.torque * 1.01).all()


def test_limits_are_kept_between_the_points_of_a_long_curve(home, limits):
    """The points are as dense on a motion of a minute as on one of a second."""
    at = np.linspace(0.0, 12.0, 16)
    shape = np.random.default_rng(6).normal(size=(16, 6)).cumsum(axis=0)
    lazy = MotionLimits(velocity=limits.velocity / 8, acceleration=limits.acceleration)
    trajectory = time_curve(interpolate(home + shape, at), lazy)
    assert trajectory.duration > 40.0
    _, dq, ddq = trajectory.samples(np.arange(0.0, trajectory.duration, 2e-3))
    assert (np.abs(dq) / lazy.velocity).max() < 1.002
    assert (np.abs(ddq) / lazy.acceleration).max() < 1.002


def test_motors_that_barely_overcome_friction_move_slowly(seven):
    dynamics, rest = Dynamics(seven), np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.6, 0.0])
    curve = wavy(rest, size=7)
    held = np.array([dynamics.gravity(q) for q in curve(np.linspace(0.0, 4.0, 300))])
    strength = np.abs(held).max(axis=0) + 0.1
    limits = MotionLimits(velocity=np.full(7, 3.0), acceleration=np.full(7, 9.0), torque=strength)
    trajectory = time_curve(curve, limits, dynamics=dynamics)
    samples = trajectory.samples(np.linspace(0.0, trajectory.duration, 500))
    torques = np.array([dynamics.torques(*now) for now in zip(*samples, strict=True)])
    assert (np.abs(torques) <= 1.01 * strength).all()


def test_a_motor_that_cannot_hold_the_arm_is_named(arm, home, limits):
    weak = MotionLimits(
        velocity=limits.velocity,
        acceleration=limits.acceleration,
        torque=np.array([150.0, 150.0, 10.0, 28.0, 28.0, 28.0]),
    )
    with pytest.raises(TimingError, match=r"elbow_joint is too weak: .* of its 10.0 N m"):
        time_curve(wavy(home), weak, dynamics=Dynamics(arm))
