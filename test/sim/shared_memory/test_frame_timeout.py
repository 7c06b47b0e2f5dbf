"""How long a frame may take before the process that takes it is started anew."""

import pytest

from mujoco_ros.sim.shared_memory.frame_timeout import FIRST_S, FrameTimeout
from mujoco_ros.sim.shared_memory.reader import PATIENCE_S


def after(*seconds: float) -> FrameTimeout:
    """Return the patience after a first frame and others that took so long."""
    patience = FrameTimeout()
    for number, took in enumerate(seconds):
        patience.allow(first=not number)
        patience.note(took)
    return patience


def test_a_first_frame_may_take_a_minute():
    assert FrameTimeout().allow(first=True) == FIRST_S
    assert after(0.1, 0.1).allow(first=True) == FIRST_S


def test_a_usual_frame_that_hangs_is_noticed_within_2_seconds_with_the_look_of_the_supervisor():
    assert after(5.0, 0.3, 0.1).allow(first=False) == PATIENCE_S
    assert PATIENCE_S + 0.2 < 2.0


def test_long_frames_may_take_four_times_as_long_as_the_longest_of_the_last_ones():
    assert after(1.0).allow(first=False) == 4.0  # better than nothing
    assert after(9.0, 1.0).allow(first=False) == 4.0
    assert after(9.0, 1.0, 0.1, 0.1).allow(first=False) == pytest.approx(4.0 * 0.81)
    assert after(9.0, 1.0, *[0.1] * 20).allow(first=False) == PATIENCE_S
    assert after(9.0, 1.0, 2.0).allow(first=False) == 8.0
