"""Marks of what a page receives, and its reports of what it draws."""

import asyncio
import struct
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedOK

from mujoco_ros.viewer.web.marked_connection import (
    DrawnFrames,
    MarkedConnection,
    is_input,
    released,
)

PRESSED = struct.pack("<IB", 616, 2) + bytes(range(1, 255)) + bytes(357)
"""An input in which something is pressed."""


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread: another test's browser may have the event loop of this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result(20.0)


class Connection:
    """A connection that yields `messages` and records what is sent."""

    request = "the request"

    def __init__(self, *messages: str | bytes) -> None:
        self.messages = list(messages)
        self.sent: list[str | bytes] = []
        self.is_closed = False

    async def recv(self) -> str | bytes:
        return self.messages.pop(0)

    async def send(self, message: str | bytes) -> None:
        if self.is_closed:
            raise ConnectionClosedOK(None, None)
        self.sent.append(message)

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while self.messages:
            yield self.messages.pop(0)


class Marked:
    """A marked connection at a time that the test sets."""

    def __init__(self, *messages: str | bytes, uncovered: Any = None) -> None:
        self.now, self.drawn, self.lags = 10.0, 0, []
        self.frames = DrawnFrames(now=lambda: self.now)
        self.received: list[float] = []
        self.frames_per_drawing, self.seconds_per_drawing = 0, 0.0
        self.drawings_until_released = 0
        self.inner = Connection(*messages)
        self.connection = MarkedConnection(
            self.inner,
            on_drawn=self._draw,
            on_lag=self.lags.append,
            on_received=self._receive,
            frames=self.frames,
            uncovered=uncovered,
            now=lambda: self.now,
        )

    def _draw(self) -> None:
        self.drawn += 1
        self.frames.note_drawn()
        self.frames.begun += self.frames_per_drawing
        self.frames.is_pressed &= self.drawn < self.drawings_until_released
        self.now += self.seconds_per_drawing

    def _receive(self, messages: float) -> None:
        self.received.append(messages)
        self.frames.note_received(messages)

    async def rest(self) -> list[str | bytes]:
        return [message async for message in self.connection]


def test_reports_are_taken_out_of_the_messages():
    marked = Marked("drawn=5;0.1", b"version", "drawn=21.5;0.7", b"input", "heartbeat")
    assert run(marked.connection.recv()) == b"version"
    assert run(marked.rest()) == [b"input", "heartbeat"]
    assert marked.lags == [0.1, 0.7]
    assert marked.drawn == 2


def test_each_binary_message_follows_its_mark():
    marked = Marked("drawn=21.5;0")
    run(marked.rest())
    marked.now += 0.25
    for message in (b"state", "role=controller", b"state"):
        run(marked.connection.send(message))
    mark = "drawn=21.500;250;0"
    assert marked.inner.sent == [mark, b"state", "role=controller", mark, b"state"]


def test_what_panels_leave_uncovered_is_sent_when_it_changes():
    uncovered = [(0.25, 0.5, 0.75, 1.0, 1.6)]
    marked = Marked("drawn=1;0", uncovered=lambda: uncovered[-1])
    run(marked.rest())
    for numbers in (uncovered[0], uncovered[0], ()):
        uncovered.append(numbers)
        run(marked.connection.send(b"panels"))
    sent = [message for message in marked.inner.sent if not str(message).startswith("drawn=")]
    first = "uncovered=0.25000;0.50000;0.75000;1.00000;1.60000"
    assert sent == [first, b"panels", b"panels", "uncovered=", b"panels"]


def test_a_page_that_draws_once_in_two_seconds_receives_eight_states_meanwhile(monkeypatch):
    pauses = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def send(marked: Marked, *messages: str | bytes) -> list[float]:
        pauses.clear()
        await marked.connection.recv()
        marked.now += 2.0
        await marked.connection.recv()
        for message in messages:
            await marked.connection.send(message)
        return list(pauses)

    reports = ("drawn=1;0", b"", "drawn=2001;0", b"")
    assert run(send(Marked(*reports), b"state", "role=spectator", b"state")) == [0.25, 0.25]
    assert run(send(Marked(*reports, uncovered=tuple), b"panels")) == [], "panels are no states"


