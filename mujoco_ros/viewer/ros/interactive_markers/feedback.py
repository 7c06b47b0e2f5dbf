"""Feedback to the servers of interactive markers, at a bounded rate."""

import logging
import time
from collections import deque
from collections.abc import Callable
from math import inf
from threading import Lock

from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.viewer.marker_descriptions import MarkerKey

_LOG = logging.getLogger(__name__)
FEEDBACK_PERIOD_S, EVENT_PERIOD_S = 0.05, 0.15
"""Shortest time between two messages, and before one of another event [s].

Servers have a queue of one message by default. A lost pose is replaced by the next one; the end of
a motion, or its last pose, is not.
"""
_MOST_WAITING, _MOST_AT_END = 50, 10
"""Most messages that wait, and most that are published at the end."""
_DOWN, _UP = InteractiveMarkerFeedback.MOUSE_DOWN, InteractiveMarkerFeedback.MOUSE_UP


class FeedbackQueue:
    """Feedback that waits; any thread may add some."""

    def __init__(self, publish: Callable[[MarkerKey, InteractiveMarkerFeedback], None]) -> None:
        self._publish = publish
        self._waiting: deque[tuple[MarkerKey, InteractiveMarkerFeedback]] = deque()
        self._sent_at, self._sent_event = -inf, -1
        self._is_down = False  # after the last message that was added
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, key: MarkerKey, message: InteractiveMarkerFeedback) -> None:
        """Send a message later; a new pose replaces one of the same marker that waits.

        If too many wait it is dropped, but not the end of a motion whose begin was not.
        """
        event = message.event_type
        with self._lock:
            if self._waiting and _is_newer_pose(self._waiting[-1], key, message):
                self._waiting[-1] = key, message
            elif len(self._waiting) < _MOST_WAITING or (event == _UP and self._is_down):
                self._waiting.append((key, message))
                self._is_down = event == _DOWN or (self._is_down and event != _UP)
            else:
                _LOG.warning("feedback to '%s' is dropped: %d wait", key.server, _MOST_WAITING)

    def tick(self, now: float) -> None:
        """Publish a message if one is due; `now` is monotonic [s]."""
        if not self._waiting:
            return
        event = self._waiting[0][1].event_type
        is_same = event == self._sent_event
        if now >= self._sent_at + (FEEDBACK_PERIOD_S if is_same else EVENT_PERIOD_S):
            self._sent_at, self._sent_event = now, event
            with self._lock:
                key, message = self._waiting.popleft()
            self._publish(key, message)

    def finish(self) -> None:
        """Publish the newest messages that wait when they are due, in less than two seconds."""
        with self._lock:
            while len(self._waiting) > _MOST_AT_END:
                self._waiting.popleft()
        while self._waiting:
            self.tick(time.monotonic())
            time.sleep(0.01)


def _is_newer_pose(
    last: tuple[MarkerKey, InteractiveMarkerFeedback],
    key: MarkerKey,
    message: InteractiveMarkerFeedback,
) -> bool:
    pose = InteractiveMarkerFeedback.POSE_UPDATE
    return (
        last[0] == key
        and last[1].event_type == message.event_type == pose
        and last[1].control_name == message.control_name
    )
