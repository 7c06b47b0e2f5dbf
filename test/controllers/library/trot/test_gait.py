"""Diagonal pairs swing in turn, and wait for each other."""

import pytest

from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.trot.gait import PAIRS, TrotGait, TrotGaitConfig
from mujoco_ros.model.errors import UserInputError

PERIOD = 0.005
CONFIG = TrotGaitConfig(swing_time=0.2, overlap=0.05)
FORWARDS, NONE = BodyVelocity(0.3, 0.0, 0.0), BodyVelocity()


def run(gait, ticks, velocity=FORWARDS, *, can_rest=True, has_landed=True):
    """Return the pair that swings at each tick."""
    swinging = []
    for _ in range(ticks):
        gait.step(PERIOD, velocity, can_rest=can_rest, has_landed=has_landed)
        swinging.append(gait.swinging)
    return swinging


def test_pairs_swing_in_turn_with_the_times_of_the_settings():
    gait = TrotGait(CONFIG)
    swinging = run(gait, 100)
    assert swinging[:50] == [PAIRS[0]] * 40 + [None] * 10
    assert swinging[50:] == [PAIRS[1]] * 40 + [None] * 10
    assert gait.steps == 2


def test_a_robot_rests_without_a_velocity_when_its_feet_are_at_their_places():
    gait = TrotGait(CONFIG)
    assert run(gait, 20, NONE) == [None] * 20
    run(gait, 60)
    run(gait, 60, NONE, can_rest=False)
    assert not gait.is_resting
    run(gait, 60, NONE)
    assert gait.is_resting
    assert gait.swinging is None
    gait.is_marching = True
    assert run(gait, 200, NONE)[-1] in (*PAIRS, None)
    assert not gait.is_resting, "it steps in place"


def test_a_pair_waits_a_short_time_for_one_that_has_not_landed():
    gait = TrotGait(CONFIG)
    run(gait, 40)
    assert run(gait, 25, has_landed=False)[-1] is None
    assert run(gait, 10, has_landed=False)[-1] == PAIRS[1]


def test_remaining_is_the_time_until_the_swing_ends():
    gait = TrotGait(CONFIG)
    run(gait, 1)
    assert gait.remaining == pytest.approx(0.2)
    run(gait, 10)
    assert gait.remaining == pytest.approx(0.15)
    assert gait.progress == pytest.approx(0.25)


def test_times_must_be_positive():
    with pytest.raises(UserInputError, match="swing_time must be positive, got 0"):
        TrotGaitConfig(swing_time=0.0)
