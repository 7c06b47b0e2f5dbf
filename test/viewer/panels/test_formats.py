"""Text formats of numbers and times."""

import time

from mujoco_ros.viewer.panels.formats import format_stamp


def test_simulated_time_is_in_seconds_and_system_time_is_the_time_of_day():
    assert format_stamp(12.3456) == "12.35 s"
    assert format_stamp(1795317560.1) == time.strftime("%H:%M:%S", time.localtime(1795317560))
