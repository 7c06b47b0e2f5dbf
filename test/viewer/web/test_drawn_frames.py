"""When the next frame of the panels is built."""

import pytest

from mujoco_ros.viewer.web.drawn_frames import DrawnFrames


class Page:
    """A page that draws at times which the test sets."""

    def __init__(self) -> None:
        self.now, self.sent = 100.0, 0
        self.frames = DrawnFrames(now=lambda: self.now)
        self.frames.set_page(True)

    def build(self, messages: int = 1) -> None:
        self.frames.note_built()
        for _ in range(messages):
            self.frames.note_sent()
        self.sent += messages

    def draw(self, after_s: float, *, missing: int = 0) -> None:
        """Draw, when the last messages are missing."""
        self.now += after_s
        self.frames.note_drawn(self.sent - missing)

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


def test_a_fast_page_has_two_frames_in_flight():
    page = Page()
    for _ in range(3):
        page.draw(0.016)
    page.build()
    assert page.is_due()
    page.build()
    assert not page.is_due(10.0)
    page.draw(0.016)
    assert page.is_due()


def test_a_fast_page_on_a_slow_network_gets_no_frame_before_it_has_received_one():
    page = Page()
    for _ in range(3):
        page.draw(0.016)
    page.build()
    page.build(messages=3)
    for _ in range(50):
        page.draw(0.016, missing=4)
        assert not page.is_due()
    page.draw(0.016, missing=3)
    assert page.is_due()


@pytest.mark.parametrize(("period", "first"), [(0.2, 0.0), (0.4, 0.1), (1.0, 0.3), (4.0, 0.3)])
def test_a_slow_page_gets_an_early_frame_and_newer_ones_until_it_draws(period, first):
    page = Page()
    for _ in range(3):
        page.draw(period)
    assert first == 0.0 or not page.is_due(first - 0.01)
    assert page.is_due(0.02)
    for _ in range(16):
        page.build()
        assert not page.is_due(0.29)
        due = page.is_due(0.02)
    assert not due, "seventeen messages would be undrawn"
    page.draw(0.0)
    assert page.is_due(first + 0.01)


def test_a_slow_page_gets_fewer_frames_of_many_messages():
    page = Page()
    for _ in range(3):
        page.draw(1.0)
    assert page.is_due(0.31)
    for _ in range(3):
        page.build(messages=5)
        assert page.is_due(0.31)
    page.build(messages=5)
    assert not page.is_due(10.0)


def test_a_frame_that_a_slow_page_receives_after_a_drawing_is_followed_by_a_newer_one():
    page = Page()
    for _ in range(3):
        page.draw(1.0)
    page.now += 0.9
    page.build()
    page.draw(0.1, missing=1)
    assert not page.is_due(0.19)
    assert page.is_due(0.02)


@pytest.mark.parametrize("last", [0.02, 0.3, 3.0])
def test_one_other_period_does_not_make_the_next_frame_earlier_or_later(last):
    page = Page()
    for period in (1.0, 1.0, 1.0, last):
        page.draw(period)
    assert not page.is_due(0.29)
    assert page.is_due(0.02)


@pytest.mark.parametrize("period", [0.016, 1.0])
def test_a_frame_that_is_not_sent_is_followed_by_another_one_later(period):
    page = Page()
    for _ in range(3):
        page.draw(period)
    assert page.is_due(period)
    page.frames.note_built()
    page.draw(0.0)
    assert not page.is_due(0.49)
    assert page.is_due(0.02)


def test_two_short_periods_make_the_next_frame_earlier():
    page = Page()
    for period in (1.0, 1.0, 0.3, 0.3):
        page.draw(period)
    assert page.is_due()


def test_draws_without_a_frame_are_no_permission_for_more_frames_later():
    page = Page()
    for _ in range(50):
        page.draw(0.02)
    for _ in range(2):
        assert page.is_due(1.0)
        page.build()
    assert not page.is_due(1.0)


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
