"""The panel "Log"."""

import pytest

from mujoco_ros.viewer.clients import LogLine
from mujoco_ros.viewer.panels.log import LogPanel


@pytest.fixture
def frames(show, clients):
    messages = [(10, "mujoco", "a detail"), (20, "mujoco", "ready"), (30, "walking", "Slipping")]
    clients.lines += [
        LogLine(number=number, time=0.5 * number, level=level, node=node, text=text)
        for number, (level, node, text) in enumerate(messages, 1)
    ]
    return show(LogPanel)


def texts(frames):
    return [line.text for line in frames.panel.shown]


def test_lines_are_shown_from_a_level_on(frames):
    assert texts(frames) == ["ready", "Slipping"]
    assert {"1.00 s", "info", "mujoco", "ready", "1.50 s", "warn", "walking"} <= set(frames.texts)
    frames.use("##level", entered=2)
    assert texts(frames) == ["Slipping"]
    frames.use("##level", entered=0)
    assert texts(frames) == ["a detail", "ready", "Slipping"]


@pytest.mark.parametrize(("text", "found"), [("slip", ["Slipping"]), ("MUJOCO", ["ready"])])
def test_lines_are_filtered_by_node_or_text_in_any_case(frames, text, found):
    frames.use("##word", entered=text)
    assert texts(frames) == found


def test_after_clearing_only_new_lines_are_shown(frames, clients):
    frames.use("Clear")
    assert texts(frames) == []
    clients.lines.append(LogLine(number=4, time=2.0, level=40, node="mujoco", text="fallen"))
    frames.build()
    assert texts(frames) == ["fallen"]


def test_only_the_visible_lines_of_a_long_log_are_built(frames, clients):
    clients.lines += [
        LogLine(number=10 + n, time=float(n), level=20, node="n", text=f"line {n}")
        for n in range(900)
    ]
    frames.build(4)
    written = [text for text in frames.texts if text.startswith("line")]
    assert 1 <= len(written) < 200
    assert written[-1] == "line 899"
