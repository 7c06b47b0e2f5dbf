"""When the next frame of the panels is built."""

import pytest

from mujoco_ros.viewer.web.drawn_frames import DrawnFrames


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
