import pickle

import numpy as np
import pytest

from mujoco_ros.controllers.planning.curve import TimedCurve


@pytest.fixture
def straight():
    """A joint moves by 2 rad: a second of 2 rad/s², then a second of -2 rad/s²."""
    cubics = np.array([0.0, 0.0, 1.0, 0.0]).reshape(4, 1, 1)
    ends, middle = np.array([0.0, 2.0]), np.array([0.0, 1.0, 2.0])
    return TimedCurve.from_rates(ends, cubics, middle, np.array([0.0, 2.0, 0.0]))


def test_a_constant_acceleration_gives_a_parabola(straight):
    assert straight.duration == pytest.approx(2.0)
    assert np.array(straight.sample(0.5)).ravel() == pytest.approx([0.25, 1.0, 2.0])
    assert np.array(straight.sample(1.5)).ravel() == pytest.approx([1.75, 1.0, -2.0])


@pytest.mark.parametrize(("time", "where"), [(-1.0, 0.0), (0.0, 0.0), (2.0, 2.0), (9.0, 2.0)])
def test_it_rests_before_and_after(straight, time, where):
    assert np.array(straight.sample(time)).ravel() == pytest.approx([where, 0.0, 0.0])


def test_many_times_at_once_are_the_same_as_one_by_one(straight):
    times = np.linspace(-0.5, 2.5, 50)
    single = np.stack([np.array(straight.sample(time)) for time in times], axis=1)
    assert (straight.samples(times) == single).all()


def test_a_slowed_curve_has_the_same_path(straight):
    slowed = straight.slowed(2.0)
    assert slowed.duration == pytest.approx(4.0)
    assert np.array(slowed.sample(1.0)).ravel() == pytest.approx([0.25, 0.5, 0.5])


def test_velocities_are_the_derivative_of_positions_on_a_curve():
    cubics = np.array([[0.3, -0.3], [-0.2, 0.7], [1.0, 1.5], [0.0, 1.1]]).reshape(4, 2, 1)
    where, speed = np.linspace(0.0, 2.0, 9), np.sin(np.linspace(0.0, np.pi, 9))
    speed[-1] = 0.0
    bent = TimedCurve.from_rates(np.array([0.0, 1.0, 2.0]), cubics, where, speed)
    times = np.linspace(0.0, bent.duration, 2001)
    q, dq, ddq = bent.samples(times)[..., 0]
    assert np.abs(dq - np.gradient(q, times))[1:-1].max() < 3e-3
    assert np.median(np.abs(ddq - np.gradient(dq, times))) < 1e-3


def test_a_curve_at_rest_takes_no_time():
    still = TimedCurve.at_rest(np.array([1.0, 2.0]))
    assert still.duration == 0.0
    assert still.goal == pytest.approx([1.0, 2.0])
    assert np.array(still.sample(3.0)[1:]) == pytest.approx(np.zeros((2, 2)))


def test_it_can_be_sent_to_another_process(straight):
    assert pickle.loads(pickle.dumps(straight)).goal == pytest.approx(straight.goal)
