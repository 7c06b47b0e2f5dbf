"""When frames are due."""

import math

import pytest

from mujoco_ros.cameras.frame_rate import FrameRate


def frames(pace: FrameRate, times: list[float]) -> list[float]:
    """Return the times of the states of which there are frames."""
    taken = []
    for time in times:
        if pace.is_due(time):
            pace.take(time)
            taken.append(time)
    return taken


def test_each_frame_is_of_the_first_state_at_or_after_its_time():
    steps = [0.002 * step for step in range(101)]
    taken = frames(FrameRate(30.0), steps)
    assert taken == pytest.approx([math.ceil(k / 30 / 0.002 - 1e-9) * 0.002 for k in range(7)])


def test_sums_of_time_steps_that_fall_short_by_a_rounding_are_in_time():
    time, steps = 0.0, []
    for _ in range(5000):
        steps.append(time)
        time += 0.001
    assert any(step < k / 1000 for k, step in enumerate(steps))
    assert len(frames(FrameRate(100.0), steps)) == 500


def test_frames_that_are_missed_are_not_made_up_for():
    assert frames(FrameRate(10.0), [0.0, 0.55, 0.56, 0.61]) == [0.0, 0.55, 0.61]


def test_after_time_went_back_the_same_frames_come_again():
    pace, steps = FrameRate(10.0), [0.05 * step for step in range(10)]
    assert frames(pace, steps) == frames(pace, steps)


def test_how_long_to_wait_is_told_in_simulated_time():
    pace = FrameRate(10.0)
    assert pace.wait(0.32) == pytest.approx(0.08)
    assert pace.wait(0.4) == 0.0


def test_at_rate_zero_nothing_is_ever_due():
    pace = FrameRate(0.0)
    pace.take(1.0)
    assert not pace.is_due(2.0)
    assert pace.wait(2.0) == math.inf


def test_who_begins_between_two_frames_waits_for_the_next():
    pace = FrameRate(10.0)
    assert not pace.is_due(0.35)
    assert pace.is_due(0.4)
    pace.take(0.4)
    pace.forget()
    assert not pace.is_due(0.55)
    assert pace.is_due(0.601)


def test_a_new_rate_has_frames_at_its_own_times():
    pace = FrameRate(1.0)
    pace.take(0.5)
    pace.rate = 2.0
    assert not pace.is_due(0.7)
    assert pace.is_due(1.0)
