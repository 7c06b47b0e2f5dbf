"""Updates of a server of interactive markers that wait, and requests for all of its markers."""

import time
from collections import deque
from math import inf

from rclpy.serialization import deserialize_message
from visualization_msgs.msg import InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from mujoco_ros.viewer.ros.interactive_markers.marker_set import MarkerSet

DEPTH = 100
"""Updates that wait."""
_LARGEST = 1 << 20
"""Longest update that is read [bytes]."""
_MOST_BYTES = 4 << 20
"""Length of the updates that wait above which the earlier ones are dropped [bytes]."""
_REQUEST_S, _REFUSED_S = 1.0, 10.0
"""Shortest time between two requests, and that after an update that cannot be read [s]."""
_LATE_S = 1.0
"""Time after a response in which an update that it contains may still arrive [s]."""


class UpdateQueue:
    """Updates of one server.

    Attributes:
        markers: The markers of the server.
        request_at: When all markers must be requested [s]; None if they need not.
    """

    def __init__(self, markers: MarkerSet) -> None:
        """Begin without updates."""
        self.markers = markers
        self.request_at: float | None = None
        self._waiting: deque[bytes] = deque(maxlen=DEPTH)  # empty instead of one that is too long
        self._is_refused = False
        self._requested_at = self._responded_at = -inf

    def receive(self, serialized: bytes) -> None:
        """Let a serialized update wait; there are no more after one that is too long."""
        if self._is_refused:
            return
        self._is_refused = len(serialized) > _LARGEST
        if sum(map(len, self._waiting)) + len(serialized) > _MOST_BYTES:
            self._waiting.clear()  # the number of this one shows that some are missing
        self._waiting.append(b"" if self._is_refused else serialized)

    def start(self) -> None:
        """Request all markers at once, of a new server or after a change of its publishers."""
        self._is_refused = False
        self._waiting.clear()
        self._forget_sequence(0.0)

    def request(self, now: float) -> None:
        """Note that all markers are requested; updates wait for the response."""
        self.request_at, self._requested_at = None, now

    def respond(self, response: GetInteractiveMarkers.Response) -> None:
        """Take the markers of the response."""
        self.markers.reset(response)
        self._responded_at = time.monotonic()

    def fail(self, reason: str) -> None:
        """Request all markers again later, since there is no response."""
        self.markers.note("service", reason)
        self.request_at = self._requested_at + _REQUEST_S

    def read(self, now: float, end: float) -> bool:
        """Apply the updates that wait, until one is missing or cannot be read.

        Args:
            now: Monotonic time [s].
            end: Monotonic time after which only one update is read [s].

        Returns:
            Whether anything was read.
        """
        is_changed = False
        while self._waiting and self.markers.sequence is not None:
            is_changed = True
            try:
                self._read_next(now)
            except Exception as error:  # a message that is not what its type promises
                self.markers.note("message", f"an update cannot be read: {error}")
                self._forget_sequence(now + _REFUSED_S)
            if time.monotonic() > end:
                break
        return is_changed

    def _read_next(self, now: float) -> None:
        serialized = self._waiting.popleft()
        if not serialized:
            self.markers.note(
                "size", f"an update is longer than {_LARGEST} bytes; no more are read"
            )
            self._forget_sequence(None)
            return
        message = deserialize_message(serialized, InteractiveMarkerUpdate)
        is_late = now - self._responded_at < _LATE_S
        if not self.markers.update(message, may_be_late=is_late):
            self._forget_sequence(self._requested_at + _REQUEST_S)

    def _forget_sequence(self, request_at: float | None) -> None:
        self.markers.sequence = None
        self.request_at = request_at
