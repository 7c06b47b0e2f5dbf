"""Timeouts of frames and heartbeats."""

import pytest

from mujoco_ros.process.heartbeat import FIRST_FRAME_S, TIMEOUT_S, FrameTimeout, Heartbeat


def after(*seconds: float) -> FrameTimeout:
    """Return the timeout after a first frame and others that took so long."""
    timeout = FrameTimeout()
    for number, duration in enumerate(seconds):
        timeout.allow(first=not number)
        timeout.note(duration)
    return timeout


def test_a_first_frame_may_take_a_minute():
    assert FrameTimeout().allow(first=True) == FIRST_FRAME_S
    assert after(0.1, 0.1).allow(first=True) == FIRST_FRAME_S


def test_a_later_frame_that_hangs_is_detected_within_2_seconds_including_the_check_period():
    assert after(5.0, 0.3, 0.1).allow(first=False) == TIMEOUT_S
    assert TIMEOUT_S + 0.2 < 2.0


def test_long_frames_may_take_four_times_as_long_as_the_longest_recent_frame():
    assert after(1.0).allow(first=False) == 4.0  # only a first frame to compare with
    assert after(9.0, 1.0).allow(first=False) == 4.0
    assert after(9.0, 1.0, 0.1, 0.1).allow(first=False) == pytest.approx(4.0 * 0.81)
    assert after(9.0, 1.0, *[0.1] * 20).allow(first=False) == TIMEOUT_S
    assert after(9.0, 1.0, 2.0).allow(first=False) == 8.0


def test_the_timeout_of_a_heartbeat_is_short_in_steady_operation_and_long_after_a_change():
    timeouts: list[float] = []
    now = [100.0]
    heartbeat = Heartbeat(timeouts.append, now=lambda: now[0])

    def frames(count: int, seconds: float) -> None:
        for _ in range(count):
            now[0] += seconds
            heartbeat.frame()

    heartbeat.frame(is_new=True)
    assert timeouts[-1] == FIRST_FRAME_S
    frames(10, 3.0)
    assert timeouts[-1] == FIRST_FRAME_S, "the first frames prepare textures and shaders"
    frames(60, 0.02)
    assert timeouts[-1] == TIMEOUT_S
    frames(1, 1.0)
    assert timeouts[-1] == 4.0, "frames of a slow machine would count as hanging"
    heartbeat.frame(is_new=True)
    assert timeouts[-1] == FIRST_FRAME_S
