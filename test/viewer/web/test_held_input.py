"""Input that the page holds back until the viewer has seen what came before it."""

from collections.abc import Iterator
from typing import Any

import pytest

from mujoco_ros.viewer.web import page_script

PAGE = """<!doctype html><html><head><script>%s</script></head>
<body><canvas width="200" height="200"></canvas><button>beside the scene</button><script>
  window.received = [];
  for (const type of ["mousedown", "mousemove", "mouseup", "keydown", "keyup"]) {
    document.addEventListener(type, (event) => received.push(
      event instanceof MouseEvent
        ? `${type} ${event.button} at ${event.clientX},${event.clientY}`
        : `${type} ${event.code} ${event.keyCode}`));
  }
</script></body></html>"""
DOWN, UP = "mousedown 0 at 50,50", "mouseup 0 at 50,50"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page with a scene, connected, with the mouse in the scene."""
    page = browser.new_page()
    page.set_content(PAGE % page_script.HELD_INPUT.decode())
    page.evaluate("heldInput.connect()")
    page.mouse.move(50, 50)
    page.evaluate("received.length = 0")
    yield page
    page.close()


def received(page: Any) -> list[str]:
    return list(page.evaluate("received"))


def see(page: Any, messages: int) -> None:
    """Send messages, all of which the viewer sees."""
    page.evaluate(
        """count => {
            for (let number = 0; number < count; number++) heldInput.noteSent();
            window.total = (window.total ?? 0) + count;
            heldInput.noteSeen(window.total);
        }""",
        messages,
    )


def test_a_click_is_released_after_the_viewer_has_seen_it(page):
    page.mouse.down()
    page.mouse.up()
    assert received(page) == [DOWN]
    see(page, 1)  # it may still lack the press
    assert received(page) == [DOWN]
    see(page, 1)
    assert received(page) == [DOWN, UP]


def test_events_of_the_mouse_keep_their_order(page):
    page.mouse.click(50, 50, click_count=2)
    page.mouse.move(60, 70)
    assert received(page) == ["mousemove 0 at 50,50", DOWN]
    for _ in range(3):
        see(page, 2)
    moved = "mousemove 0 at 60,70"
    assert received(page) == ["mousemove 0 at 50,50", DOWN, UP, DOWN, UP, moved]
    page.mouse.move(61, 70)
    assert received(page)[-1] == "mousemove 0 at 61,70"


def test_a_long_press_is_released_at_once(page):
    page.mouse.down()
    see(page, 2)
    page.mouse.up()
    assert received(page) == [DOWN, UP]


def test_a_key_is_released_after_the_viewer_has_seen_it_and_others_go_on(page):
    page.keyboard.press("Space")
    page.keyboard.down("a")
    assert received(page) == ["keydown Space 32", "keydown KeyA 65"]
    page.keyboard.press("Space")  # again: the first press ends
    events = received(page)
    assert events[2:] == ["keyup Space 32", "keydown Space 32"]
    see(page, 2)
    assert received(page) == [*events, "keyup Space 32"]


def test_elements_beside_the_scene_and_pages_without_the_panels_wait_for_nothing(page):
    page.get_by_role("button").click()
    assert [event.split()[0] for event in received(page)[-2:]] == ["mousedown", "mouseup"]
    page.evaluate("heldInput.disconnect()")
    page.mouse.move(50, 50)
    page.mouse.down()
    page.mouse.up()
    assert received(page)[-2:] == [DOWN, UP]


def test_what_is_held_goes_on_when_the_connection_ends_or_the_viewer_hangs(page):
    page.mouse.down()
    page.mouse.up()
    page.evaluate("heldInput.disconnect()")
    assert received(page) == [DOWN, UP]
    page.evaluate("heldInput.connect()")
    page.mouse.down()
    page.mouse.up()
    assert received(page)[2:] == [DOWN]
    page.wait_for_timeout(1100)
    page.evaluate("heldInput.proceed()")  # as each frame of the page does
    assert received(page)[2:] == [DOWN, UP]
