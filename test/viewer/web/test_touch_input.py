"""Touches of the page, as what a mouse does."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from mujoco_ros.viewer.web.page_script import part

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
    page = context.new_page()
    page.set_content(PAGE % part("touch_input").decode())
    yield Screen(page, context.new_cdp_session(page))
    context.close()


def test_one_finger_holds_the_left_button(screen):
    assert screen.touch("Start", (50, 60)) == [["mousemove", 50, 60, 0], ["mousedown", 50, 60, 1]]
    assert screen.touch("Move", (70, 80)) == [["mousemove", 70, 80, 1]]
    assert screen.touch("End") == [["mouseup", 70, 80, 0]]


def test_a_cancelled_touch_releases_the_button(screen):
    screen.touch("Start", (50, 60))
    assert screen.touch("Cancel") == [["mouseup", 50, 60, 0]]


def test_two_fingers_that_part_zoom_in_and_that_move_up_scroll_down(screen):
    screen.touch("Start", (90, 100))
    assert screen.touch("Start", (90, 100), (110, 100)) == [["mouseup", 90, 100, 0]]
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
    assert len(screen.touch("Start", (50, 60))) == 2


def test_a_touch_beside_the_scene_stays_one(screen):
    assert screen.touch("Start", (20, 220))[0][0] == "touchstart"
