"""The window with the keys and mouse buttons."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.keys import KEYS, KeyHelp

DOCS = Path(__file__).resolve().parents[2] / "docs/how-to/use_the_viewer.md"
QUESTION_MARK = int(imgui.Key.Slash) | int(imgui.Key.Shift)


@pytest.fixture
def press(monkeypatch):
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
def test_a_key_opens_and_closes_it_and_escape_closes_it(press, key):
    key_help = KeyHelp()
    assert press(key_help, key)
    assert key_help.is_open
    assert press(key_help, imgui.Key.Escape)
    assert not key_help.is_open
    assert not press(key_help, imgui.Key.Escape), "Escape has its other meanings while it is closed"
    assert press(key_help, key)
    assert press(key_help, key)
    assert not key_help.is_open


def test_a_text_field_takes_the_keys(press):
    key_help = KeyHelp()
    assert not press(key_help, QUESTION_MARK, typing=True)
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
