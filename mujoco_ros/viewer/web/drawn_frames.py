"""The frames of the panels that the page has drawn, which determine when the next one is built."""

import threading
import time
from collections import deque
from collections.abc import Callable

_HALTED_S = 2.0
"""Time without a drawn frame after which a page draws none, as in a hidden tab [s]."""
_FAST_S = 0.1
"""Longest period of a fast page [s]."""
_MOST_FAST = 2
"""Frames in flight to a fast page, one more than it draws."""
_UNSEEN_S = 0.25
"""Shortest time between two frames for a page that has sent nothing yet [s]."""
_RENEWAL_S = 0.3
"""Time after which a frame that a slower page has not drawn is followed by a newer one [s]."""
_MOST_UNDRAWN = 16
"""Messages without a drawing, beyond which no frame is built: the page reads 32 a drawing."""
_UNSENT_S = 0.5
"""Time in which a frame is sent; the viewer drops frames if the page has just connected [s]."""


class DrawnFrames:
    """Determines when the next frame of the panels is built: when the page has drawn the last one.

    Studio sends frames at 60 Hz, and a page that draws or receives fewer queues them without bound.
    Here a fast page has two frames in flight. A slower one gets newer ones until it draws, which
    takes the newest; the first is early, because its drawings may come early or late. The period is
    the median of three, because after a late drawing a browser may draw twice at once.

    Attributes:
        begun: Number of frames that were begun.
        is_pressed: Whether a button or key was pressed in the last one.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin without a page, when few frames are due; `now` is the clock [s]."""
        self._now = now
        self.begun, self.is_pressed = 0, False
        self._built_at = float("-inf")
        self._condition = threading.Condition()
        self.set_page(False)

    def set_page(self, has_page: bool) -> None:
        """Begin again, with another page or without one."""
        with self._condition:
            self._has_page = has_page
            self._sent, self._received = 0, 0.0  # messages; received ones as of the last drawing
            self._in_flight: deque[int] = deque()  # the sent messages before each frame
            self._drawn_at: float | None = None
            self._periods = (0.0, 0.0, 0.0)
            self._condition.notify_all()

    def note_built(self, *, is_pressed: bool = False) -> None:
        """Record that a frame was built, and whether a button or key is pressed in it."""
        with self._condition:
            self.is_pressed = is_pressed
            self.begun += 1
            self._in_flight.append(self._sent)
            self._built_at = self._now()

    def note_sent(self) -> None:
        """Record that a message of a frame is sent; called by the server's thread."""
        with self._condition:
            self._sent += 1
            self._condition.notify_all()

    def note_drawn(self, received: float = float("inf")) -> None:
        """Record that the page draws; called by the server's thread.

        Args:
            received: Number of messages that the page has received from the beginning; infinite if
                it does not report that.
        """
        now = self._now()
        with self._condition:
            if self._drawn_at is not None:
                self._periods = (*self._periods[1:], now - self._drawn_at)
            self._drawn_at, self._received = now, min(received, self._sent)
            while self._in_flight and self._in_flight[0] < self._received:
                self._in_flight.popleft()
            self._condition.notify_all()

    def wait(self, timeout_s: float) -> bool:
        """Wait until the next frame is due, at most `timeout_s`; return whether it is due."""
        end = self._now() + timeout_s
        with self._condition:
            while (delay := self._delay()) > 0.0:
                remaining = end - self._now()
                if remaining <= 0.0:
                    return False
                self._condition.wait(min(delay, remaining))
            return True

    @property
    def has_halted(self) -> bool:
        """Whether the page has not drawn for a while."""
        drawn_at = self._drawn_at
        return drawn_at is not None and self._now() - drawn_at > _HALTED_S

    def _delay(self) -> float:
        """Return the time until the next frame is due [s]; infinite before the page draws."""
        now = self._now()
        if not self._has_page:
            return self._built_at + _UNSEEN_S - now
        in_flight = len(self._in_flight)
        if in_flight and self._in_flight[-1] == self._sent:  # the last frame is not sent yet
            has_all = self._received == self._sent
            return self._built_at + _UNSENT_S - now if has_all else float("inf")
        period = sorted(self._periods)[1]
        if period < _FAST_S:
            return 0.0 if in_flight < _MOST_FAST else float("inf")
        if max(in_flight, self._sent - self._received) >= _MOST_UNDRAWN:
            return float("inf")
        if in_flight:
            return self._built_at + _RENEWAL_S - now
        assert self._drawn_at is not None  # as there is a period
        return self._drawn_at + min(max(period - _RENEWAL_S, 0.0), _RENEWAL_S) - now
