"""Commands are limited in velocity, acceleration and jerk, in each direction."""

from itertools import pairwise
from math import inf, nan

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.drive.limits import (
    MagnitudeLimiter,
    SpeedLimiter,
    SpeedLimits,
    magnitude_bounds,
)

DT = 0.01


def follow(limiter, target, steps=400):
    return [limiter.limit(target, DT) for _ in range(steps)]


def rates(values):
    return [(new - old) / DT for old, new in pairwise([0.0, *values])]


def test_without_limits_a_command_passes():
    assert SpeedLimiter(SpeedLimits()).limit(1e9, DT) == 1e9


def test_limits_are_symmetric_without_limits_of_the_opposite_direction():
    limiter = SpeedLimiter(SpeedLimits(max_velocity=0.5, max_acceleration=2.0))
    forwards = follow(limiter, 3.0)
    assert forwards[-1] == 0.5
    assert max(rates(forwards)) == pytest.approx(2.0)
    assert follow(limiter, -3.0)[-1] == -0.5


def test_each_direction_has_its_own_limits():
    limits = SpeedLimits(
        max_velocity=1.0,
        min_velocity=-0.2,
        max_acceleration=1.0,
        max_deceleration=-4.0,
        max_acceleration_reverse=-0.5,
        max_deceleration_reverse=3.0,
    )
    limiter = SpeedLimiter(limits)
    speeds_up = follow(limiter, 5.0)
    brakes = [speeds_up[-1], *follow(limiter, -5.0)]
    turns = [brakes[-1], *follow(limiter, 5.0)]
    assert (speeds_up[-1], brakes[-1]) == (1.0, -0.2)
    assert max(rates(speeds_up)) == pytest.approx(1.0)
    changes = [(old, (new - old) / DT) for old, new in pairwise(brakes)]
    assert min(rate for speed, rate in changes if speed > 0) == pytest.approx(-4.0)
    assert min(rate for speed, rate in changes if speed < 0) == pytest.approx(-0.5)
    changes = [(old, (new - old) / DT) for old, new in pairwise(turns)]
    assert max(rate for speed, rate in changes if speed < 0) == pytest.approx(3.0)


def test_jerk_is_limited_while_the_acceleration_grows_alone():
    limiter = SpeedLimiter(SpeedLimits(max_acceleration=2.0, max_jerk=10.0))
    speeds = follow(limiter, 1.0)
    jerks = rates(rates(speeds))
    assert max(jerks) == pytest.approx(10.0)
    assert speeds[-1] == pytest.approx(1.0)
    stop = limiter.limit(1.0 - 2.0 * DT, DT)
    assert stop == pytest.approx(1.0 - 10.0 * DT * DT)


def test_a_limiter_begins_at_rest_after_a_reset():
    limiter = SpeedLimiter(SpeedLimits(max_acceleration=1.0))
    follow(limiter, 1.0)
    limiter.reset()
    assert limiter.limit(1.0, DT) == pytest.approx(DT)


@pytest.mark.parametrize(
    "limits", [{"max_velocity": -1.0}, {"max_deceleration": 1.0}, {"min_jerk": 0.1}]
)
def test_a_limit_of_the_wrong_sign_is_named(limits):
    (name,) = limits
    with pytest.raises(UserInputError, match=name):
        SpeedLimits(**limits)


def test_magnitudes_hold_for_both_directions():
    limiter = MagnitudeLimiter(value=(0.0, 2.0), rising=(0.0, 1.0), falling=(0.0, 5.0))
    assert follow(limiter, -9.0, 100)[-1] == pytest.approx(-1.0)
    assert follow(limiter, -9.0, 200)[-1] == pytest.approx(-2.0)
    assert limiter.limit(0.0, DT) == pytest.approx(-2.0 + 5.0 * DT)


def test_positions_have_signed_bounds():
    limiter = MagnitudeLimiter(value=(-0.2, 0.5), is_signed=True)
    assert (limiter.limit(-1.0, DT), limiter.limit(1.0, DT)) == (-0.2, 0.5)


def test_bounds_of_magnitudes_are_checked():
    assert magnitude_bounds({"max_jerk": nan}, "jerk") == (0.0, inf)
    assert magnitude_bounds({"max_jerk": 3.0}, "jerk") == (0.0, 3.0)
    with pytest.raises(UserInputError, match="min_jerk is 5 and max_jerk 3"):
        magnitude_bounds({"max_jerk": 3.0, "min_jerk": 5.0}, "jerk")
