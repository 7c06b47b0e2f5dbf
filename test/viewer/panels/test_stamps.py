"""How times of other nodes are written."""

import time

from mujoco_ros.viewer.panels.stamps import stamp


def test_simulated_time_is_in_seconds_and_the_worlds_is_the_time_of_the_day():
    assert stamp(12.3456) == "12.35 s"
    assert stamp(1795317560.1) == time.strftime("%H:%M:%S", time.localtime(1795317560))
