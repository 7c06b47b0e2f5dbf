"""Simulated time for messages that were received at some time of the system's clock."""

import time
from bisect import bisect_right
from collections import deque

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from mujoco_ros.bridge.publishing.template_publisher import nanoseconds

_REMEMBERED = 4000
"""Ticks; four seconds of a clock of 1 kHz, while messages are taken every 50 ms."""


class SimClock:
    """What /clock said, and when."""

    def __init__(self, node: Node) -> None:
        """Subscribe to /clock; `take` listens."""
        self._subscription = node.create_subscription(
            Clock,
            "/clock",
            lambda _message: None,
            QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT),
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        self._received: deque[int] = deque(maxlen=_REMEMBERED)
        self._simulated: deque[int] = deque(maxlen=_REMEMBERED)

    @property
    def running(self) -> bool:
        """Whether there was any time yet."""
        return bool(self._received)

    def take(self) -> None:
        """Note what has arrived."""
        take = self._subscription.handle.take_message
        while (taken := take(Clock, True)) is not None:
            stamp = deserialize_message(taken[0], Clock).clock
            received = taken[1]["received_timestamp"] or time.time_ns()
            self.note(received, nanoseconds(stamp))

    def note(self, received: int, simulated: int) -> None:
        """Note a tick: when it was received, and what it said [ns]."""
        self._received.append(received)
        self._simulated.append(simulated)

    def at(self, received: int) -> int:
        """Return the simulated time when a message was received [ns]."""
        place = bisect_right(self._received, received)
        return self._simulated[max(0, place - 1)]
