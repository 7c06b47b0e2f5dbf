"""Connections on which the page learns the age of what it receives, and the frames it has drawn."""

import asyncio
import math
import struct
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

MOST_UNRECEIVED = 6
"""Images on their way to a page: 60 a second with 100 ms until it reports them."""
_HALTED_S = 2.0  # time without a drawn frame after which a page draws none, as in a hidden tab [s]
_FAST_S = 0.1  # longest period of a fast page [s]
_MOST_FAST = 2  # frames that a fast page has not drawn, one more than it draws
_UNSEEN_S = 0.25  # shortest time between two frames for a page that has sent nothing yet [s]
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
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin without a page, when few frames are due; `now` is the clock [s]."""
        self._now = now
        self.begun, self.is_pressed = 0, False  # `begun` is the number of frames
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
            self.is_pressed = is_pressed  # whether a button or key was pressed in the last one
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
        """Record how many messages the page has received, from another thread; infinite for all."""
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


_HEADER = struct.Struct("<IB")  # size and kind of a command
_INPUT = 2
_MOUSE = struct.Struct("<2h")
_MOUSE_AT, _OUTSIDE = 12, (-1, -1)
_WHEEL = (16, 24)
_CHARACTERS = (24, 538)  # and their number
_PRESSED = (552, 616)  # masks of buttons and keys, and positions of sticks
# Source: struct CmdInput in NetImgui_CmdPackets.h of netImgui, version 18 of its protocol.


def is_input(message: bytes) -> bool:
    """Return whether a message of a page is its input."""
    size = _PRESSED[1]
    return len(message) == size and _HEADER.unpack_from(message) == (size, _INPUT)


def released(message: bytes) -> bytes:
    """Return an input without pressed buttons and keys, with the mouse outside the page."""
    parts = bytearray(message)
    for first, end in (_WHEEL, _CHARACTERS, _PRESSED):
        parts[first:end] = bytes(end - first)
    _MOUSE.pack_into(parts, _MOUSE_AT, *_OUTSIDE)
    return bytes(parts)


_PREFIX = "drawn="
_RECEIVED = "received="
_UNCOVERED = "uncovered="
_STATES_PER_DRAWING = 8
_LONGEST_PAUSE_S = 0.25  # between two states
_FRAMES = 2
"""Frames that are begun until one has what arrived before: it may arrive during the first."""
_MOST_UNREAD = 1000
_RELEASE_S = 10.0  # longest wait for the viewer to read that buttons and keys are released [s]
_POLL_S = 0.005


class MarkedConnection:
    """A connection of a page that reports when it draws, and to which each image is marked.

    A page sends ``drawn=<time>;<lag>`` when it draws: the time of its own clock [ms], and the age
    of what it draws [s]. Before each binary message the connection sends the last such time and
    the milliseconds since it arrived, from which the page computes an upper bound of the age of
    that message without comparing clocks, and the number of binary messages of the page that the
    viewer has read. Pages that send no times receive no marks.

    It sends ``received=<number>`` when it receives a binary message. A page that draws or receives
    slowly receives fewer states.

    Before a binary message it also sends ``uncovered=<left>;<top>;<right>;<bottom>;<aspect>`` if
    that has changed: the part of the page without panels in fractions of the page, and the page's
    width divided by its height.

    When a page of the panels is gone, its buttons and keys are released, outside the page, where
    that has no effect on a widget. Otherwise the viewer would keep them pressed for the next page,
    whose mouse would then move what the last one held.
    """

    def __init__(
        self,
        connection: ServerConnection,
        *,
        on_drawn: Callable[[], object],
        on_lag: Callable[[float], object],
        on_received: Callable[[float], object],
        frames: DrawnFrames,
        uncovered: Callable[[], Sequence[float]] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Mark the messages of a connection, whose other methods are available here.

        `on_drawn` is called with each binary message of the page, `on_lag` with the age of what it
        draws [s], `on_received` with the number of binary messages that it has received. For
        panels, `uncovered` returns the five numbers of the uncovered part, none if that is unknown.
        """
        self._connection, self._now = connection, now
        self._on_drawn, self._on_lag, self._on_received = on_drawn, on_lag, on_received
        self._frames = frames
        self._uncovered, self._sent_uncovered = uncovered, tuple[float, ...]()
        self._drawn: tuple[str, float] | None = None
        self._periods = (0.0, 0.0)  # between the last drawings of the page
        self._sent, self._received_by_page = 0, math.inf
        self._has_received = asyncio.Event()
        self._received = self._read = 0
        self._input: bytes | None = None  # the newest
        # Whether the page is gone, and its buttons and keys are being released
        self.is_releasing = False
        # Number of a message, and number of the frames at its arrival.
        self._unread: deque[tuple[int, int]] = deque(maxlen=_MOST_UNREAD)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def send(self, message: str | bytes) -> None:
        """Send a message, with its mark if it is binary.

        That a page of the panels is gone is no error here: Studio would drop its connection to the
        panels before they have read the release.
        """
        if isinstance(message, bytes):
            self._sent += 1
            if self._uncovered is not None:
                self._frames.note_sent()
        try:
            if isinstance(message, bytes) and self._drawn is not None:
                await self._send_mark(*self._drawn)
            await self._connection.send(message)
            if isinstance(message, bytes) and self._uncovered is None:
                # Studio's next message has the state after the pause.
                await asyncio.sleep(min(max(self._periods) / _STATES_PER_DRAWING, _LONGEST_PAUSE_S))
                while self._sent - self._received_by_page >= MOST_UNRECEIVED:
                    self._has_received.clear()
                    await self._has_received.wait()
        except ConnectionClosed:
            if self._input is None:
                raise

    async def _send_mark(self, token: str, reported_at: float) -> None:
        waited = 1e3 * (self._now() - reported_at)
        await self._connection.send(f"{_PREFIX}{token};{waited:.0f};{self._count_read()}")
        await self._send_uncovered()

    async def _send_uncovered(self) -> None:
        if self._uncovered is None:
            return
        if (uncovered := tuple(self._uncovered())) != self._sent_uncovered:
            self._sent_uncovered = uncovered
            numbers = ";".join(f"{number:.5f}" for number in uncovered)
            await self._connection.send(_UNCOVERED + numbers)

    async def recv(self) -> str | bytes:
        """Receive the next message that is not a report."""
        while True:
            message: str | bytes = await self._connection.recv()
            if not self._is_report(message):
                return message

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Iterate over the messages that are not reports, and end with the release of all input."""
        with suppress(ConnectionClosed):
            async for message in self._connection:
                if not self._is_report(message):
                    yield message
        if self._input is not None:
            self.is_releasing = True
            yield released(self._input)
            await self._until_read()

    async def _until_read(self) -> None:
        """Wait until the viewer has read the release, which needs frames."""
        frames = self._frames
        last, end = frames.begun + _FRAMES, self._now() + _RELEASE_S
        self._on_received(math.inf)  # nothing waits for a page that is gone
        self._on_drawn()
        while (frames.begun < last or frames.is_pressed) and self._now() < end:
            await asyncio.sleep(_POLL_S)
            self._on_drawn()

    def _count_read(self) -> int:
        begun = self._frames.begun
        while self._unread and begun >= self._unread[0][1] + _FRAMES:
            self._read, _ = self._unread.popleft()
        return self._read

    def _is_report(self, message: str | bytes) -> bool:
        if isinstance(message, bytes):
            self._received += 1
            self._unread.append((self._received, self._frames.begun))
            if is_input(message):
                self._input = message
            self._on_drawn()
            return False
        if message.startswith(_PREFIX):
            if (numbers := _numbers(message.removeprefix(_PREFIX), 2)) is not None:
                self._note_drawn(*numbers)
            return True
        if message.startswith(_RECEIVED):
            if (numbers := _numbers(message.removeprefix(_RECEIVED), 1)) is not None:
                self._note_received(*numbers)
            return True
        return False

    def _note_drawn(self, time_ms: float, lag: float) -> None:
        now = self._now()
        if self._drawn is not None:
            self._periods = (self._periods[1], now - self._drawn[1])
        self._drawn = f"{time_ms:.3f}", now
        self._on_lag(lag)

    def _note_received(self, messages: float) -> None:
        self._received_by_page = messages
        self._has_received.set()
        self._on_received(messages)


def _numbers(text: str, count: int) -> list[float] | None:
    """Return the numbers of a report; None if it has others than `count` finite ones."""
    try:
        numbers = [float(number) for number in text.split(";")]
    except ValueError:
        return None
    return numbers if len(numbers) == count and all(map(math.isfinite, numbers)) else None
