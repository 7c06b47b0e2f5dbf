import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mujoco_ros.sim.stepping.pacer import Pacer

TIMESTEP = 0.001


def run(pacer: Pacer, *, start: float, wall_s: float, delays=lambda: 0.0) -> int:
    """Step as the physics thread does, in invented time; return the number of steps."""
    now, steps = start, 0
    while True:
        nap = pacer.wait(now)
        if nap > 0.0:
            now += nap
        if now >= start + wall_s:
            return steps
        pacer.started(now)
        steps += 1
        now += delays()


def test_the_first_step_is_due_at_once():
    assert Pacer(TIMESTEP).wait(1234.5) == 0.0


@pytest.mark.parametrize("factor", [1.0, 2.0, 0.5, 0.1, 10.0])
def test_simulated_time_passes_at_factor_times_wall_time(factor):
    pacer = Pacer(TIMESTEP, factor=factor)
    steps = run(pacer, start=100.0, wall_s=10.0)
    assert steps * TIMESTEP == pytest.approx(10.0 * factor, abs=2 * TIMESTEP)
    assert pacer.dropped_s == 0.0
    assert pacer.late_steps == 0


def test_a_factor_of_two_halves_the_wait():
    waits = {}
    for factor in (0.5, 1.0, 2.0):
        pacer = Pacer(TIMESTEP, factor=factor)
        pacer.started(5.0)
        waits[factor] = pacer.wait(5.0)
    assert waits == pytest.approx({0.5: 0.002, 1.0: 0.001, 2.0: 0.0005})


def test_a_factor_of_zero_never_waits_and_is_never_late():
    pacer = Pacer(TIMESTEP, factor=0.0)
    for now in (1.0, 1.0, 1.5, 90.0):
        assert pacer.wait(now) == 0.0
        pacer.started(now)
        assert pacer.lag_s == 0.0
    assert pacer.late_steps == 0
    assert pacer.dropped_s == 0.0


def test_the_factor_can_be_changed_between_steps():
    pacer = Pacer(TIMESTEP, factor=1.0)
    assert run(pacer, start=0.0, wall_s=1.0) == pytest.approx(1000, abs=2)
    pacer.factor = 3.0
    assert run(pacer, start=1.0, wall_s=1.0) == pytest.approx(3000, abs=2)
    pacer.factor = 0.0
    pacer.started(2.0)
    pacer.factor = 0.25
    assert run(pacer, start=2.5, wall_s=1.0) == pytest.approx(250, abs=2)
    assert pacer.dropped_s == 0.0
    assert pacer.late_steps == 0


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_an_invalid_factor_is_refused_and_changes_nothing(factor):
    pacer = Pacer(TIMESTEP, factor=2.0)
    with pytest.raises(ValueError, match="real-time factor must be"):
        pacer.factor = factor
    assert pacer.factor == 2.0
    pacer.started(0.0)
    assert pacer.wait(0.0) == pytest.approx(0.0005)


def test_a_short_stall_is_caught_up():
    pacer = Pacer(TIMESTEP, catch_up_s=0.05)
    before = run(pacer, start=0.0, wall_s=1.0)
    after = run(pacer, start=1.04, wall_s=0.96)  # no step for 40 ms
    assert before + after == pytest.approx(2000, abs=2)
    assert pacer.dropped_s == 0.0


def test_the_time_of_a_stall_beyond_the_limit_is_dropped_and_counted_exactly():
    pacer = Pacer(TIMESTEP, catch_up_s=0.05)
    for step in range(100):
        pacer.started(step * TIMESTEP)
    pacer.started(0.1 + 3.0)  # it was due at 0.1
    assert pacer.lag_s == pytest.approx(3.0, abs=1e-12)
    assert pacer.dropped_s == pytest.approx(2.95, abs=1e-12)
    burst = 0
    while pacer.wait(3.1) == 0.0:
        pacer.started(3.1)
        burst += 1
    assert burst == 50, "the catch-up limit of 50 ms is 50 steps"
    assert pacer.dropped_s == pytest.approx(2.95, abs=1e-12)
    pacer.started(3.101 + 1.0)
    assert pacer.dropped_s == pytest.approx(2.95 + 0.95, abs=1e-9)


