"""Rules of accessibility, checked by axe-core in all panels: wide, dark, and as wide as a phone."""

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from past_times import past_states
from playwright.sync_api import expect

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.clients import ControllerInfo, LogLine, ParameterInfo, TransitionInfo
from mujoco_ros.viewer.marker_descriptions import (
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
    MarkerServerInfo,
)
from mujoco_ros.viewer.page.key_help import TITLE as KEYS
from mujoco_ros.viewer.page.panel import Area
from mujoco_ros.viewer.page.panels import PANELS
from mujoco_ros.viewer.page.panels.declared import DeclaredPanel
from mujoco_ros.viewer.page.panels.fleet import FleetPanel
from mujoco_ros.viewer.panel_descriptions import GroupInfo, ItemInfo, PanelInfo

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# The panel "Fleet" is for several robots.
SHOWN = [each for each in PANELS if each is not FleetPanel]
PLACES = [*((each.title, each.area) for each in SHOWN), ("walk", DeclaredPanel.area)]
AREAS = [[title for title, area in PLACES if area is each] for each in Area]
CLOSED = [each.title for each in SHOWN if not each.is_open]  # at first
FILLED = """(panel) => [...panel.querySelectorAll("details[open] > .inner")]
  .every((each) => each.childElementCount)"""
CHECK = """async ([within, rules]) => {
  // NiceGUI's own <main> has the role "none", because the page has another one.
  const options = { runOnly: rules, rules: { "aria-allowed-role": { enabled: false } } };
  const { passes, violations } = await axe.run(within ?? document, options);
  const nodes = (each) => each.nodes.slice(0, 3).map(({ html, any, all }) =>
    [html.slice(0, 160), (any[0] ?? all[0])?.message ?? ""]);
  return { passed: passes.length, found: violations.map((it) => [it.id, it.help, nodes(it)]) };
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core's script."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        report = pytest.fail if os.environ.get("CI") else pytest.skip
        report("axe-core is not installed; requirements/models.txt has it")
    return Path(found.origin).with_name("axe.min.js").read_text()


@pytest.fixture
def clients(clients, state):
    """Clients of a simulator with something in each panel."""
    state.past, state.time = past_states(*np.linspace(1.0, 2.0, 11)), 2.0
    levels = (10, 20, 30, 40, 50)
    clients.lines += [
        LogLine(number=number, time=1.0, level=level, node="arm", text="a line")
        for number, level in enumerate(levels, 1)
    ]
    walk = TransitionInfo("walk", "idle", "walking")
    clients.controllers.known["/walk"] = ControllerInfo(
        name="/walk",
        state="error",
        reason="no leg",
        states=("idle", "walking", "error"),
        transitions=(walk,),
        available=("walk",),
        events=((1.0, walk), (1.5, TransitionInfo("slip", "walking", "error", "no leg"))),
    )
    clients.parameters.known |= {
        "gravity": ParameterInfo(value=(0.0, 0.0, -9.81), initial=(0.0, 0.0, -9.81)),
        "mode": ParameterInfo(value="on", initial="off", choices=("off", "on")),
        "seed": ParameterInfo(value=7, initial=7, read_only=True),
    }
    clients.velocities.topics = ("/cmd_vel",)
    clients.drawings.topics["/scan"] = "sensor_msgs/msg/LaserScan"
    marker = InteractiveMarkerInfo(
        name="goal",
        description="where to go",
        frame="world",
        pose=Pose(),
        initial_quat=Pose().quat_wxyz,
        controls=(MarkerControl(name="along", mode=InteractionMode.MOVE_AXIS),),
    )
    clients.markers.known["/planner"] = MarkerServerInfo(markers={"goal": marker})
    items = (
        ItemInfo(kind="button", label="Open", service="/walk/panel/WALK/open"),
        ItemInfo(kind="table", label="Feet", topic="/walk/feet", columns=("foot", "N")),
        ItemInfo(kind="plot", label="Error", topic="/walk/error", columns=("x", "y")),
        ItemInfo(kind="number", label="speed", parameter="WALK.speed"),
    )
    group = GroupInfo(name="WALK", items=items)
    clients.panels.known["/walk/panel"] = PanelInfo(title="walk", node="/walk", groups=(group,))
    speed = ParameterInfo(value=0.5, low=0.0, high=1.0)
    clients.panels.settings["/walk", "WALK.speed"] = speed
    return clients


def test_no_panel_breaks_a_rule(axe, page, panel, clients):
    found: dict[str, list[Any]] = {}
    passed: list[int] = []

    def check(part: str, rules: Any = RULES, within: Any = None) -> None:
        result = page.evaluate(CHECK, [within and within.element_handle(), list(rules)])
        passed.append(result["passed"])
        if result["found"]:
            found[part] = result["found"]

    def check_panels(mode: str, rules: Any = RULES, show: Callable[[Any], object] = bool) -> None:
        for number, titles in enumerate(zip_longest(*AREAS)):  # one panel in each area
            shown = {title: panel(title) for title in filter(None, titles)}
            for each in shown.values():
                show(each)
            for title, each in ({"the page": None} if number == 0 else shown).items():
                check(f"{title}, {mode}", rules, each)

    def open_all(shown: Any) -> None:
        shown.evaluate("each => each.querySelectorAll('summary').forEach((it) => it.click())")
        page.wait_for_function(FILLED, arg=shown.element_handle())

    page.emulate_media(reduced_motion="reduce")
    page.evaluate(axe)
    for title in CLOSED:
        page.get_by_text("Panels", exact=True).click()
        page.get_by_role("button", name=title, exact=True).click()
    check_panels("wide", show=open_all)
    for name, key, content in ((KEYS, "F1", "row"), ("Search", "Control+k", "option")):
        page.keyboard.press(key)
        window = page.get_by_role("dialog", name=name)
        expect(window.get_by_role(content).first).to_be_visible()
        check(name, within=window)
        page.keyboard.press("Escape")
        expect(window).to_be_hidden()
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    check_panels("dark", ["color-contrast"])
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("region", name="Right panels")).to_be_hidden()
    for title in filter(None, chain(*AREAS)):
        check(f"{title}, phone", ["wcag22aa"], panel(title))  # sizes of what is touched
    check("the page of a phone")
    assert not found, json.dumps(found, indent=1)
    assert sum(passed) > 150, "axe-core has checked little"
