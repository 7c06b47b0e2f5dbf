"""The frames of the panels that the page has received and drawn: they determine the next one."""

import threading
import time
from collections import deque
from collections.abc import Callable

MOST_UNRECEIVED = 6
"""Images on their way to a page: 60 a second with 100 ms until it reports them."""
_HALTED_S = 2.0
"""Time without a drawn frame after which a page draws none, as in a hidden tab [s]."""
_FAST_S = 0.1
"""Longest period of a fast page [s]."""
_MOST_FAST = 2
"""Frames that a fast page has not drawn, one more than it draws."""
_UNSEEN_S = 0.25
"""Shortest time between two frames for a page that has sent nothing yet [s]."""
_RENEWAL_S = 0.3
"""Shortest time until a frame that a slower page has not drawn is followed by a newer one [s]."""
_MOST_UNDRAWN = 16
"""Messages until a slower page draws: it reads about 32 then (`max_commands_per_frame`)."""
_UNSENT_S = 0.5
"""Time after which a frame is without a message: Studio drops some while a page connects [s]."""


class DrawnFrames:
    """Determines when the next frame of the panels is built: when the page has drawn the last one.

    Studio sends frames at 60 Hz, and a page that draws or receives fewer queues them without bound.
    Here few frames are on their way to the page. A fast one gets a frame for each that it draws. A
    slower one gets newer ones until it draws, which takes the newest; the first is early, because
    its drawings may come early or late. While a button or key is pressed, it gets one for each.

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
            self._sent, self._received = 0, float("inf")  # messages
            # The sent messages before each frame that the page has not received.
            self._unreceived: deque[int] = deque(maxlen=MOST_UNRECEIVED)
            self._undrawn = self._undrawn_messages = 0
            self._drawn_at: float | None = None
            self._periods = (0.0, 0.0)
            self._condition.notify_all()

    def note_built(self, *, is_pressed: bool = False) -> None:
        """Record that a frame was built, and whether a button or key is pressed in it."""
        with self._condition:
            self.is_pressed = is_pressed
            self.begun += 1
            self._unreceived.append(self._sent)
            self._undrawn += 1
            self._built_at = self._now()

    def note_sent(self) -> None:
        """Record that a message of a frame is sent; called by the server's thread."""
        with self._condition:
            self._sent += 1
            self._undrawn_messages += 1
            self._condition.notify_all()

    def note_received(self, messages: float) -> None:
        """Record how many messages the page has received so far; called by the server's thread.

        A page that reports none has received all.
        """
        with self._condition:
            self._received = messages
            self._condition.notify_all()

    def note_drawn(self) -> None:
        """Record that the page has drawn; called by the server's thread."""
        now = self._now()
        with self._condition:
            if self._drawn_at is not None:
                self._periods = (self._periods[1], now - self._drawn_at)
            self._drawn_at = now
            self._undrawn = max(self._undrawn - 1, 0) if self._is_fast() else 0
            self._undrawn_messages = 0
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

    def _is_fast(self) -> bool:
        return max(self._periods) < _FAST_S

    def _delay(self) -> float:
        """Return the time until the next frame is due [s]; infinite before the page draws."""
        now = self._now()
        if not self._has_page:
            return self._built_at + _UNSEEN_S - now
        while self._unreceived and self._unreceived[0] < min(self._received, self._sent):
            self._unreceived.popleft()
        if len(self._unreceived) == MOST_UNRECEIVED:
            has_all = self._received >= self._sent
            return self._built_at + _UNSENT_S - now if has_all else float("inf")
        if self._is_fast():
            return 0.0 if self._undrawn < _MOST_FAST else float("inf")
        if self._undrawn_messages >= _MOST_UNDRAWN:
            return float("inf")
        period = max(self._periods)
        if self._undrawn and self.is_pressed:  # Dear ImGui repeats what stays pressed
            return float("inf")
        if self._undrawn:
            return self._built_at + max(_RENEWAL_S, period / _MOST_UNDRAWN) - now
        assert self._drawn_at is not None  # as there is a period
        return self._drawn_at + min(max(period - _RENEWAL_S, 0.0), _RENEWAL_S) - now
