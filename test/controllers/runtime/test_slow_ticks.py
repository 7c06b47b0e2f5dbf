"""The report of slow ticks."""

import pytest

from mujoco_ros.controllers.runtime.slow_ticks import SlowTicks


def test_a_tick_of_50_ms_is_named_with_the_time_that_it_loses(caplog):
    slow = SlowTicks("arm")
    slow.add("MOVE", 0.004, 0.005, 0.0)
    assert slow.complaint() == ""
    slow.add("MOVE", 0.050, 0.005, 0.1)
    expected = "1 slow ticks in state 'MOVE', of up to 50 ms, lost 45 ms of real time"
    assert slow.complaint() == expected
    assert slow.complaint() == ""
    assert f"controller 'arm': {expected}; a longer computation" in caplog.text
    assert slow.total_s == pytest.approx(0.045)


def test_the_log_is_limited_and_ignores_delays_by_a_loaded_machine(caplog):
    slow = SlowTicks("arm")
    slow.add("MOVE", 0.010, 0.005, 0.0)
    assert slow.complaint() == ""
    assert not caplog.records
    for tick in range(200):
        slow.add("MOVE", 0.050, 0.005, 0.1 * tick)
    assert len(caplog.records) == 2, "in 20 s"
