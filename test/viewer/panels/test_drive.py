"""The panel "Drive"."""

from types import SimpleNamespace

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.panels.drive import DrivePanel, deflection
from mujoco_ros.viewer.web.page import PanelsHidden

TOPIC = "/cmd_vel"


@pytest.fixture
def frames(show, clients):
    clients.velocities.topics = (TOPIC,)
    return show(DrivePanel)


@pytest.fixture
def held(monkeypatch):
    """A set of the widgets that the mouse holds; it is half a radius above the middle."""
    widgets, last = set(), [""]
    button, slider = imgui.InvisibleButton, imgui.SliderFloat

    def press(label, size):
        last[0] = label
        corner = imgui.GetCursorScreenPos()
        middle = SimpleNamespace(x=corner.x + 60.0, y=corner.y + 60.0 - 30.0)
        monkeypatch.setattr(imgui, "GetMousePos", lambda: middle)
        return button(label, size)

    def slide(label, *arguments):
        last[0] = label
        return slider(label, *arguments)

    monkeypatch.setattr(imgui, "InvisibleButton", press)
    monkeypatch.setattr(imgui, "SliderFloat", slide)
    monkeypatch.setattr(imgui, "IsItemActive", lambda: last[0] in widgets)
    return widgets


def test_the_deflection_is_forwards_and_to_the_left_and_at_most_one():
    assert deflection(0.0, -30.0, 60.0) == (0.5, 0.0)
    assert deflection(-60.0, 0.0, 60.0) == (0.0, 1.0)
    ahead, left = deflection(300.0, 400.0, 60.0)
    assert (ahead, left) == pytest.approx((-0.8, -0.6))


def test_a_held_pad_drives_and_a_released_one_stops(frames, clients, held):
    assert clients.called("drive") == []
    held.add("pad")
    frames.build(2)
    (topic, linear, angular), *_ = clients.called("drive")
    assert (topic, angular) == (TOPIC, (0.0, 0.0, 0.0))
    assert linear == pytest.approx((0.15, 0.0, 0.0))
    assert clients.called("stop") == []
    held.clear()
    frames.build(3)
    assert clients.called("stop") == [(TOPIC,)], "once"


def test_a_robot_that_goes_and_a_page_that_is_hidden_stop(frames, clients, held):
    held.add("pad")
    frames.build()
    frames.panel.on_panels_hidden(PanelsHidden())
    assert len(clients.called("stop")) == 1
    frames.build()
    clients.velocities.topics = ()
    frames.build()
    assert len(clients.called("stop")) == 2


def test_the_slider_turns_and_returns_to_the_middle(frames, clients, held):
    held.add("##turn")
    frames.use("##turn", entered=0.5)
    assert clients.called("drive")[-1] == (TOPIC, (0.0, 0.0, 0.0), (0.0, 0.0, 0.5 * 0.35))
    held.clear()
    frames.build()
    assert frames.panel._turn == 0.0


def test_the_last_motion_has_the_command_that_does_the_same(frames, clients, held, monkeypatch):
    request = Request("drive /cmd_vel", ok=True, message="published", command="ros2 topic pub")
    monkeypatch.setattr(clients.velocities, "command", lambda *_: request)
    held.add("pad")
    frames.build()
    held.clear()
    frames.build()
    assert {"drive /cmd_vel: published", "ros2 topic pub"} <= set(frames.texts)
    assert frames.seen["Copy"]


def test_the_largest_velocities_are_kept(frames):
    frames.use("forwards [m/s]", entered=0.5)
    kept = frames.panel.settings()
    assert kept == {"fastest": {"forwards": 0.5, "left": 0.1, "turn": 0.35}}
    frames.panel.fastest["forwards"] = 0.1
    frames.panel.restore({"fastest": {"forwards": 0.5, "left": -1.0, "turn": "fast"}})
    assert frames.panel.fastest == {"forwards": 0.5, "left": 0.1, "turn": 0.35}
    frames.panel.restore({"fastest": None})
