"""The panel "Fleet", without a browser."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fake_clients import FakeClients
from nicegui import ui
from nicegui.client import Client
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.viewer.clients import ControllerInfo, FieldKey, FieldSample
from mujoco_ros.viewer.fleet import BATTERY_TYPE, by_robot, most_important
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.panels.controllers import ControllersPanel
from mujoco_ros.viewer.page.panels.fleet import FleetPanel
from mujoco_ros.viewer.page.panels.robots import RobotsPanel
from mujoco_ros.viewer.page.session import Session, Shared

MODEL = """<mujoco><worldbody><body name="link"><joint name="j" axis="0 0 1"/><geom size=".1"/>
</body></worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>"""
WALK = ControllerInfo(name="/left/walk", state="walking", states=("walking", "error"))
FELL = ControllerInfo(name="/right/walk", state="error", reason="it fell")
CHARGE = FieldKey("/left/battery/state", "percentage")


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> StillState:
    """Two robots, each in its namespace."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "robot.xml").write_text(MODEL)
    robots = ", ".join(f"{{name: {name}, model: robot.xml}}" for name in ("left", "right"))
    (folder / "two.yaml").write_text(f"robots: [{robots}]")
    state = StillState(str(folder / "two.yaml"))
    state.references = References.holding(np.zeros(2))
    return state


@pytest.fixture
def session(two):
    """A page without a browser, whose scene records what it frames."""
    clients = FakeClients()
    shared = Shared(two, clients, lambda _seconds: None)
    client = Client(ui.page("/fleet"))
    with client:
        created = Session(shared, client, Role.CONTROL)
        created.framed = []
        created.scene = SimpleNamespace(frame=created.framed.append, selected=0, followed=0)
        yield created
    client.delete()


def mounted(panel):
    """Return a panel that is shown."""
    panel.mount()
    panel.tick(is_visible=True)
    assert panel._errors == {}
    return panel


def shown(panel, name):
    """Return text and tone of state, battery and reason of a robot."""
    panel.tick(is_visible=True)
    panel.session.shared.declared.update(0.0)
    panel.tick(is_visible=True)
    _button, *cells = panel._rows[name]
    return [(cell.state["text"], cell.state.get("tone", "")) for cell in cells]


def test_a_row_has_the_state_the_charge_and_the_error_of_a_robot(session):
    clients, panel = session.clients, mounted(FleetPanel(session))
    assert shown(panel, "left") == [("no controller", "muted"), ("–", "muted"), ("", "")]
    clients.controllers.known.update({WALK.name: WALK, FELL.name: FELL})
    clients.panel_fields.kinds = {CHARGE.topic: BATTERY_TYPE, "/other": BATTERY_TYPE}
    shown(panel, "left")
    assert clients.panel_fields.watched == (CHARGE,), "no other robot's"
    clients.panel_fields.samples = [FieldSample(CHARGE.topic, 1.0, {CHARGE.path: 0.15})]
    assert shown(panel, "left") == [("walking", "good"), ("15", "warning"), ("", "good")]
    assert shown(panel, "right") == [("error", "bad"), ("–", "muted"), ("it fell", "bad")]


def test_a_charge_that_is_not_published_any_more_has_its_age(session, two, monkeypatch):
    clients, panel = session.clients, mounted(FleetPanel(session))
    clients.panel_fields.kinds = {CHARGE.topic: BATTERY_TYPE}
    clients.panel_fields.samples = [FieldSample(CHARGE.topic, 1.0, {CHARGE.path: 0.15})]
    monkeypatch.setattr(two, "time", 4.0)
    assert shown(panel, "left")[1] == ("15", "warning")
    monkeypatch.setattr(two, "time", 13.0)
    assert shown(panel, "left")[1] == ("15, 12 s ago", "muted")


def test_a_controller_outside_all_namespaces_is_of_each_robot_without_its_own(session):
    panel = mounted(FleetPanel(session))
    both = ControllerInfo(name="/handover", state="handing over")
    session.clients.controllers.known.update({WALK.name: WALK, both.name: both})
    assert shown(panel, "left")[0] == ("walking", "good")
    assert shown(panel, "right")[0] == ("handing over", "good")


def test_a_click_frames_the_robot_and_shows_it_in_other_panels(session, two):
    known = session.clients.controllers.known
    known.update({WALK.name: WALK, FELL.name: FELL})
    robots, controllers = mounted(RobotsPanel(session)), mounted(ControllersPanel(session))
    panel = mounted(FleetPanel(session))
    assert (robots._selected, controllers._selected) == ("left", "/left/walk")
    panel._show("right")
    for each in (robots, controllers):
        each.tick(is_visible=True)
        assert each._errors == {}
    assert (robots._selected, controllers._selected) == ("right", "/right/walk")
    assert session.framed == [two.model.body("right/link").id]
    assert [button.state["pressed"] for button, *_ in panel._rows.values()] == [False, False]
    panel.tick(is_visible=True)
    assert [button.state["pressed"] for button, *_ in panel._rows.values()] == [False, True]


def test_one_robot_needs_no_fleet(session, two):
    assert FleetPanel(session).is_needed
    one = SimpleNamespace(layout=SimpleNamespace(robots=two.layout.robots[:1]))
    panel = FleetPanel(session)
    panel.state = one
    assert not panel.is_needed


def test_a_node_belongs_to_the_robot_with_the_longest_namespace(two):
    left, right = two.layout.robots
    robots = [replace(left, namespace=""), replace(right, namespace="right/arm")]
    names = ["/sim/walk", "/sim/right/arm/walk", "/sim/right/arms", "/else"]
    found = by_robot(names, robots, "/sim/mujoco")
    assert found == {"left": ["/sim/right/arms", "/sim/walk"], "right": ["/sim/right/arm/walk"]}


def test_an_error_is_more_important_than_a_reason_and_that_than_a_state():
    waits = replace(WALK, reason="waits")
    assert most_important([WALK, FELL, waits]) is FELL
    assert most_important([WALK, waits]) is waits
    assert most_important([replace(WALK, state="")]) is None
