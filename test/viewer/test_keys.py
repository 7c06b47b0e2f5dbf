"""Keys that control the simulation."""

from types import SimpleNamespace

import pytest
from fake_clients import FakeClients
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.clients import PAUSED, PLAYING
from mujoco_ros.viewer.keys import handle_keys


@pytest.fixture
def press(monkeypatch):
    """Press a key in a run state; return the calls of clients."""

    def pressed(key, *, paused=False, factor=1.0, typing=False):
        clients = FakeClients()
        clients.simulation.status = PLAYING if paused else PAUSED  # not up to date
        monkeypatch.setattr(imgui, "GetIO", lambda: SimpleNamespace(WantCaptureKeyboard=typing))
        monkeypatch.setattr(imgui, "IsKeyChordPressed", lambda other: other == key)
        handle_keys(None, clients.simulation, SimpleNamespace(paused=paused, factor=factor))
        return clients.calls

    return pressed


def test_space_and_the_arrow_depend_on_the_shared_state_not_on_the_services(press):
    assert press(imgui.Key.Space, paused=False) == [("pause",)]
    assert press(imgui.Key.Space, paused=True) == [("play",)]
    assert press(imgui.Key.RightArrow, paused=True) == [("step", 1)]
    assert press(imgui.Key.RightArrow, paused=False) == []


def test_the_speed_is_halved_and_doubled_if_it_is_limited(press):
    assert press(imgui.Key.Minus, factor=0.5) == [("set_speed", 0.25)]
    assert press(imgui.Key.Equal, factor=0.5) == [("set_speed", 1.0)]
    assert press(imgui.Key.Equal, factor=0.0) == []


def test_backspace_resets_unless_a_text_field_takes_it(press):
    assert press(imgui.Key.Backspace) == [("reset", "time", "state")]
    assert press(imgui.Key.Backspace, typing=True) == []
