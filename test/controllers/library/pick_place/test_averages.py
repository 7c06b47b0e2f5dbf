"""Averages of noisy poses: at rest, in motion, late and repeated."""

from types import SimpleNamespace

import numpy as np
import pytest

from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.library.pick_place.task import Average, PoseAverage

PERIOD = 0.01


def observed(position, time: float, measured: float | None = None) -> SimpleNamespace:
    """Return the context of a tick with the pose of a box, measured at another time."""
    observation = Observation(
        time=time,
        q=np.zeros(1),
        dq=np.zeros(1),
        effort=np.zeros(1),
        objects={"box": Pose(position=np.array(position, dtype=float))},
        object_times={} if measured is None else {"box": measured},
    )
    return SimpleNamespace(observation=observation, period=PERIOD)


def test_the_mean_of_noisy_poses_is_better_than_one_of_them():
    random, average = np.random.default_rng(1), PoseAverage(0.0, 0.2)
    for tick in range(21):
        average.add(observed(random.normal(0.0, 2e-3, 3), tick * PERIOD), "box")
    pose = average.pose(PERIOD)
    assert pose is not None
    assert np.abs(pose.position).max() < 3 * 2e-3 / np.sqrt(21)


def test_there_is_no_mean_before_the_window_is_full_or_of_an_unknown_object():
    average = PoseAverage(0.0, 0.1)
    for tick in range(9):
        average.add(observed((0, 0, 0), tick * PERIOD), "box")
        average.add(observed((0, 0, 0), tick * PERIOD), "cup")
        assert average.pose(PERIOD) is None
    average.add(observed((0, 0, 0), 9 * PERIOD), "box")
    assert average.pose(PERIOD) is not None


def test_poses_from_before_and_repeated_ones_do_not_count():
    average = PoseAverage(1.0, 0.05)
    for tick in range(20):
        average.add(observed((9, 9, 9), 1.0 + tick * PERIOD, measured=0.99), "box")
        average.add(observed((1, 1, 1), 1.0 + tick * PERIOD, measured=1.01), "box")
    assert average.pose(PERIOD) is None
    for tick in range(6):
        average.add(observed((1, 1, 1), 2.0, measured=1.02 + tick * PERIOD), "box")
    pose = average.pose(PERIOD)
    assert pose is not None
    assert pose.position.tolist() == [1.0, 1.0, 1.0]


def test_a_moving_object_has_no_mean_until_it_rests():
    average, time = PoseAverage(0.0, 0.1), 0.0
    for tick in range(30):
        time = tick * PERIOD
        average.add(observed((0.1 * time, 0, 0), time), "box")
        assert average.pose(PERIOD) is None
    for tick in range(30, 42):
        average.add(observed((0.1 * time, 0, 0), tick * PERIOD), "box")
    assert average.pose(PERIOD) is not None


def test_orientations_of_both_signs_have_one_mean():
    average = PoseAverage(0.0, 0.05)
    for tick in range(6):
        seen = observed((0, 0, 0), tick * PERIOD)
        sign = 1.0 if tick % 2 else -1.0
        seen.observation.objects["box"].quat_wxyz[:] = sign * np.array([0.6, 0.0, 0.0, 0.8])
        average.add(seen, "box")
    pose = average.pose(PERIOD)
    assert pose is not None
    assert abs(pose.quat_wxyz @ [0.6, 0.0, 0.0, 0.8]) == pytest.approx(1.0)


def test_the_standard_error_is_that_of_the_samples():
    values, average = np.random.default_rng(2).normal(5.0, 1.0, 40), Average()
    assert average.standard_error == np.inf
    for value in values:
        average.add(float(value))
    assert average.mean == pytest.approx(values.mean())
    assert average.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(40))
