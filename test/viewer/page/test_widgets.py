"""What users enter, without a browser."""

import pytest
from fake_clients import FakeClients
from nicegui import ui
from nicegui.client import Client

from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.session import Session, Shared


@pytest.fixture(autouse=True)
def page(state):
    """A page, whose changes are not sent."""
    client = Client(ui.page("/widgets"))
    with client:
        yield Session(Shared(state, FakeClients(), lambda _seconds: None), client, Role.CONTROL)
    client.delete()


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(widgets.time, "monotonic", lambda: now[0])
    return now


def enter(widget, value):
    """Let the browser report a value."""
    (listener,) = widget._event_listeners.values()
    widget._handle_event({"listener_id": listener.id, "args": value})


def test_a_browser_that_connects_again_gets_what_the_user_entered():
    level = widgets.choice("Level", ["info", "warn"], "info", lambda _: None)
    enter(level, "warn")
    assert level.snapshot()["value"] == "warn"


def test_a_value_that_is_refused_returns_after_the_time_to_arrive(page, clock):
    kp = widgets.number_field("kp", 100.0, lambda _: None)
    enter(kp, 250)
    kp.show(100.0)
    assert page.feed._changes.pop(kp.id, {}).get("value") is None
    clock[0] += 1.1
    kp.show(100.0)
    assert page.feed._changes[kp.id]["value"] == "100"


def test_another_value_than_the_old_one_is_shown_at_once(page, clock):
    joint = widgets.slider("elbow", 0.0, lambda _: None, low=-1.0, high=1.0)
    enter(joint, 0.5)
    joint.show(0.45)
    assert page.feed._changes[joint.id]["value"] == "0.450"


def test_what_an_action_sets_is_set(page, clock):
    menu = widgets.choice("Field", ["field", "qpos"], "field", lambda _: menu.set(value="field"))
    enter(menu, "qpos")
    assert page.feed._changes[menu.id]["value"] == "field"


def test_cleared_lines_do_not_return_with_the_next_message(page):
    log = widgets.lines("Log", level=0)
    log.append([(1, "0 s", 20, "info", "node", "old")])
    log.clear_lines()
    log.append([(2, "1 s", 20, "info", "node", "new")])
    assert [line[-1] for line in page.feed._changes[log.id]["append"]] == ["new"]
    assert [line[-1] for line in log.snapshot()["lines"]] == ["new"]
