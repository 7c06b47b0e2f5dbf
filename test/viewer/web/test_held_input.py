"""Input that the page holds back until the viewer has read what came before it."""

from collections.abc import Iterator
from typing import Any

import pytest

from mujoco_ros.viewer.web.page_files import script_part

PAGE = """<!doctype html><html><head>%s</head>
<body><canvas width="200" height="200"></canvas><button>beside the scene</button><script>
  window.received = [];
  for (const type of ["mousedown", "mousemove", "mouseup", "wheel", "keydown", "keyup"]) {
    document.addEventListener(type, (event) => received.push(
      event instanceof MouseEvent
        ? `${type} ${event.button} at ${event.clientX},${event.clientY}`
        : `${type} ${event.code} ${event.keyCode}`));
  }
</script></body></html>"""
DOWN, UP = "mousedown 0 at 50,50", "mouseup 0 at 50,50"


@pytest.fixture
def page(tabs: Any) -> Iterator[Any]:
    """A page with a scene, connected, with the mouse in the scene."""
    page = tabs.new_page()
    page.set_content(PAGE % script_part("held_input").decode())
    page.evaluate("heldInput.connect(); window.total = 0")
    page.mouse.move(50, 50)
    read(page, 2)
    page.evaluate("received.length = 0")
    yield page
    page.close()


def received(page: Any) -> list[str]:
    return list(page.evaluate("received"))


def read(page: Any, messages: int) -> None:
    """Send messages, all of which the viewer reads."""
    page.evaluate(
        """count => {
            for (let number = 0; number < count; number++) heldInput.noteSent();
            total += count;
            heldInput.noteRead(total);
        }""",
        messages,
    )


def test_a_click_is_released_after_the_viewer_has_read_it(page):
    page.mouse.down()
    page.mouse.up()
    assert received(page) == [DOWN]
    read(page, 1)  # it may still lack the press
    assert received(page) == [DOWN]
    read(page, 1)
    assert received(page) == [DOWN, UP]


def test_what_the_mouse_does_after_a_press_keeps_its_place_and_order(page):
    page.mouse.down()
    page.mouse.move(60, 60)
    page.mouse.move(70, 70)
    page.mouse.up()
    page.mouse.move(80, 80)
    page.mouse.wheel(0, 10)
    assert received(page) == [DOWN]
    read(page, 2)
    drag = [DOWN, "mousemove 0 at 70,70"]
    assert received(page) == drag, "the viewer reads the place before the release"
    read(page, 2)
    drag.append("mouseup 0 at 70,70")
    assert received(page) == drag
    read(page, 2)
    page.wait_for_function("received.length === 5")  # the browser sends the wheel later
    assert received(page) == [*drag, "mousemove 0 at 80,80", "wheel 0 at 80,80"]
    page.mouse.move(81, 80)
    assert received(page)[-1] == "mousemove 0 at 81,80"


def test_the_mouse_leaves_the_place_of_a_click_after_the_viewer_has_read_the_release(page):
    page.mouse.down()
    read(page, 2)
    page.mouse.up()
    page.mouse.move(80, 50)
    read(page, 1)  # it may still lack the release
    assert received(page) == [DOWN, UP]
    read(page, 1)
    assert received(page) == [DOWN, UP, "mousemove 0 at 80,50"]


def test_the_second_press_of_a_double_click_does_not_wait(page):
    page.mouse.down()
    read(page, 2)
    page.mouse.up()
    page.mouse.move(52, 51)
    page.mouse.down()
    assert received(page)[2:] == ["mousemove 0 at 52,51", "mousedown 0 at 52,51"]


def test_a_press_waits_until_the_viewer_has_read_the_motion_to_its_place(page):
    page.mouse.move(90, 90)
    page.mouse.down()
    page.mouse.up()
    read(page, 1)  # it may still lack the motion
    assert received(page) == ["mousemove 0 at 90,90"]
    read(page, 1)
    assert received(page)[1:] == ["mousedown 0 at 90,90"]
    read(page, 2)
    assert received(page)[2:] == ["mouseup 0 at 90,90"]


def test_a_drag_that_returns_ends_where_it_began(page):
    page.mouse.down()
    read(page, 2)
    page.mouse.move(90, 50)
    page.mouse.move(50, 50)
    page.mouse.up()
    assert received(page)[1:] == ["mousemove 0 at 90,50", "mousemove 0 at 50,50"]
    read(page, 2)
    assert received(page)[-1] == UP


def test_a_long_press_is_released_at_once(page):
    page.mouse.down()
    read(page, 2)
    page.mouse.up()
    assert received(page) == [DOWN, UP]


