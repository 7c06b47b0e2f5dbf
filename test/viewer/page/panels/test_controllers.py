"""The panel "Controllers" in a browser."""

from dataclasses import replace
from itertools import pairwise

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import ControllerInfo, TransitionInfo

HOSTILE = "<img src=x onerror=alert(1)>"
WALKING = ControllerInfo(
    name="/walking_controller",
    state="idle",
    states=("idle", "standing", "walking", "error"),
    transitions=(
        TransitionInfo("stand", "idle", "standing"),
        TransitionInfo("walk", "standing", "walking"),
        TransitionInfo("stop", "walking", "standing"),
    ),
    available=("stand",),
    events=(
        (3.25, TransitionInfo("stand", "idle", "standing")),
        (5.75, TransitionInfo("relax", "standing", "idle")),
    ),
)


@pytest.fixture
def known(clients, state):
    """The controllers that are known."""
    state.time = 10.0
    clients.controllers.known[WALKING.name] = WALKING
    return clients.controllers.known


def test_only_transitions_that_are_available_can_be_requested(panel, known, clients):
    shown = panel("Controllers")
    shown.get_by_role("button", name="stand").click()
    expected = [("/walking_controller", "stand")]
    eventually(lambda: clients.called("change_state") == expected, lambda: clients.calls)
    clients.requests[-1].complete(False, HOSTILE)
    expect(shown.get_by_role("status")).to_contain_text(f"change_state: {HOSTILE}")
    expect(shown.get_by_role("button", name="walk")).to_be_hidden()
    shown.get_by_text("2 not available now").click()
    walk = shown.get_by_role("button", name="walk")
    expect(walk).to_be_disabled()
    expect(walk).to_have_attribute("title", "Available in standing")
    known[WALKING.name] = replace(WALKING, state="standing", available=("walk",))
    expect(walk).to_be_enabled()
    expect(shown.get_by_role("button", name="stand")).to_be_disabled()
    known.clear()
    expect(shown.get_by_text("No node has a state machine")).to_be_visible()


def test_the_active_state_stays_in_sight_on_a_phone(page, panel, known):
    page.set_viewport_size({"width": 390, "height": 844})
    shown = panel("Controllers")
    shown.get_by_role("table", name="History of states").scroll_into_view_if_needed()
    expect(shown.get_by_text("idle", exact=True).first).to_be_in_viewport(ratio=1)
    bar = page.get_by_role("region", name="Bar", exact=True)
    expect(bar.get_by_text("/walking_controller is idle")).to_be_visible()


def test_an_error_is_shown_with_its_reason_and_not_as_a_state(panel, known):
    shown = panel("Controllers")
    box = shown.locator(".graph-state").filter(has_text="idle")
    expect(box).to_have_attribute("data-look", "good")
    known[WALKING.name] = replace(WALKING, state="error", reason=f"no leg\n{HOSTILE}")
    expect(shown.get_by_text(f"no leg\n{HOSTILE}").first).to_be_visible()
    error = shown.locator(".graph-state").filter(has_text="error")
    expect(error).to_have_attribute("data-look", "bad")
    expect(box).to_have_attribute("data-look", "visited")
    expect(shown.get_by_role("img")).to_have_accessible_name(
        "States of /walking_controller: error is active"
    )


def test_the_history_has_times_durations_and_reasons(panel, known, state):
    slip = TransitionInfo("slip", "idle", "error", HOSTILE)
    events = (*WALKING.events, (8.0, slip))
    known[WALKING.name] = replace(WALKING, state="error", reason=HOSTILE, events=events)
    rows = panel("Controllers").get_by_role("table", name="History of states").get_by_role("row")
    texts = [["error", "8.00 s", "now", "slip", HOSTILE], ["idle", "5.75 s", "2.25", "relax", ""]]
    texts += [["standing", "3.25 s", "2.50", "stand", ""], ["idle", "", "", "", ""]]
    for index, cells in enumerate(texts, 1):
        expect(rows.nth(index).get_by_role("cell")).to_have_text(cells)
    shown = panel("Controllers")
    expect(shown.get_by_text("for 2.0 s")).to_be_visible()
    state.time = 11.5
    expect(shown.get_by_text("for 3.5 s")).to_be_visible()
    states = shown.get_by_role("list", name="States of /walking_controller")
    expect(states.get_by_role("listitem")).to_have_text(["idle", "standing", "idle", "error"])
    bars = [bar.bounding_box() for bar in states.get_by_role("listitem").all()]
    assert bars[1]["width"] / bars[2]["width"] == pytest.approx(2.5 / 2.25, rel=0.02)


def test_one_of_several_controllers_is_selected(panel, known):
    known["/another"] = ControllerInfo(name="/another", state="off", available=("switch on",))
    known["/new"] = ControllerInfo(name="/new")
    shown = panel("Controllers")
    expect(shown.get_by_role("button", name="switch on")).to_be_visible()
    shown.get_by_role("button", name="/walking_controller").click()
    expect(shown.get_by_role("button", name="stand", exact=True)).to_be_visible()
    expect(shown.get_by_role("row", name="/new")).to_contain_text("unknown")
    del known[WALKING.name]
    expect(shown.get_by_role("button", name="switch on")).to_be_visible()


def test_the_active_state_of_a_large_graph_is_in_view(panel, known):
    names = tuple(f"STATE_{number}" for number in range(40))
    pairs = pairwise(names)
    chain = tuple(TransitionInfo("done", start, goal) for start, goal in pairs)
    long = ControllerInfo(name="/long", state=names[0], states=names, transitions=chain)
    known.clear()
    known["/long"] = long
    shown = panel("Controllers")
    view = shown.get_by_role("group", name="States of /long, scrollable")
    for active in (names[0], names[35], names[20]):
        known["/long"] = replace(long, state=active, available=("done",))
        box = view.locator(".graph-state").filter(has_text=active).first
        expect(box).to_have_attribute("data-look", "good")
        eventually(lambda box=box: _contains(view, box), lambda: "the active state is out of view")
    shown.get_by_role("button", name="Whole graph").click()
    last = view.locator(".graph-state").filter(has_text=names[39])
    eventually(
        lambda: _contains(view, last) and _contains(view, view.locator(".graph-state").first)
    )


def _contains(view, box) -> bool:
    """Whether a box is within what is visible of a view."""
    outer, inner = view.bounding_box(), box.bounding_box()
    return all(
        outer[at] - 1 <= inner[at] and inner[at] + inner[size] <= outer[at] + outer[size] + 1
        for at, size in (("x", "width"), ("y", "height"))
    )
