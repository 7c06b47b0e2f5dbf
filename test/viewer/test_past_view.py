"""Which state is shown."""

import numpy as np
import pytest
from fake_clients import FakeClients
from past_times import past_states
from still_state import StillState, no_past

from mujoco_ros.viewer.past_view import PastView


@pytest.fixture(scope="module")
def still() -> StillState:
    return StillState("arm")


@pytest.fixture
def state(still) -> StillState:
    """The time is 2 s, and states of the last second are known."""
    still.past, still.shown, still.time = past_states(*np.arange(1.0, 2.05, 0.1)), None, 2.0
    return still


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def view(state, clients) -> PastView:
    return PastView(state, clients.simulation)


def test_steps_go_through_the_states_to_the_oldest_and_back_to_the_present(view, state):
    view.step(-1)
    view.step(-1)
    assert state.shown.time == pytest.approx(1.9)
    assert view.age == pytest.approx(0.1)
    view.step(1)
    view.step(1)
    assert state.shown is None
    view.step(-30)
    assert state.shown.time == pytest.approx(1.0)


def test_a_time_shows_its_state_or_says_which_are_kept(view, state):
    assert view.span == (1.0, 2.0)
    assert view.show(1.55) == ""
    assert state.shown.time == pytest.approx(1.5)
    state.time = 3.0
    assert view.age == pytest.approx(1.5)
    assert view.show(0.5) == ("The state of 0.500 s is not kept; those of 1.000 s to 3.000 s are.")
    assert state.shown.time == pytest.approx(1.5), "nothing changes"
    assert view.show(7.0) == ""
    assert state.shown is None, "the present is the last one"
    state.past = no_past()
    assert view.span is None
    assert "history_length" in view.show(1.0)


def test_the_simulation_returns_to_the_shown_state_and_the_page_to_the_present(
    view, state, clients
):
    view.continue_from()
    view.show(1.5)
    assert view.obstacle == ""
    view.continue_from()
    view.continue_from()
    assert not clients.called("load_past"), "the present state is saved first"
    clients.requests[-1].complete(True)
    view.update()
    view.continue_from()
    assert clients.called("load_past") == [(pytest.approx(1.5),)], "once"
    view.update()
    assert state.shown is not None, "until the simulation has returned"
    clients.requests[-1].complete(True)
    view.update()
    assert state.shown is None
    state.time = 1.5
    assert view.undo_time == 2.0
    view.undo()
    assert clients.called("load_keyframe") == clients.called("save_keyframe")
    assert view.undo_time is None, "once"


def test_a_state_that_is_shown_after_the_press_is_not_returned_to(view, clients):
    view.show(1.5)
    view.continue_from()
    view.show(1.2)
    clients.requests[-1].complete(True)
    view.update()
    assert clients.called("load_past") == [(pytest.approx(1.5),)]


@pytest.mark.parametrize("change", [{"time": 40.0}, {"time": 1.0}, {"model": None}])
def test_a_return_cannot_be_undone_long_after_it_or_after_a_reset_or_in_another_world(
    view, state, clients, monkeypatch, change
):
    view.show(1.5)
    view.continue_from()
    for _ in range(2):
        clients.requests[-1].complete(True)
        view.update()
    for name, value in {"time": 1.6, **change}.items():
        monkeypatch.setattr(state, name, value)
    assert view.undo_time is None
    view.undo()
    assert not clients.called("load_keyframe")


def test_a_return_without_a_saved_state_cannot_be_undone(view, state, clients):
    view.show(1.5)
    view.continue_from()
    clients.requests[-1].fail("at most 100 keyframes")
    view.update()
    assert clients.called("load_past")
    state.time = 1.6
    assert view.undo_time is None


def test_a_failed_return_leaves_the_past_state_in_sight(view, state, clients):
    view.show(1.5)
    view.continue_from()
    clients.requests[-1].complete(True)
    view.update()
    clients.requests[-1].fail("no")
    view.update()
    assert state.shown is not None
    assert view.obstacle == ""


def test_a_state_that_is_not_kept_any_more_cannot_be_returned_to(view, state, clients):
    view.show(1.0)
    state.past, state.time = past_states(*np.arange(2.1, 7.05, 0.1)), 7.0
    assert "does not keep" in view.obstacle
    view.continue_from()
    assert not clients.called("load_past")
    assert state.shown.time == pytest.approx(1.0), "it stays in sight"


def test_a_reset_returns_to_the_present(view, state):
    view.show(1.5)
    state.time = 0.1
    view.update()
    assert state.shown is None