def test_a_page_that_has_not_received_six_states_gets_no_other():
    async def send_twelve() -> list[int]:
        marked = Marked("received=0", b"", "received=2", b"", "received=12", b"")
        await marked.connection.recv()

        async def send() -> None:
            for _ in range(12):
                await marked.connection.send(b"state")

        sending = asyncio.create_task(send())
        counts = []
        for _ in range(2):
            await asyncio.sleep(0.05)
            counts.append(marked.inner.sent.count(b"state"))
            await marked.connection.recv()
        await asyncio.wait_for(sending, 10.0)
        return [*counts, marked.inner.sent.count(b"state")]

    assert run(send_twelve()) == [6, 8, 12]


def test_the_messages_that_the_page_has_received_are_reported():
    marked = Marked("received=1", "received=7", "drawn=1;0", b"input")
    assert run(marked.connection.recv()) == b"input"
    assert marked.received == [1.0, 7.0]


@pytest.mark.parametrize(("uncovered", "count"), [(tuple, 2), (None, 0)])
def test_the_messages_of_frames_are_counted_and_neither_texts_nor_states(uncovered, count):
    marked, sent = Marked("drawn=1;0", uncovered=uncovered), []
    marked.frames.note_sent = lambda: sent.append(marked.inner.sent.copy())
    run(marked.rest())
    for message in ("role=controller", b"image", b"image"):
        run(marked.connection.send(message))
    assert len(sent) == count
    assert b"image" in marked.inner.sent
    assert not any(b"image" in before for before in sent[:1]), "before the page can have it"


def test_marks_count_the_messages_of_the_page_that_the_viewer_has_read():
    marked = Marked("drawn=1;0", b"version", b"input", b"input")
    run(marked.connection.recv())
    marked.frames.begun = 7
    run(marked.connection.recv())  # read by the frame after the next

    def read() -> int:
        run(marked.connection.send(b"panels"))
        return int(str(marked.inner.sent[-2]).rpartition(";")[2])

    assert read() == 1, "the version, from before seven frames"
    marked.frames.begun = 8
    run(marked.connection.recv())
    assert read() == 1
    marked.frames.begun = 9
    assert read() == 2
    marked.frames.begun = 10
    assert read() == 3


def test_the_input_of_a_page_that_is_gone_is_released_and_read():
    marked = Marked("drawn=1;0", b"version", PRESSED)
    marked.frames_per_drawing = 2
    assert run(marked.rest()) == [b"version", PRESSED, released(PRESSED)]
    assert marked.frames.begun == 6, "two frames have read the last message"


def test_the_frames_that_release_input_do_not_wait_for_the_page_that_is_gone():
    marked = Marked("drawn=1;0", b"version", "received=0", PRESSED, uncovered=tuple)
    marked.frames.set_page(True)
    marked.seconds_per_drawing = 0.01

    async def build() -> None:
        while True:
            if marked.frames.wait(0.0):
                marked.frames.note_built()
                await marked.connection.send(b"panels")
            await asyncio.sleep(0.0)

    async def release() -> None:
        for _ in range(2):
            await marked.connection.recv()
        for _ in range(6):
            marked.frames.note_built()
            await marked.connection.send(b"panels")
        marked.inner.is_closed = True
        viewer = asyncio.create_task(build())
        await marked.rest()
        viewer.cancel()

    run(release())
    assert marked.frames.begun >= 8
    assert marked.now < 10.2


def test_a_viewer_in_which_a_button_is_still_pressed_has_not_read_the_release():
    marked = Marked(PRESSED)
    marked.frames.is_pressed, marked.frames_per_drawing, marked.drawings_until_released = True, 2, 5
    assert len(run(marked.rest())) == 2
    assert marked.drawn == 5
    assert marked.frames.begun == 10, "without the button"


def test_a_viewer_that_reads_nothing_is_not_waited_for():
    marked = Marked(PRESSED)
    marked.seconds_per_drawing = 11.0
    assert len(run(marked.rest())) == 2
    assert marked.frames.begun == 0


