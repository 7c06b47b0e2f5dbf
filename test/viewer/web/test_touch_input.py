"""Touches of the page, as what a mouse does."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from mujoco_ros.viewer.web.page_files import script_part

PAGE = """<!doctype html><html><head>%s</head>
<body style="margin:0"><canvas width="200" height="200"></canvas><p>beside</p><script>
  window.received = [];
  for (const type of ["mousedown", "mousemove", "mouseup", "wheel", "touchstart"]) {
    document.addEventListener(type, (event) => received.push([
      event.type, event.clientX ?? null, event.clientY ?? null, event.deltaY ?? event.buttons]));
  }
</script></body></html>"""


class Screen:
    """A touch screen that shows a page."""

    def __init__(self, page: Any, connection: Any) -> None:
        self.page = page
        self._connection = connection

    def touch(self, kind: str, *fingers: tuple[float, float]) -> list[list[Any]]:
        """Send a touch event with the fingers that remain; return what the page received."""
        points = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(fingers)]
        settings = {"type": f"touch{kind}", "touchPoints": points}
        self._connection.send("Input.dispatchTouchEvent", settings)
        return list(self.page.evaluate("received.splice(0)"))


@pytest.fixture
def screen(browser: Any) -> Iterator[Screen]:
    context = browser.new_context(has_touch=True)
    context.clock.install(time=0)
    page = context.new_page()
    page.clock.pause_at(86_400_000)  # A slow machine must not press between two touches.
    page.set_content(PAGE % script_part("touch_input").decode())
    yield Screen(page, context.new_cdp_session(page))
    context.close()


def test_one_finger_holds_the_left_button(screen):
    assert screen.touch("Start", (50, 60)) == []
    pressed = [["mousemove", 50, 60, 0], ["mousedown", 50, 60, 1]]
    assert screen.touch("Move", (70, 80)) == [*pressed, ["mousemove", 70, 80, 1]]
    assert screen.touch("End") == [["mouseup", 70, 80, 0]]


def test_a_tap_is_a_click(screen):
    screen.touch("Start", (50, 60))
    kinds = [event[0] for event in screen.touch("End")]
    assert kinds == ["mousemove", "mousedown", "mouseup"]


def test_a_finger_that_stays_presses(screen):
    screen.touch("Start", (50, 60))
    screen.page.clock.run_for(299)
    assert screen.page.evaluate("received.length") == 0
    screen.page.clock.run_for(1)
    assert [event[0] for event in screen.page.evaluate("received")] == ["mousemove", "mousedown"]
    assert screen.touch("End")[-1] == ["mouseup", 50, 60, 0]


def test_a_cancelled_touch_presses_nothing_and_releases_what_it_pressed(screen):
    screen.touch("Start", (50, 60))
    assert screen.touch("Cancel") == []
    screen.touch("Start", (50, 60))
    screen.touch("Move", (70, 80))
    assert screen.touch("Cancel") == [["mouseup", 70, 80, 0]]


def test_two_fingers_that_part_zoom_in_and_that_move_up_scroll_down(screen):
    screen.touch("Start", (90, 100))
    assert screen.touch("Start", (90, 100), (110, 100)) == [], "no click"
    motion, wheel = screen.touch("Move", (70, 100), (130, 100))
    assert motion == ["mousemove", 100, 100, 0]
    assert wheel == ["wheel", 100, 100, pytest.approx(2000 * math.log(3))]
    moved = screen.touch("Move", (70, 80), (130, 80))
    assert moved == [["mousemove", 100, 80, 0], ["wheel", 100, 80, 20]]


def test_a_finger_that_remains_presses_nothing(screen):
    screen.touch("Start", (90, 100))
    screen.touch("Start", (90, 100), (110, 100))
    assert screen.touch("End", (90, 100)) == []
    assert screen.touch("Move", (50, 50)) == []
    assert screen.touch("End") == []
    screen.touch("Start", (50, 60))
    assert len(screen.touch("End")) == 3


def test_a_touch_beside_the_scene_stays_one(screen):
    assert screen.touch("Start", (20, 220))[0][0] == "touchstart"
    screen.touch("Start", (20, 220), (50, 60))
    assert len(screen.touch("Move", (20, 220), (70, 80))) == 3, "a finger of its own"
