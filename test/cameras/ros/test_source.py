"""Due times of frames."""

import math

import pytest

from mujoco_ros.cameras.ros.source import FrameRate


def frames(schedule: FrameRate, times: list[float]) -> list[float]:
    """Return the times of the states of which there are frames."""
    taken = []
    for time in times:
        if schedule.is_due(time):
            schedule.note(time)
            taken.append(time)
    return taken


def test_each_frame_is_of_the_first_state_at_or_after_its_time():
    steps = [0.002 * step for step in range(101)]
    taken = frames(FrameRate(30.0), steps)
    assert taken == pytest.approx([math.ceil(k / 30 / 0.002 - 1e-9) * 0.002 for k in range(7)])


def test_sums_of_time_steps_that_fall_short_by_a_rounding_are_not_late():
    time, steps = 0.0, []
    for _ in range(5000):
        steps.append(time)
        time += 0.001
    assert any(step < k / 1000 for k, step in enumerate(steps))
    assert len(frames(FrameRate(100.0), steps)) == 500


def test_missed_frames_are_left_out():
    assert frames(FrameRate(10.0), [0.0, 0.55, 0.56, 0.61]) == [0.0, 0.55, 0.61]


def test_after_a_reset_the_same_frames_are_due_again():
    schedule, steps = FrameRate(10.0), [0.05 * step for step in range(10)]
    assert frames(schedule, steps) == frames(schedule, steps)


def test_the_time_to_the_next_frame_is_simulated_time():
    schedule = FrameRate(10.0)
    assert schedule.time_to_next(0.32) == pytest.approx(0.08)
    assert schedule.time_to_next(0.4) == 0.0


def test_at_rate_zero_no_frame_is_due():
    schedule = FrameRate(0.0)
    schedule.note(1.0)
    assert not schedule.is_due(2.0)
    assert schedule.time_to_next(2.0) == math.inf


def test_a_schedule_that_restarts_between_two_frames_begins_with_the_next():
    schedule = FrameRate(10.0)
    assert not schedule.is_due(0.35)
    assert schedule.is_due(0.4)
    schedule.note(0.4)
    schedule.restart()
    assert not schedule.is_due(0.55)
    assert schedule.is_due(0.601)


def test_a_new_rate_has_frames_at_its_own_times():
    schedule = FrameRate(1.0)
    schedule.note(0.5)
    schedule.rate = 2.0
    assert not schedule.is_due(0.7)
    assert schedule.is_due(1.0)