def test_keys_are_released_together_after_the_viewer_has_read_them(page):
    page.keyboard.down("Control")
    page.keyboard.down("a")
    page.keyboard.up("Control")  # not before what it modifies
    page.keyboard.up("a")
    pressed = ["keydown ControlLeft 17", "keydown KeyA 65"]
    assert received(page) == pressed
    read(page, 2)
    assert received(page) == [*pressed, "keyup ControlLeft 17", "keyup KeyA 65"]


def test_the_same_key_again_is_another_press(page):
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    down, up = "keydown Space 32", "keyup Space 32"
    assert received(page) == [down]
    read(page, 2)
    assert received(page) == [down, up, down]
    read(page, 2)
    assert received(page) == [down, up, down, up]


def test_other_keys_do_not_wait(page):
    for letter in "abc":
        page.keyboard.press(letter)
    assert received(page) == [f"keydown Key{it} {ord(it)}" for it in "ABC"]
    read(page, 2)
    assert received(page)[3:] == [f"keyup Key{it} {ord(it)}" for it in "ABC"]


def test_a_click_after_one_with_a_modifier_is_without_it(page):
    page.keyboard.down("Control")
    page.mouse.down()
    read(page, 2)
    page.mouse.up()
    page.keyboard.up("Control")
    page.mouse.move(90, 90)
    page.mouse.down()
    page.mouse.up()
    for _ in range(3):
        read(page, 2)
    assert received(page)[2:] == [
        *(UP, "keyup ControlLeft 17", "mousemove 0 at 90,90"),
        *("mousedown 0 at 90,90", "mouseup 0 at 90,90"),
    ]


def test_a_key_acts_where_the_mouse_has_gone_before(page):
    page.mouse.down()
    read(page, 2)
    page.mouse.up()
    page.mouse.move(90, 90)
    page.keyboard.down("Space")
    read(page, 2)
    assert received(page)[2:] == ["mousemove 0 at 90,90", "keydown Space 32"]


def test_elements_beside_the_scene_and_pages_without_the_panels_wait_for_nothing(page):
    page.mouse.down()
    page.mouse.up()
    page.get_by_role("button").click()
    kinds = [event.split()[0] for event in received(page)]
    assert kinds == ["mousedown", "mousemove", "mousedown", "mouseup"], "the first one is held"
    page.evaluate("heldInput.disconnect()")
    page.mouse.move(50, 50)
    page.mouse.down()
    page.mouse.up()
    assert received(page)[-2:] == [DOWN, UP]


def test_a_press_in_the_scene_may_end_beside_it(page):
    page.mouse.down()
    page.mouse.move(50, 500)
    page.mouse.up()
    assert "mouseup 0 at 50,500" not in received(page)
    read(page, 2)
    assert received(page)[-1] == "mouseup 0 at 50,500"


def test_a_key_is_released_only_after_a_slow_page_has_sent_it(page):
    page.keyboard.down("a")
    page.keyboard.up("a")
    page.wait_for_timeout(300)
    page.evaluate("heldInput.proceed()")
    assert received(page) == ["keydown KeyA 65"]
    page.evaluate("heldInput.noteSent()")
    page.wait_for_timeout(300)
    page.evaluate("heldInput.proceed()")
    assert received(page) == ["keydown KeyA 65", "keyup KeyA 65"]


def test_input_is_read_when_the_viewer_has_read_the_last_event(page):
    assert page.evaluate("heldInput.isRead()")
    page.mouse.down()
    page.mouse.up()
    for _ in range(2):
        assert not page.evaluate("heldInput.isRead()")
        read(page, 2)
    assert page.evaluate("heldInput.isRead()")
    page.keyboard.down("a")
    assert not page.evaluate("heldInput.isRead()")
    page.evaluate("heldInput.disconnect()")
    assert page.evaluate("heldInput.isRead()"), "without a viewer"


def test_what_is_held_continues_when_the_connection_ends_or_the_viewer_hangs(page):
    page.mouse.down()
    page.mouse.up()
    page.evaluate("heldInput.disconnect()")
    assert received(page) == [DOWN, UP]
    page.evaluate("heldInput.connect()")
    for _ in range(3):
        page.mouse.down()
        page.mouse.up()
    assert received(page)[2:] == [DOWN]
    page.wait_for_timeout(3100)  # the viewer reads nothing
    page.evaluate("heldInput.proceed()")  # as each frame of the page does
    assert received(page)[2:] == 3 * [DOWN, UP], "all of it, not one event each time"


def test_a_modifier_is_released_after_the_drag_that_it_modifies(page):
    page.keyboard.down("Control")
    read(page, 2)
    page.mouse.down()
    page.mouse.move(60, 60)
    page.mouse.up()
    page.keyboard.up("Control")
    page.wait_for_timeout(300)
    page.evaluate("heldInput.proceed()")
    assert received(page)[1:] == [DOWN]
    for _ in range(3):
        read(page, 2)
    assert received(page)[-2:] == ["mouseup 0 at 60,60", "keyup ControlLeft 17"]
