"""The layout of the page: panels that come and go, presets, search, narrow pages, settings."""

import json
from typing import Any

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ControllerInfo
from mujoco_ros.viewer.page.panels.cameras import CamerasPanel
from mujoco_ros.viewer.settings_file import SettingsFile

HOSTILE = "<img src=x onerror=\"document.title='hacked'\">"


def tab(page: Any, name: str) -> Any:
    return page.get_by_role("tab", name=name, exact=True)


def bar(page: Any) -> Any:
    return page.get_by_role("region", name="Bar", exact=True)


def test_a_panel_appears_when_it_is_needed(monkeypatch, page, panel):
    needed: list[bool] = []
    monkeypatch.setattr(CamerasPanel, "is_needed", property(lambda _self: bool(needed)))
    expect(tab(page, "Cameras")).to_be_hidden()
    needed.append(True)
    expect(tab(page, "Cameras")).to_be_visible()
    expect(panel("Cameras")).to_be_visible()
    needed.clear()
    expect(tab(page, "Cameras")).to_be_hidden()
    expect(page.get_by_role("tabpanel", name="Simulation")).to_be_visible()


def test_presets_place_panels_and_reset_returns(page):
    def apply(name: str) -> None:
        bar(page).get_by_text("Layout", exact=True).click()
        bar(page).get_by_role("button", name=name, exact=True).click()

    apply("Debug")
    right = page.get_by_role("region", name="Right panels")
    expect(right.get_by_role("tab", name="Inspector")).to_be_visible()
    expect(page.get_by_role("tabpanel", name="Plots")).to_be_visible()
    expect(tab(page, "World")).to_be_hidden()
    apply("Teleoperate")
    expect(page.get_by_role("region", name="Bottom panels")).to_be_hidden()
    apply("Reset layout")
    for title in ("World", "Log", "Overlays"):
        expect(tab(page, title)).to_be_visible()


@pytest.mark.parametrize(("width", "height", "rows"), [(900, 700, 1), (390, 844, 2), (844, 390, 1)])
def test_the_bar_does_not_wrap(page, clients, served, width, height, rows):
    ((_session, layout),) = served.server._layouts.values()
    layout._bar._title = lambda: title
    title = "walk_grasp (humanoid, arm, quadruped) \u2013 mujoco_ros"
    for name in ("/walker", "/grasper", "/planner"):
        clients.controllers.known[name] = ControllerInfo(name=name, state="walking to the goal")
    page.set_viewport_size({"width": width, "height": height})
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(bar(page).get_by_text("/walker is walking to the goal")).to_be_visible()
    row = bar(page).get_by_role("button", name="Pause").bounding_box()["height"]
    assert bar(page).bounding_box()["height"] < (rows + 0.6) * row
    assert bar(page).evaluate("(bar) => bar.scrollWidth - bar.clientWidth") <= 0


def test_the_search_finds_panels_joints_topics_and_commands(page, state, clients):
    clients.fields.topics = ("/left/wrist_wrench",)
    page.keyboard.press("Control+k")
    window = page.get_by_role("dialog", name="Search")
    field = window.get_by_role("combobox", name="Search for")
    expect(field).to_be_focused()
    field.fill("wrist_2")
    found = window.get_by_role("option", name="joint: wrist_2_joint")
    expect(found).to_be_visible()
    field.fill("wrench")
    expect(window.get_by_role("option", name="topic: /left/wrist_wrench")).to_be_visible()
    field.fill("inspect")
    expect(window.get_by_role("option", name="panel: Inspector")).to_be_visible()
    field.press("Enter")
    expect(page.get_by_role("tabpanel", name="Inspector")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    field.fill("command pause")
    expect(window.get_by_role("option", name="command: Pause")).to_be_visible()
    expect(window.get_by_role("option", name="panel: Inspector")).to_be_hidden()
    field.press("Enter")
    eventually(lambda: clients.called("pause") == [()], lambda: clients.calls)
    expect(window).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 320})
    page.keyboard.press("Control+k")
    field.fill("wrist_3")
    expect(window.get_by_role("option", name="joint: wrist_3_joint")).to_be_visible()
    page.keyboard.press("ArrowUp")
    selected = window.get_by_role("option", selected=True)
    expect(selected).to_have_text(["joint: wrist_3_joint"])
    field.press("Enter")
    joints = page.get_by_role("tabpanel", name="Robots", exact=True)
    expect(joints.get_by_role("rowheader", name="wrist_3_joint")).to_be_in_viewport(ratio=1)


