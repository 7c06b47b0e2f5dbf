"""Keys of the page, the window that lists them, and pulls in the scene."""

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.page.key_help import KEYS, TITLE
from mujoco_ros.viewer.page.session import _SESSIONS


@pytest.fixture
def scene(page):
    """The element of the scene, which is connected."""
    page.wait_for_function("document.documentElement.dataset.fps > 0")
    return page.get_by_role("application", name="3D view")


def watched(served):
    """Return what the scene of the page follows and has selected, as its browser says."""
    ((_number, link),) = served.server._scene.links.items()
    return link.watched.followed, link.watched.selected


def present_camera():
    """Return the camera of the page as it was sent last."""
    session = list(_SESSIONS.values())[-1]
    eventually(lambda: bool(session.scene.pose), lambda: session.scene.pose)
    return dict(session.scene.pose)


def acts(clients) -> list:
    """Return the calls that change something."""
    return [call for call in clients.calls if call != ("prepare",)]


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
    # The button's press and the key's come by two ways.
    expected = [("pause",), ("set_speed", 0.5)]
    eventually(lambda: sorted(acts(clients)) == expected, lambda: clients.calls)
    state.paused = True
    expect(simulation.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("ArrowRight")
    eventually(lambda: clients.called("step") == [(1,)], lambda: clients.calls)


def test_a_key_that_is_held_acts_once_but_for_arrows(page, scene, state, clients):
    for key in ("Backspace", "Space", "Minus"):
        for _ in range(3):
            page.keyboard.down(key)
        page.keyboard.up(key)
    expected = [("reset", "time", "state"), ("pause",), ("set_speed", 0.5)]
    eventually(lambda: acts(clients) == expected, lambda: clients.calls)
    state.paused = True
    for _ in range(3):
        page.keyboard.down("ArrowRight")
    eventually(lambda: len(clients.called("step")) == 3, lambda: clients.calls)
    assert acts(clients)[:-3] == expected


def test_keys_in_a_window_do_not_act_on_the_simulation(page, scene, clients):
    field = page.get_by_role("combobox", name="Search for", include_hidden=True)
    field.wait_for(state="attached")  # the page is loaded
    page.keyboard.press("Control+k")
    page.keyboard.type("logg")
    for key in ("ArrowDown", "Backspace", "ArrowUp"):
        page.keyboard.press(key)
    expect(field).to_be_focused()
    expect(field).to_have_value("log")
    expect(page.get_by_role("option", name="panel: Log", selected=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Minus")
    eventually(lambda: acts(clients), lambda: clients.calls)
    assert acts(clients) == [("set_speed", 0.5)]


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
    session = served.session
    session.scene.select(3)
    session.scene.set_camera(followed=3)
    state.time = 2.0
    state.show(1.0)

    def shown() -> tuple[bool, int, int]:
        return state.shown is not None, session.scene.followed, session.scene.selected

    eventually(lambda: shown() == (True, 3, 3) and watched(served) == (3, 3), shown)
    for expected in ((False, 3, 3), (False, 0, 3), (False, 0, 0)):
        scene.focus()
        page.keyboard.press("Escape")
        eventually(lambda expected=expected: shown() == expected, shown)
        eventually(lambda expected=expected: watched(served) == expected[1:])


def test_a_selected_body_is_pulled_by_the_mouse_until_the_page_is_hidden(
    page, scene, state, clients, served
):
    session = served.session
    body = state.model.body("arm/wrist_3_link").id
    session.scene.select(body)
    eventually(lambda: watched(served) == (0, body))
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
    session = served.session
    session.scene.set_camera(followed=2)
    read_only_page.keyboard.press("Space")
    expect(read_only_page.get_by_text("This page is read-only")).to_be_visible()
    read_only_page.keyboard.press("Escape")
    eventually(lambda: session.scene.followed == 0)
    assert acts(clients) == []


def test_keys_show_all_bodies_and_the_inspector(page, scene):
    page.keyboard.press("F2")
    expect(page.get_by_role("tabpanel", name="Inspector")).to_be_visible()
    before = present_camera()
    scene.focus()
    box = scene.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 200)
    page.mouse.wheel(0, 800)
    eventually(lambda: present_camera() != before, lambda: before)
    moved = present_camera()
    page.keyboard.press("Control+a")
    eventually(lambda: present_camera() != moved, lambda: moved)


def test_alt_swaps_the_buttons_of_the_mouse(page, scene):
    before = present_camera()
    box = scene.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 200)
    page.keyboard.down("Alt")
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 240, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    eventually(lambda: present_camera()["lookat"] != before["lookat"], lambda: before)
    assert present_camera()["azimuth"] == before["azimuth"]
