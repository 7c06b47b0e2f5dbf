"""The time of a tick."""

import pytest

from mujoco_ros.controllers.runtime.ticks import stamp_of, tick_time


@pytest.mark.parametrize("rate", [125.0, 200.0, 240.0, 300.0, 1000.0])
@pytest.mark.parametrize("timestep", [0.001, 1 / 600, 1 / 1200])
def test_the_time_of_a_tick_is_its_number_times_the_period(rate, timestep):
    period = 1.0 / rate
    steps = round(period / timestep)
    for number in (0, 1, 3, 7, 35, 10**4, 10**7):
        if abs(steps * timestep - period) < 1e-12:
            sampled = number * steps * timestep  # as the simulation has it
            assert tick_time(stamp_of(sampled), period) == number * period


def test_the_time_of_a_tick_differs_from_its_stamp_in_the_last_bits():
    assert 35 * 0.01 != 350_000_000 / 1e9
    assert tick_time(350_000_000, 0.01) == 35 * 0.01
    summed = sum([0.01] * 35)
    assert tick_time(stamp_of(summed), 0.01) == 35 * 0.01 != summed


def test_a_stamp_between_two_ticks_is_the_time_itself():
    assert tick_time(1_003_000_123, 0.005) == 1.003000123
