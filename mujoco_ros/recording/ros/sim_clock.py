"""Conversion of reception times to simulated time."""

import logging
import time
from bisect import bisect_right
from collections import deque
from functools import partial
from itertools import islice

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from mujoco_ros.wire.stamps import nanoseconds

_LOG = logging.getLogger(__name__)
_DEPTH = 1000
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
            QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT),
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
        # A publisher that is faster than this loop does not keep it from ending.
        for data, info in islice(iter(partial(take, Clock, True), None), _DEPTH):
            try:
                simulated = nanoseconds(deserialize_message(data, Clock).clock)
            except Exception:  # the middleware raises its own kinds
                self._warn("messages of /clock that have no time are ignored")
                continue
            if simulated >= 0:
                self.add(info["received_timestamp"] or time.time_ns(), simulated)
            else:
                self._warn(f"negative times of /clock are ignored: {simulated} ns")

    def _warn(self, text: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            _LOG.warning("%s", text)

    def add(self, received: int, simulated: int) -> None:
        """Add a tick: reception time and simulated time [ns]."""
        self._received.append(received)
        self._simulated.append(simulated)

    def time_at(self, received: int) -> int:
        """Return the simulated time at a reception time [ns]."""
        index = bisect_right(self._received, received)
        return self._simulated[max(0, index - 1)]
