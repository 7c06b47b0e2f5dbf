"""Keys that run the simulation."""

from types import SimpleNamespace

import pytest
from fake_link import FakeLink
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.keys import handle_keys
from mujoco_ros.viewer.link import ViewerRunState


@pytest.fixture
def press(monkeypatch):
    """Press a key while the simulation does something; return what was asked for."""

    def pressed(key, *, paused=False, factor=1.0, typing=False):
        link = FakeLink(
            run_state=ViewerRunState.PLAYING if paused else ViewerRunState.PAUSED
        )  # as it was
        monkeypatch.setattr(imgui, "GetIO", lambda: SimpleNamespace(WantCaptureKeyboard=typing))
        monkeypatch.setattr(imgui, "IsKeyChordPressed", lambda other: other == key)
        handle_keys(None, link, SimpleNamespace(paused=paused, factor=factor))
        return link.calls

    return pressed


def test_space_and_the_arrow_go_by_what_the_simulation_does_now_not_by_what_it_last_told(press):
    assert press(imgui.Key.Space, paused=False) == [("pause",)]
    assert press(imgui.Key.Space, paused=True) == [("play",)]
    assert press(imgui.Key.RightArrow, paused=True) == [("step", 1)]
    assert press(imgui.Key.RightArrow, paused=False) == []


def test_half_and_double_speed_are_those_of_the_present_one_if_it_has_one(press):
    assert press(imgui.Key.Minus, factor=0.5) == [("set_speed", 0.25)]
    assert press(imgui.Key.Equal, factor=0.5) == [("set_speed", 1.0)]
    assert press(imgui.Key.Equal, factor=0.0) == []


def test_backspace_resets_and_what_is_typed_into_a_field_does_nothing(press):
    assert press(imgui.Key.Backspace) == [("reset", "time", "state")]
    assert press(imgui.Key.Backspace, typing=True) == []