@given(
    stalls=st.lists(st.floats(0.0, 2.0), max_size=20),
    factor=st.sampled_from([0.5, 1.0, 4.0]),
)
def test_simulated_time_and_dropped_time_add_up_to_wall_time(stalls, factor):
    pacer = Pacer(TIMESTEP, factor=factor, catch_up_s=0.02)
    now, steps = 0.0, 0
    for stall in stalls:
        pacer.started(now)
        steps += 1
        now += stall
        now += pacer.wait(now)
    pacer.started(now)
    stepped = steps * TIMESTEP / factor  # wall time of the steps before the last one
    lag = min(pacer.lag_s, pacer.catch_up_s)
    assert stepped + pacer.dropped_s + lag == pytest.approx(now, abs=1e-9)


def test_steps_that_start_a_period_late_are_counted():
    pacer = Pacer(TIMESTEP)
    pacer.started(0.0)
    pacer.started(0.0015)  # half a period late
    assert (pacer.late_steps, pacer.lag_s) == (0, pytest.approx(0.0005))
    pacer.started(0.0035)  # due at 2 ms
    assert (pacer.late_steps, pacer.lag_s) == (1, pytest.approx(0.0015))
    pacer.started(0.0035)  # due at 3 ms
    pacer.started(0.0040)
    assert pacer.late_steps == 1
    assert pacer.lag_s == pytest.approx(0.0, abs=1e-12)


def test_there_is_no_burst_after_a_pause():
    pacer = Pacer(TIMESTEP)
    run(pacer, start=0.0, wall_s=0.1)
    pacer.restart()
    assert pacer.wait(50.0) == 0.0
    pacer.started(50.0)
    assert pacer.lag_s == 0.0
    assert pacer.wait(50.0) == pytest.approx(TIMESTEP)
    assert pacer.dropped_s == 0.0
    assert pacer.late_steps == 0


def test_repeated_oversleeping_does_not_reduce_the_average_speed():
    noise = random.Random(5)
    pacer = Pacer(TIMESTEP)
    steps = run(pacer, start=7.0, wall_s=60.0, delays=lambda: noise.uniform(0.0, 0.0019))
    assert steps == pytest.approx(60_000, abs=5)
    assert pacer.dropped_s == 0.0


def test_a_smaller_catch_up_limit_can_be_set_while_running():
    pacer = Pacer(TIMESTEP, catch_up_s=0.05)
    pacer.started(0.0)
    pacer.catch_up_s = 0.01
    pacer.started(0.031)
    assert pacer.dropped_s == pytest.approx(0.02)


def test_a_lag_within_the_limit_is_caught_up():
    pacer = Pacer(0.001, catch_up_s=0.05)
    pacer.started(0.0)
    pacer.excuse(0.04)
    pacer.started(0.04)
    assert pacer.lag_s == pytest.approx(0.039)


def test_a_lag_beyond_the_limit_is_discarded_after_a_wait_for_commands():
    pacer = Pacer(0.001, catch_up_s=0.05)
    pacer.started(0.0)
    pacer.excuse(3.0)
    assert pacer.wait(3.0) == 0.0
    pacer.started(3.0)
    assert pacer.lag_s == 0.0
    assert pacer.dropped_s == 0.0
    assert pacer.wait(3.0) == pytest.approx(0.001)


def test_there_is_no_lag_after_a_restart():
    pacer = Pacer(0.001)
    pacer.started(0.0)
    pacer.started(0.03)
    assert pacer.lag_s > 0.0
    pacer.restart()
    assert pacer.lag_s == 0.0
