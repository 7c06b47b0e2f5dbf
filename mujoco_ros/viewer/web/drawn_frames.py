"""The frames of the panels that the page has drawn, which determine when the next one is built."""

import threading
import time
from collections.abc import Callable

_HALTED_S = 2.0
"""Time without a drawn frame after which a page draws none, as in a hidden tab [s]."""
_FAST_S = 0.1
"""Longest period of a page that may have two frames in flight, one more than it draws [s]."""
_UNSEEN_S = 0.25
"""Shortest time between two frames for a page that has sent nothing yet [s]."""
_LEAD_S = 0.25
"""Shortest time from building a frame to the drawing of a slower page [s]."""
_LEAD = 0.45
"""That time in periods of a slow page, which vary."""


class DrawnFrames:
    """Determines when the next frame of the panels is built: when the page has drawn the last one.

    Studio sends frames at 60 Hz, and a page that draws fewer queues them without bound. Here a page
    has one frame in flight, or two if it is fast. For a page that is slow, the frame is built in
    the second half of the page's period, so that it is new when the page draws it. The period is
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
            self._in_flight = 0
            self._drawn_at: float | None = None
            self._periods = (0.0, 0.0, 0.0)
            self._condition.notify_all()

    def note_built(self, *, is_pressed: bool = False) -> None:
        """Record that a frame was built and sent, and whether a button or key is pressed in it."""
        with self._condition:
            self.is_pressed = is_pressed
            self.begun += 1
            self._in_flight += 1
            self._built_at = self._now()

    def note_drawn(self) -> None:
        """Record that the page has drawn; called by the server's thread."""
        now = self._now()
        with self._condition:
            if self._drawn_at is not None:
                self._periods = (*self._periods[1:], now - self._drawn_at)
            self._drawn_at = now
            self._in_flight = max(self._in_flight - 1, 0)
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
        if not self._has_page:
            return self._built_at + _UNSEEN_S - self._now()
        period = sorted(self._periods)[1]
        if self._in_flight >= (2 if period < _FAST_S else 1):
            return float("inf")
        if self._drawn_at is None:
            return 0.0
        lead = max(_LEAD_S, _LEAD * period)
        return self._drawn_at + period - lead - self._now()
