import logging
import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mujoco_ros.sim.stepping import real_time
from mujoco_ros.sim.stepping.real_time import Histogram, Pacer, RealTimePriority

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


def test_percentiles_of_nothing_are_not_a_number():
    assert all(math.isnan(value) for value in Histogram().percentiles(50, 99))


@given(st.lists(st.integers(0, 19_999), min_size=1, max_size=200))
def test_percentiles_are_those_of_the_samples_to_a_microsecond(samples):
    histogram = Histogram()
    for sample in samples:
        histogram.add((sample + 0.5) * 1e-6)
    for percent, value in zip((1, 50, 99, 100), histogram.percentiles(1, 50, 99, 100), strict=True):
        exact = np.percentile(samples, percent, method="inverted_cdf")
        assert value == pytest.approx((exact + 1) * 1e-6, abs=1e-9)


def test_durations_beyond_the_limit_count_as_the_limit():
    histogram = Histogram(limit_us=100)
    for duration in (1.0, 1e9, -1e-3):
        histogram.add(duration)
    assert histogram.percentiles(50) == pytest.approx((101e-6,))


def test_a_cleared_histogram_is_empty():
    histogram = Histogram()
    histogram.add(1e-3)
    histogram.clear()
    assert math.isnan(histogram.percentiles(50)[0])
    histogram.add(5e-6)
    assert histogram.percentiles(50) == pytest.approx((6e-6,))


SCRIPT = """
import os, threading
from mujoco_ros.sim.stepping.real_time import schedule

def of(thread):
    policy = os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK
    return policy, os.sched_getparam(thread).sched_priority

def mine():
    return of(0)

def thread():
    allowed = schedule(3)
    assert mine() == ((os.SCHED_FIFO, 3) if allowed else (os.SCHED_OTHER, 0)), mine()
    started = threading.Thread(target=lambda: others.append(mine()))
    started.start()
    started.join()
    assert others.pop() == (os.SCHED_OTHER, 0)
    assert of(main) == ((os.SCHED_FIFO, 2) if allowed else (os.SCHED_OTHER, 0)), of(main)
    assert schedule(1) is allowed
    assert mine() == of(main)
    assert schedule(0)
    assert mine() == of(main) == (os.SCHED_OTHER, 0), mine()
    others.append("done")

main, others = threading.get_native_id(), []
child = threading.Thread(target=thread)
child.start()
child.join()
assert others == ["done"], others
"""


@pytest.mark.skipif(sys.platform != "linux", reason="SCHED_FIFO is Linux'")
def test_the_calling_thread_gets_the_priority_and_others_the_next_lower_one_if_permitted():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr


def test_a_thread_that_is_too_slow_has_no_priority_for_ten_seconds(scheduled):
    priority = RealTimePriority(7, "steps")
    priority.want(True, 100.0, 0.0)
    priority.check(100.1, 0.19)
    assert scheduled == [7]
    priority.check(100.2, 0.21)
    assert scheduled == [7, 0]
    for now in (100.3, 105.0, 110.1):
        priority.want(True, now, 0.21)
        priority.check(now, 0.21)
    assert scheduled == [7, 0]
    priority.check(110.3, 50.0)
    assert scheduled == [7, 0, 7], "time lost without priority is no reason to drop it again"
    priority.check(110.4, 50.1)
    assert scheduled == [7, 0, 7]


def test_repeated_drops_last_longer_until_the_priority_was_kept_for_long(scheduled):
    priority = RealTimePriority(7, "steps")
    now, lost = 100.0, 0.0
    priority.want(True, now, lost)
    durations = []
    for held in (1.0,) * 7 + (301.0,):
        now, lost = now + held, lost + 0.3
        priority.check(now, lost)
        since = now
        while scheduled[-1] == 0:
            now += 1.0
            priority.check(now, lost)
        durations.append(now - since)
    assert durations == [10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0, 10.0]


def test_time_that_is_lost_slowly_is_no_reason_to_drop_the_priority(scheduled):
    priority = RealTimePriority(7, "steps")
    priority.want(True, 0.0, 0.0)
    for second in range(100):
        priority.check(float(second), 0.15 * second)
        priority.excuse(0.15 * second)
    assert scheduled == [7]


def test_a_thread_that_needs_no_priority_returns_it_and_gets_none_after_a_drop(scheduled):
    priority = RealTimePriority(7, "steps")
    priority.want(True, 0.0, 0.0)
    priority.want(False, 1.0, 0.0)
    assert scheduled == [7, 0]
    priority.want(True, 2.0, 0.0)
    priority.check(3.0, 0.3)
    priority.want(False, 4.0, 0.3)
    priority.check(20.0, 0.3)
    assert scheduled == [7, 0, 7, 0]
    priority.release()
    assert scheduled == [7, 0, 7, 0]
    priority.want(True, 30.0, 0.3)
    priority.release()
    assert scheduled == [7, 0, 7, 0, 7, 0]


def test_a_system_that_permits_no_priority_is_requested_once_and_logged(monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    requests: list[int] = []
    monkeypatch.setattr(real_time, "schedule", requests.append)
    priority = RealTimePriority(7, "steps")
    for now in (0.0, 1.0):
        priority.want(True, now, 0.0)
        priority.check(now, 1.0)
    assert requests == [7]
    (record,) = caplog.records
    assert "steps may be late" in record.getMessage()


def test_without_a_priority_nothing_is_requested(scheduled):
    priority = RealTimePriority(0, "steps")
    priority.want(True, 0.0, 0.0)
    priority.check(1.0, 1.0)
    priority.release()
    assert scheduled == []


LOW = """
import os, threading
from mujoco_ros.sim.stepping.real_time import LowPriority

def nice():
    return {os.getpriority(os.PRIO_PROCESS, each) for each in (0, main, other)}

def thread():
    global other
    other = threading.get_native_id()
    low = LowPriority()
    before = nice()
    (own,) = before
    low.want(True)
    low.want(True)
    if os.geteuid() == 0:
        assert nice() == {min(own + 5, 19)}, nice()
    low.want(False)
    assert nice() == before, nice()

main, results = threading.get_native_id(), []
child = threading.Thread(target=lambda: results.append(thread()))
child.start()
child.join()
assert results == [None]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads have own nice values on Linux only")
def test_a_run_as_fast_as_possible_leaves_the_processor_to_readers_and_takes_it_back():
    subprocess.run([sys.executable, "-c", LOW], check=True)