def test_a_narrow_page_has_one_column_with_all_tabs(page):
    left = page.get_by_role("region", name="Left panels")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(left.get_by_role("tab", name="Robots")).to_be_visible()
    expect(left.get_by_role("tab", name="Log", exact=True)).to_have_count(1)
    expect(page.get_by_role("region", name="Right panels")).to_be_hidden()
    scene = page.get_by_role("main", name="Scene").bounding_box()
    below = left.bounding_box()
    assert scene["width"] == below["width"] == 390
    assert below["y"] >= scene["y"] + scene["height"]
    assert left.get_by_role("tab", name="Robots").bounding_box()["height"] >= 40
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.get_by_role("region", name="Right panels")).to_be_visible()
    expect(page.get_by_role("region", name="Bottom panels").get_by_role("tab")).to_have_count(2)


def test_a_browser_may_forbid_storage(tabs, url):
    page, errors = tabs.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(
        """for (const name of ["localStorage", "sessionStorage"])
          Object.defineProperty(window, name, { configurable: true,
            get() { throw new DOMException("forbidden", "SecurityError"); } });"""
    )
    page.goto(url)
    bar(page).get_by_text("More", exact=True).click()
    for theme in ("light", "dark"):
        bar(page).get_by_role("button", name="Theme").click()
        page.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
        bar(page).get_by_text("More", exact=True).click()
    page.get_by_role("separator", name="Size of the left panels").press("ArrowRight")
    expect(bar(page).get_by_text("playing")).to_be_visible()
    assert errors == []


def test_names_from_ros_are_text(page, clients):
    info = ControllerInfo(name=HOSTILE, state=HOSTILE)
    clients.controllers.known["/x"] = info
    clients.fields.topics = (f"/{HOSTILE}",)
    expect(bar(page).get_by_text(f"{HOSTILE} is {HOSTILE}")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search for").fill("onerror")
    expect(page.get_by_role("option", name=f"topic: /{HOSTILE}")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "arm"


@pytest.fixture
def settings(served, tmp_path):
    """Keep the settings of pages."""
    served.server.settings = SettingsFile(tmp_path)
    yield served.server.settings
    served.server.settings = None


def test_the_next_page_of_the_scene_looks_the_same(
    monkeypatch, settings, page, tabs, url, panel, served, state
):
    scene = "arm"
    page.wait_for_function("+document.documentElement.dataset.fps > 0")
    panel("World")
    tools = page.get_by_role("region", name="Left panels").get_by_text("⋯")
    tab(page, "View").click()
    page.get_by_role("tabpanel", name="View").get_by_role("combobox", name="Labels").select_option(
        "Body"
    )
    tools.click()
    page.get_by_role("button", name="Move below").click()
    box = page.get_by_role("main", name="Scene").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.wheel(0, 300)
    eventually(
        lambda: (
            (kept := settings.read(scene)).get("camera", {}).get("pose")
            and kept["places"]["View"]["area"] == "bottom"
            and kept["panels"]["View"]["options"]["label"] == "Body"
        ),
        lambda: json.dumps(settings.read(scene)),
    )
    kept = settings.read(scene)
    page.close()
    other = tabs.new_page()
    other.goto(url)
    expect(other.get_by_role("tabpanel", name="World")).to_be_visible()
    bottom = other.get_by_role("region", name="Bottom panels")
    expect(bottom.get_by_role("tab", name="View")).to_be_visible()
    view = bottom.get_by_role("tabpanel", name="View")
    expect(view.get_by_role("combobox", name="Labels")).to_have_value("Body")
    other.wait_for_function("+document.documentElement.dataset.fps > 0")
    distance = pytest.approx(kept["camera"]["pose"]["distance"], rel=1e-3)
    eventually(lambda: served.session.scene.pose.get("distance") == distance)
    of_log = {"area": "left", "open": True, "selected": True}
    settings.write("loaded", {"places": {"Log": of_log}, "panels": {"Log": {"level": 40}}})
    monkeypatch.setitem(state.metadata, "scene", "loaded")
    left = other.get_by_role("region", name="Left panels")
    level = left.get_by_role("tabpanel", name="Log").get_by_role("combobox", name="Lowest level")
    expect(level).to_have_value("error")
    assert settings.read("loaded")["panels"]["Log"]["level"] == 40
    other.close()


def test_kept_settings_of_no_use_are_left_out(settings, tabs, url):
    settings.write(
        "arm", {"places": {"Log": 1, "World": {"area": "top"}}, "panels": [], "camera": 7}
    )
    page = tabs.new_page()
    page.goto(url)
    expect(tab(page, "Log")).to_be_visible()
    page.close()  # which writes the settings of its scene


def test_a_file_of_settings_that_is_not_ours_is_no_setting(tmp_path):
    settings = SettingsFile(tmp_path)
    settings.write("arm", {})
    for text in ("[]", "{", '{"places": 1}'):
        (next(tmp_path.glob("*.json"))).write_text(text)
        assert settings.read("arm") in ({}, {"places": 1})
