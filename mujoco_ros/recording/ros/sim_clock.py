"""Conversion of reception times to simulated time."""

import logging
import time
from bisect import bisect_right
from collections import deque

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from mujoco_ros.bridge.publishing.template_publisher import nanoseconds

_LOG = logging.getLogger(__name__)
_CAPACITY = 4000
"""Ticks kept: four seconds of a clock at 1 kHz; messages are taken every 50 ms."""


class SimClock:
    """Recent ticks of /clock with their reception times."""

    def __init__(self, node: Node) -> None:
        """Subscribe to /clock; `update` takes its messages."""
        self._subscription = node.create_subscription(
            Clock,
            "/clock",
            lambda _message: None,
            QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT),
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        self._is_warned = False
        self._received: deque[int] = deque(maxlen=_CAPACITY)
        self._simulated: deque[int] = deque(maxlen=_CAPACITY)

    @property
    def started(self) -> bool:
        """Whether any tick was received."""
        return bool(self._received)

    def update(self) -> None:
        """Take the received ticks."""
        take = self._subscription.handle.take_message
        while (taken := take(Clock, True)) is not None:
            simulated = nanoseconds(deserialize_message(taken[0], Clock).clock)
            received = taken[1]["received_timestamp"] or time.time_ns()
            if simulated >= 0:
                self.add(received, simulated)
            elif not self._is_warned:
                self._is_warned = True
                _LOG.warning("negative times of /clock are ignored: %d ns", simulated)

    def add(self, received: int, simulated: int) -> None:
        """Add a tick: reception time and simulated time [ns]."""
        self._received.append(received)
        self._simulated.append(simulated)

    def time_at(self, received: int) -> int:
        """Return the simulated time at a reception time [ns]."""
        index = bisect_right(self._received, received)
        return self._simulated[max(0, index - 1)]
