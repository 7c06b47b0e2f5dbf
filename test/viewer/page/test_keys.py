"""Keys of the page, the window that lists them, and pulls in the scene."""

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.page.key_help import KEYS, TITLE


@pytest.fixture
def scene(page):
    """The element of the scene, which is connected."""
    page.wait_for_function("document.documentElement.dataset.fps > 0")
    return page.locator(".scene-view")


def acts(clients) -> list:
    """Return the calls that change something."""
    return [call for call in clients.calls if call != ("prepare",)]


def opened(served):
    """Return the session of the page that was opened last."""
    return list(served[0]._layouts.values())[-1][0]


def test_keys_act_unless_a_field_or_a_button_takes_them(page, scene, panel, state, clients):
    simulation = panel("Simulation")
    page.keyboard.press("Backspace")
    eventually(lambda: acts(clients) == [("reset", "time", "state")], lambda: clients.calls)
    clients.calls.clear()
    simulation.get_by_role("textbox", name="Keyframe").fill("up")
    page.keyboard.press("Backspace")
    page.keyboard.press("?")
    expect(simulation.get_by_role("textbox", name="Keyframe")).to_have_value("u?")
    simulation.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Minus")
    expected = [("pause",), ("set_speed", 0.5)]
    eventually(lambda: acts(clients) == expected, lambda: clients.calls)
    state.paused = True
    expect(simulation.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("ArrowRight")
    eventually(lambda: clients.called("step") == [(1,)], lambda: clients.calls)


def test_a_key_opens_the_window_of_the_keys_and_escape_closes_it(page, scene):
    window = page.get_by_role("dialog", name=TITLE)
    for key in ("?", "F1"):
        expect(window).to_be_hidden()
        page.keyboard.press(key)
        expect(window.get_by_role("row")).to_have_count(len(KEYS) + 1)
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Keys", exact=True).click()
    page.keyboard.press("F1")
    expect(window).to_be_hidden()


def test_escape_ends_the_past_first_then_the_camera_then_the_selection(page, scene, state, served):
    session = opened(served)
    session.scene.select(3)
    session.scene.set_camera(followed=3)
    state.time = 2.0
    state.show(1.0)

    def shown() -> tuple[bool, int, int]:
        return state.shown is not None, session.scene.followed, session.scene.selected

    eventually(lambda: shown() == (True, 3, 3), shown)
    page.wait_for_timeout(800)  # the page reports what it has set
    for expected in ((False, 3, 3), (False, 0, 3), (False, 0, 0)):
        scene.focus()
        page.keyboard.press("Escape")
        eventually(lambda expected=expected: shown() == expected, shown)
        page.wait_for_timeout(600)


def test_a_selected_body_is_pulled_by_the_mouse_until_the_page_is_hidden(
    page, scene, state, clients, served
):
    session = opened(served)
    session.scene.select(state.model.body("arm/wrist_3_link").id)
    page.wait_for_timeout(300)
    box = scene.bounding_box()
    page.keyboard.down("Control")
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down(button="right")
    page.mouse.move(box["x"] + 260, box["y"] + 200, steps=3)
    eventually(lambda: len(clients.called("pull")) >= 2, lambda: clients.calls)
    (frame, first), (_, last) = clients.called("pull")[0], clients.called("pull")[-1]
    assert frame == "wrist_3_link"
    assert abs(last.position - first.position).max() > 0.01
    assert clients.called("release") == []
    page.evaluate(
        """() => {
            Object.defineProperty(document, "hidden", { value: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    eventually(lambda: clients.called("release") == [()], lambda: clients.calls)
    page.mouse.up(button="right")
    page.keyboard.up("Control")


def test_a_page_without_control_has_no_keys_but_those_of_its_view(read_only_page, clients, served):
    read_only_page.wait_for_function("document.documentElement.dataset.fps > 0")
    session = opened(served)
    session.scene.set_camera(followed=2)
    read_only_page.keyboard.press("Space")
    read_only_page.keyboard.press("Escape")
    eventually(lambda: session.scene.followed == 0)
    assert acts(clients) == []
