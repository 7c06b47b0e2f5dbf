"""Noise of observations: deviation and seed."""

import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.variations import USUAL, Noise, noise_filter
from mujoco_ros.controllers.interface.observation import (
    ImuReading,
    Observation,
    Pose,
    WrenchReading,
)
from mujoco_ros.model.errors import UserInputError

SEEN = Observation(
    time=1.0,
    q=np.zeros(3),
    dq=np.ones(3),
    effort=np.full(3, 10.0),
    wrenches={"wrist": WrenchReading(force=np.zeros(3), torque=np.zeros(3))},
    imus={
        "imu": ImuReading(
            angular_velocity=np.zeros(3),
            linear_acceleration=np.full(3, 9.81),
            quat_wxyz=np.array([0.6, 0.0, 0.8, 0.0]),
        )
    },
    touches={"foot": 50.0, "air": 0.0},
    objects={"box": Pose(position=np.zeros(3), quat_wxyz=np.array([0.6, 0.0, 0.8, 0.0]))},
)


def test_each_quantity_has_its_deviation_without_bias():
    add_noise = noise_filter(USUAL, 1)
    many = [add_noise(SEEN) for _ in range(2000)]
    for values, mean, deviation in (
        ([it.q for it in many], 0.0, USUAL.position),
        ([it.dq for it in many], 1.0, USUAL.velocity),
        ([it.effort for it in many], 10.0, 10 * USUAL.effort),
        ([it.wrenches["wrist"].force for it in many], 0.0, USUAL.force),
        ([it.imus["imu"].angular_velocity for it in many], 0.0, USUAL.rate),
        ([it.imus["imu"].linear_acceleration for it in many], 9.81, USUAL.acceleration),
        ([it.touches["foot"] for it in many], 50.0, USUAL.force),
        ([it.objects["box"].position for it in many], 0.0, USUAL.place),
    ):
        assert np.std(values) == pytest.approx(deviation, rel=0.05)
        assert np.mean(values) == pytest.approx(mean, abs=deviation / 10)
    assert min(it.touches["air"] for it in many) == 0.0
    box = SEEN.objects["box"]
    turns = [(box.inverse() @ it.objects["box"]).quat_wxyz for it in many]
    assert 2 * np.std([it[1:] for it in turns]) == pytest.approx(USUAL.turn, rel=0.05)
    measured = [Pose(position=np.zeros(3), quat_wxyz=it.imus["imu"].quat_wxyz) for it in many]
    errors = [(box.inverse() @ it).quat_wxyz[1:] for it in measured]
    assert 2 * np.std(errors) == pytest.approx(USUAL.orientation, rel=0.05)
    assert np.linalg.norm(turns, axis=1) == pytest.approx(1.0)


def test_noise_depends_on_the_seed_and_zero_noise_changes_nothing():
    assert noise_filter(USUAL, 1)(SEEN).q.tolist() == noise_filter(USUAL, 1)(SEEN).q.tolist()
    assert noise_filter(USUAL, 1)(SEEN).q.tolist() != noise_filter(USUAL, 2)(SEEN).q.tolist()
    quiet = noise_filter(Noise(), 1)(SEEN)
    assert quiet.q.tolist() == SEEN.q.tolist()
    assert quiet.objects["box"].quat_wxyz == pytest.approx(SEEN.objects["box"].quat_wxyz)
    with pytest.raises(UserInputError, match="force must not be negative"):
        Noise(force=-1.0)
