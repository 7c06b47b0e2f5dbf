"""Delays of object poses."""

import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.variations import delayed_poses
from mujoco_ros.controllers.interface.observation import Observation, Pose


def at(time: float) -> Observation:
    return Observation(
        time=time,
        q=np.full(1, time),
        dq=np.zeros(1),
        effort=np.zeros(1),
        objects={"box": Pose(position=np.full(3, time))},
    )


def test_poses_are_late_and_know_their_age():
    observe = delayed_poses(0.03, lambda seen: seen)
    seen = [observe(at(0.01 * tick)) for tick in range(10)]
    assert [it.objects["box"].position[0] for it in seen[:4]] == [0.0] * 4
    assert seen[9].objects["box"].position[0] == pytest.approx(0.06)
    assert seen[9].q[0] == pytest.approx(0.09), "joints are not late"
    assert seen[9].object_age("box") == pytest.approx(0.03)
    assert seen[0].object_age("cup") == 0.0


def test_each_pose_is_late_by_the_same_number_of_ticks():
    observe = delayed_poses(0.08, lambda seen: seen)
    ages = [observe(at(tick / 125.0)).object_age("box") for tick in range(1500)]
    np.testing.assert_allclose(ages[10:], 0.08, atol=1e-9)


def test_without_a_delay_the_filter_is_the_inner_one():
    inner = at
    assert delayed_poses(0.0, inner) is inner


def test_the_poses_of_each_of_several_robots_are_late():
    observe = delayed_poses(0.03, lambda seen: seen)
    for tick in range(10):
        seen = observe(Observation.of_several({it: at(0.01 * tick) for it in ("left", "right")}))
    for own in (seen, *seen.robots.values()):
        assert own.objects["box"].position[0] == pytest.approx(0.06)
        assert own.object_age("box") == pytest.approx(0.03)