def test_what_is_sent_to_panels_that_are_gone_is_dropped():
    marked = Marked(PRESSED)
    marked.inner.is_closed = True
    with pytest.raises(ConnectionClosedOK):
        run(marked.connection.send(b"version"))
    run(marked.connection.recv())
    run(marked.connection.send(b"panels"))


def test_a_page_that_reports_nothing_receives_no_marks():
    marked = Marked()
    run(marked.connection.send(b"state"))
    assert marked.inner.sent == [b"state"]


@pytest.mark.parametrize(
    "report",
    [
        *("drawn=", "drawn=1", "drawn=nan;1", "drawn=1;inf", "drawn=x;y", "drawn=1;2;3"),
        *("received=", "received=nan", "received=x", "received=1;2"),
    ],
)
def test_a_malformed_report_has_no_effect(report):
    marked = Marked(report)
    assert run(marked.rest()) == []
    run(marked.connection.send(b"state"))
    assert marked.inner.sent == [b"state"]
    assert marked.lags == marked.received == []


def test_everything_else_is_that_of_the_connection():
    assert Marked().connection.request == "the request"


SIZE = 616
FIELDS = struct.Struct("<IB3x 2H 2h 2f 256H H 2? 2f 4x 4Q 8f")
"""Size and kind; size of the page, place of the mouse, wheel, characters and their number,
compression, scale and rate; masks of buttons and keys, positions of sticks."""


def test_an_input_is_released_outside_the_page():
    page = (SIZE, 2, 1000, 640)
    characters = (*(104, 105), *([0] * 254), 2)
    settings = (True, False, 1.0, 30.0)
    sticks = 8 * [0.5]
    pressed = FIELDS.pack(*page, 120, 5, 1.0, -1.0, *characters, *settings, 3, 1, 2, 4, *sticks)
    assert is_input(pressed)
    empty = FIELDS.pack(*page, -1, -1, 0.0, 0.0, *([0] * 257), *settings, 0, 0, 0, 0, *([0.0] * 8))
    assert released(pressed) == empty


def test_other_messages_are_no_input():
    version = struct.pack("<IB", SIZE, 0) + bytes(SIZE - 5)
    short = struct.pack("<IB", SIZE, 2)
    assert not any(is_input(message) for message in (version, short, b""))


class Page:
    """A page that draws and receives at times which the test sets."""

    def __init__(self, *periods: float) -> None:
        self.now, self.sent = 100.0, 0
        self.frames = DrawnFrames(now=lambda: self.now)
        self.frames.set_page(True)
        for period in periods:
            self.draw(period)

    def build(self, messages: int = 1, *, missing: int = 0) -> None:
        """Build and send a frame; the page has not received the last messages yet."""
        self.frames.note_built()
        for _ in range(messages):
            self.frames.note_sent()
        self.sent += messages
        self.receive(missing)

    def receive(self, missing: int = 0) -> None:
        self.frames.note_received(self.sent - missing)

    def draw(self, after_s: float) -> None:
        self.now += after_s
        self.frames.note_drawn()

    def is_due(self, after_s: float = 0.0) -> bool:
        self.now += after_s
        return self.frames.wait(0.0)


def test_a_page_that_draws_nothing_gets_two_frames_only():
    page = Page()
    built = 0
    while page.is_due(1.0) and built < 10:
        page.build()
        built += 1
    assert built == 2


def test_a_fast_page_has_two_frames_to_draw():
    page = Page(0.016, 0.016, 0.016)
    page.build()
    assert page.is_due()
    page.build()
    assert not page.is_due(0.05)
    page.draw(0.016)
    assert page.is_due()


def test_a_page_with_a_slow_network_has_six_frames_on_their_way():
    page = Page(0.016, 0.016, 0.016)
    for number in range(6):
        assert page.is_due()
        page.build(messages=2, missing=2 * number + 2)
        page.draw(0.016)
    for _ in range(500):
        page.draw(0.016)
        assert not page.is_due()
    page.receive(missing=11)
    assert page.is_due(), "the first message of the first frame"
    page.build(missing=12)
    page.draw(0.016)
    assert not page.is_due()
    page.receive()
    assert page.is_due()


