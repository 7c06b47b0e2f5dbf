"""The clocks of nodes with simulated time, which ignore negative times of /clock."""

import logging

from rclpy.time_source import TimeSource
from rosgraph_msgs.msg import Clock

_LOG = logging.getLogger(__name__)
_set_time = TimeSource.clock_callback
_warned: set[int] = set()


def _follow_clock(source: TimeSource, message: Clock) -> None:
    if message.clock.sec >= 0:
        _set_time(source, message)
    elif not _warned:
        _warned.add(message.clock.sec)
        _LOG.warning("negative times of /clock are ignored: %d s", message.clock.sec)


def ignore_negative_times() -> None:
    """Have all nodes of this process ignore negative times, which rclpy's `Time` rejects."""
    TimeSource.clock_callback = _follow_clock
