"""Keys, mouse buttons, and the window with them."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_clients import FakeClients
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.clients import PAUSED, PLAYING
from mujoco_ros.viewer.keys import KEYS, KeyHelp, handle_keys


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


DOCS = Path(__file__).resolve().parents[2] / "docs/how-to/use_the_viewer.md"
QUESTION_MARK = int(imgui.Key.Slash) | int(imgui.Key.Shift)


@pytest.fixture
def press_in_window(monkeypatch):
    """Press a key."""

    def pressed(key_help: KeyHelp, key: int, *, typing: bool = False) -> bool:
        monkeypatch.setattr(imgui, "GetIO", lambda: SimpleNamespace(WantCaptureKeyboard=typing))
        for name in ("IsKeyChordPressed", "IsKeyPressed"):
            monkeypatch.setattr(imgui, name, lambda other: int(other) == int(key))
        handled = key_help.handle_keys()
        monkeypatch.undo()
        return handled

    return pressed


@pytest.mark.parametrize("key", [QUESTION_MARK, imgui.Key.F1])
def test_a_key_opens_and_closes_the_help_and_escape_closes_it(press_in_window, key):
    key_help = KeyHelp()
    assert press_in_window(key_help, key)
    assert key_help.is_open
    assert press_in_window(key_help, imgui.Key.Escape)
    assert not key_help.is_open
    assert not press_in_window(key_help, imgui.Key.Escape), (
        "Escape has its other meanings while it is closed"
    )
    assert press_in_window(key_help, key)
    assert press_in_window(key_help, key)
    assert not key_help.is_open


def test_a_text_field_takes_the_keys(press_in_window):
    key_help = KeyHelp()
    assert not press_in_window(key_help, QUESTION_MARK, typing=True)
    assert not key_help.is_open


def test_the_window_has_all_keys_while_it_is_open(context, monkeypatch):
    texts: list[str] = []
    monkeypatch.setattr(imgui, "TextUnformatted", texts.append)
    key_help = KeyHelp()
    for is_open in (False, True):
        key_help.is_open = is_open
        for _ in range(2):
            texts.clear()
            imgui.NewFrame()
            key_help.build()
            imgui.EndFrame()
        assert bool(texts) == is_open
    assert texts == [text for row in KEYS for text in row]
    assert key_help.is_open


def test_the_keys_are_those_of_the_documentation():
    section = DOCS.read_text().partition("## Mouse and keys")[2].partition("A pull is")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    documented = [tuple(re.sub("`", "", cell) for cell in row) for row in rows[2:]]
    shown = [(purpose, keys.replace("Right arrow", "→")) for purpose, keys in KEYS]
    assert documented == shown