@pytest.mark.parametrize(
    ("period", "first", "renewal"),
    [(0.2, 0.0, 0.3), (0.4, 0.1, 0.3), (1.0, 0.3, 0.3), (4.0, 0.3, 0.3), (16.0, 0.3, 1.0)],
)
def test_a_slow_page_gets_an_early_frame_and_newer_ones_until_it_draws(period, first, renewal):
    page = Page(period, period, period)
    assert first == 0.0 or not page.is_due(first - 0.01)
    assert page.is_due(0.02)
    for _ in range(16):
        page.build()
        assert not page.is_due(renewal - 0.01)
        due = page.is_due(0.02)
    assert not due, "seventeen messages would be undrawn"
    page.draw(0.0)
    assert page.is_due(0.31)


def test_a_slow_page_gets_one_frame_for_each_that_it_draws_while_a_button_is_pressed():
    page = Page(1.0, 1.0, 1.0)
    assert page.is_due(0.31)
    page.build()
    assert page.is_due(0.31)
    page.frames.note_built(is_pressed=True)
    page.frames.note_sent()
    assert not page.is_due(10.0)
    page.draw(0.4)
    assert page.is_due(0.31)
    page.build()
    assert page.is_due(0.31 + 10.0 / 16)


def test_a_slow_page_with_a_slow_network_gets_fewer_frames():
    page = Page(1.0, 1.0, 1.0)
    for number in range(6):
        assert page.is_due(0.31)
        page.build(missing=number + 1)
    assert not page.is_due(10.0)
    page.draw(1.0)
    assert not page.is_due(10.0)
    page.receive(missing=5)
    assert page.is_due()


def test_a_slow_page_gets_fewer_frames_of_many_messages():
    page = Page(1.0, 1.0, 1.0)
    for _ in range(4):
        assert page.is_due(0.31)
        page.build(messages=5)
    assert not page.is_due(10.0)


@pytest.mark.parametrize("last", [0.02, 0.3, 3.0])
def test_one_other_period_does_not_make_the_next_frame_earlier_or_later(last):
    page = Page(1.0, 1.0, 1.0, last)
    assert not page.is_due(0.29)
    assert page.is_due(0.02)


def test_two_short_periods_make_the_next_frame_earlier():
    page = Page(1.0, 1.0, 0.3, 0.3)
    assert page.is_due()


def test_a_page_that_becomes_fast_gets_its_frames_at_once():
    page = Page(1.0, 1.0)
    for _ in range(6):
        assert page.is_due(0.31)
        page.build()
    page.draw(0.1)
    page.draw(0.016)
    page.draw(0.016)
    for _ in range(2):
        assert page.is_due()
        page.build()
    assert not page.is_due(0.05)


def test_frames_without_messages_are_followed_by_others_later():
    page = Page(0.016, 0.016)
    page.receive()
    for _ in range(6):
        assert page.is_due()
        page.frames.note_built()
        page.draw(0.016)
    for _ in range(10):
        assert not page.is_due(0.4)
        page.draw(0.0)
        page.draw(0.0)
        assert page.is_due(0.1)
        page.frames.note_built()
    page.build()
    page.draw(0.0)
    assert page.is_due()


def test_draws_without_a_frame_are_no_permission_for_more_frames_later():
    page = Page(*[0.02] * 50)
    for _ in range(2):
        assert page.is_due(1.0)
        page.build()
    assert not page.is_due(1.0)


def test_a_page_that_reports_more_messages_than_were_sent_has_received_all():
    page = Page(0.016, 0.016, 0.016)
    for _ in range(20):
        assert page.is_due()
        page.build(missing=-(10**9))
        page.draw(0.016)


def test_without_a_page_few_frames_are_due_because_studio_connects_with_one():
    page = Page()
    page.build()
    page.build()
    assert not page.is_due(10.0)
    page.frames.set_page(False)
    for _ in range(5):
        assert page.is_due()
        page.frames.note_built()
        assert not page.is_due(0.2), "a page that has sent nothing yet would get them all at once"
        page.now += 0.1


def test_a_page_has_halted_when_it_draws_no_more():
    page = Page()
    assert not page.frames.has_halted
    page.draw(1.0)
    page.now += 1.9
    assert not page.frames.has_halted
    page.now += 0.2
    assert page.frames.has_halted
    page.frames.set_page(False)
    assert not page.frames.has_halted
