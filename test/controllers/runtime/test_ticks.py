"""The report of slow ticks."""

import pytest

from mujoco_ros.controllers.runtime.ticks import LongWait, TickCosts


def test_a_tick_of_50_ms_is_named_with_the_time_that_it_loses(caplog):
    slow = TickCosts("arm")
    slow.add("MOVE", 0.004, 0.005, 0.0)
    assert slow.complaint() == ""
    slow.add("MOVE", 0.050, 0.005, 0.1)
    expected = "1 slow ticks in state 'MOVE', of up to 50 ms, lost 45 ms of real time"
    assert slow.complaint() == expected
    assert slow.complaint() == ""
    assert f"controller 'arm': {expected}; a longer computation" in caplog.text
    assert slow.total_s == pytest.approx(0.045)


def test_the_log_is_limited_and_ignores_delays_by_a_loaded_machine(caplog):
    slow = TickCosts("arm")
    slow.add("MOVE", 0.010, 0.005, 0.0)
    assert slow.complaint() == ""
    assert not caplog.records
    for tick in range(200):
        slow.add("MOVE", 0.050, 0.005, 0.1 * tick)
    assert len(caplog.records) == 2, "in 20 s"


def test_a_long_wait_for_a_result_is_logged_whenever_it_has_doubled(caplog):
    wait = LongWait("arm")
    for poll in range(800):
        wait.poll("MOVE", 0.05 * poll)
    found = [int(it.message.rpartition("for ")[2].removesuffix(" s")) for it in caplog.records]
    assert found == [3, 6, 12, 24]
    assert "controller 'arm': the clock is stopped: state 'MOVE' has awaited" in caplog.text
    wait.poll("MOVE", 1000.0)
    assert wait.spent_s < 41.0, "it was paused meanwhile"
    wait.end()
    assert wait.spent_s == 0.0
