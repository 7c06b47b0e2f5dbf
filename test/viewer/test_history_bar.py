"""The bar that shows past states."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from mujoco.studio.dear_imgui import dear_imgui as imgui
from still_state import StillState

from mujoco_ros.sim.shared_memory.past_states import PastStates
from mujoco_ros.viewer.history_bar import HistoryBar

SCENE = (100.0, 30.0, 640.0, 400.0)


@pytest.fixture(scope="module")
def still() -> StillState:
    return StillState("arm")


@pytest.fixture
def state(still) -> StillState:
    """The time is 2 s, and states of the last second are known."""
    past = PastStates(np.zeros((50, 1)), memoryview(np.zeros(1, np.int64)))
    for time in np.arange(1.0, 2.05, 0.1):
        past.add(memoryview(np.array([time])).cast("B"))
    still.past, still.shown, still.time = past, None, 2.0
    return still


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def bar(state, clients) -> HistoryBar:
    return HistoryBar(state, clients, mujoco.MjvCamera)


@pytest.fixture
def press(bar, monkeypatch):
    """Press a key."""

    def pressed(key: int, *, typing: bool = False) -> bool:
        monkeypatch.setattr(imgui, "GetIO", lambda: SimpleNamespace(WantCaptureKeyboard=typing))
        for name in ("IsKeyChordPressed", "IsKeyPressed"):
            monkeypatch.setattr(imgui, name, lambda other: int(other) == int(key))
        handled = bar.handle_keys()
        monkeypatch.undo()
        return handled

    return pressed


@pytest.fixture
def build(context, bar, monkeypatch):
    """Build two frames in which widgets are used; return what is seen in the last one."""

    def built(*used: str, moved_to: float | None = None) -> list[str]:
        seen: list[str] = []
        pressed = set(used)
        disabled: list[bool] = []
        begin, end = imgui.BeginDisabled, imgui.EndDisabled

        def button(label: str, *_: object) -> bool:
            seen.append(label)
            is_pressed = label in pressed and not any(disabled)
            pressed.discard(label)
            return is_pressed

        def slider(_label: str, value: float, low: float, high: float, text: str):
            seen.append(text)
            assert low <= value <= high
            return (moved_to is not None, value if moved_to is None else moved_to)

        monkeypatch.setattr(imgui, "Button", button)
        monkeypatch.setattr(
            imgui, "BeginDisabled", lambda is_on: (disabled.append(is_on), begin(is_on))
        )
        monkeypatch.setattr(imgui, "EndDisabled", lambda: (disabled.pop(), end()))
        monkeypatch.setattr(imgui, "SliderFloat", slider)
        for _ in range(2):
            seen.clear()
            imgui.NewFrame()
            bar.update()
            bar.build(SCENE)
            imgui.EndFrame()
        monkeypatch.undo()
        return seen

    return built


def test_the_arrow_keys_step_through_the_states_and_escape_returns(press, state, bar):
    assert not press(imgui.Key.Escape), "Escape has its other meanings in the present"
    assert not press(imgui.Key.RightArrow)
    assert press(imgui.Key.LeftArrow)
    assert press(imgui.Key.LeftArrow)
    assert state.shown.time == pytest.approx(1.9)
    assert bar.age == pytest.approx(0.1)
    assert press(imgui.Key.RightArrow)
    assert state.shown.time == pytest.approx(2.0)
    assert press(imgui.Key.RightArrow)
    assert state.shown is None
    assert press(imgui.Key.LeftArrow)
    assert press(imgui.Key.Escape)
    assert state.shown is None
    assert not press(imgui.Key.LeftArrow, typing=True)
    for _ in range(30):
        press(imgui.Key.LeftArrow)
    assert state.shown.time == pytest.approx(1.0), "the oldest"


def test_the_slider_shows_a_past_state_with_its_age(build, state):
    assert build() == ["Live", "live", "Save"]
    assert build(moved_to=-0.45) == ["Live", "0.50 s ago", "Save", "Continue from here"]
    assert state.shown.time == pytest.approx(1.5)
    state.time = 3.0
    assert "1.50 s ago" in build()
    assert build(moved_to=0.0) == ["Live", "live", "Save"]


def test_the_simulation_returns_to_the_shown_state_and_the_page_to_the_present(
    build, state, clients
):
    state.show(1.5)
    build("Continue from here")
    assert clients.called("load_past") == [(pytest.approx(1.5),)], "once"
    assert state.shown is not None, "until the simulation has returned"
    clients.requests[-1].complete(True)
    assert "live" in build()
    assert state.shown is None


def test_a_failed_return_leaves_the_past_state_in_sight(build, state, clients):
    state.show(1.5)
    build("Continue from here")
    clients.requests[-1].fail("no")
    build()
    assert state.shown is not None


def test_a_state_that_is_not_kept_any_more_cannot_be_returned_to(build, state, clients):
    state.show(1.0)
    for time in np.arange(2.1, 7.05, 0.1):
        state.past.add(memoryview(np.array([time])).cast("B"))
    state.time = 7.0
    assert state.past.find(state.shown.time) is not None, "another one"
    build("Continue from here")
    assert not clients.called("load_past")
    assert state.shown.time == pytest.approx(1.0), "it stays in sight"
    state.show(6.0)
    build("Continue from here")
    assert clients.called("load_past") == [(pytest.approx(6.0),)]


def test_a_reset_returns_to_the_present(build, state):
    state.show(1.5)
    state.time = 0.1
    build()
    assert state.shown is None


def test_there_is_no_bar_without_past_states(build, state):
    state.past = PastStates(np.zeros((50, 1)), memoryview(np.zeros(1, np.int64)))
    assert build() == []
