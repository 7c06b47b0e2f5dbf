"""The panel "Controller" and its graph of a state machine."""

from dataclasses import replace
from itertools import pairwise

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import ControllerInfo, TransitionInfo
from mujoco_ros.viewer.docks import DOCKS, DockArea
from mujoco_ros.viewer.panels import controller
from mujoco_ros.viewer.panels.controller import ControllerPanel

WALKING = ControllerInfo(
    name="/walking_controller",
    state="idle",
    states=("idle", "standing", "walking"),
    transitions=(
        TransitionInfo("stand", "idle", "standing"),
        TransitionInfo("walk", "standing", "walking"),
        TransitionInfo("stop", "walking", "standing"),
    ),
    available=("stand",),
    events=((3.25, TransitionInfo("relax", "standing", "idle")),),
)


def test_it_appears_and_disappears_with_the_controllers(show, clients):
    frames = show(ControllerPanel)
    assert not list(frames.panel.windows())
    clients.controllers.known[WALKING.name] = WALKING
    assert [title for title, _ in frames.panel.windows()] == ["Controller"]
    frames.build()
    assert "/walking_controller is idle" in frames.texts
    clients.controllers.known.clear()
    frames.build()
    assert not frames.texts


def test_it_comes_to_the_front_with_the_first_controller(show, clients, monkeypatch):
    preferred = []
    monkeypatch.setattr(DOCKS, "prefer_tab", lambda area, title: preferred.append((area, title)))
    show(ControllerPanel)
    assert not preferred
    clients.controllers.known[WALKING.name] = WALKING
    show(ControllerPanel)
    assert (DockArea.RIGHT_BELOW, "Controller") in preferred


def test_only_transitions_that_are_available_can_be_taken(show, clients):
    clients.controllers.known[WALKING.name] = WALKING
    frames = show(ControllerPanel)
    assert "/walking_controller is idle" in frames.texts
    assert not {"walk", "stop"} & frames.seen.keys()
    assert "walk, stop" not in frames.texts
    frames.use("2 not available now###others")
    assert "walk, stop" in frames.texts
    frames.use("stand")
    assert clients.called("change_state") == [("/walking_controller", "stand")]


def test_an_error_is_shown_with_its_reason_and_not_in_green(show, clients, monkeypatch):
    fills = []
    draw_box = controller._draw_box

    def drawn(state, place, origin, active):
        fills.append((state, active))
        draw_box(state, place, origin, active)

    monkeypatch.setattr(controller, "_draw_box", drawn)
    names = ("idle", "standing", "walking", "error")
    stopped = replace(WALKING, states=names, state="error", reason="no leg\nis left")
    clients.controllers.known[WALKING.name] = stopped
    frames = show(ControllerPanel)
    assert {"/walking_controller is error", "no leg\nis left"} <= set(frames.texts)
    assert dict(fills)["error"] == style.BAD
    clients.controllers.known[WALKING.name] = replace(stopped, state="idle", reason="")
    frames.build()
    assert dict(fills)["idle"] == style.GOOD


def test_a_refusal_is_shown(show, clients):
    clients.controllers.known[WALKING.name] = WALKING
    frames = show(ControllerPanel)
    frames.use("stand")
    clients.requests[-1].complete(False, "refused in state 'idle'")
    frames.build()
    assert "refused in state 'idle'" in frames.text


def test_the_last_events_are_shown(show, clients):
    clients.controllers.known[WALKING.name] = WALKING
    assert {"3.25 s", "relax", "standing", "idle"} <= set(show(ControllerPanel).texts)


def test_one_of_several_controllers_is_chosen(show, clients):
    other = ControllerInfo(name="/another", state="off", available=("switch on",))
    clients.controllers.known.update({WALKING.name: WALKING, other.name: other})
    frames = show(ControllerPanel)
    assert "/another is off" in frames.texts
    frames.use("##controller", entered=1)
    assert "/walking_controller is idle" in frames.texts
    del clients.controllers.known[WALKING.name]
    frames.build()
    assert "/another is off" in frames.texts


def test_a_controller_without_responses_is_shown_in_an_unknown_state(show, clients):
    clients.controllers.known["/new"] = ControllerInfo(name="/new")
    assert "/new is in an unknown state" in show(ControllerPanel).texts


LONG = tuple(f"S{number}" for number in range(12))
FAILING = ControllerInfo(
    name="/long",
    state="S0",
    states=(*LONG, "RECOVER"),
    transitions=(
        *(TransitionInfo("done", start, goal) for start, goal in pairwise(LONG)),
        *(TransitionInfo("slip", start, "RECOVER") for start in LONG),
        TransitionInfo("retry", "RECOVER", "S0"),
        TransitionInfo("lost", "S3", "missing"),
    ),
    available=("done",),
)


def test_a_high_graph_scrolls_to_the_active_state_once(show, clients, monkeypatch):
    scrolled = []
    monkeypatch.setattr(imgui, "SetScrollY", scrolled.append)
    clients.controllers.known["/long"] = FAILING
    frames = show(ControllerPanel)
    assert scrolled == [0.0]
    frames.build(3)
    assert scrolled == [0.0]
    clients.controllers.known["/long"] = replace(FAILING, state="S11")
    frames.build(3)
    assert len(scrolled) == 2
    assert scrolled[1] > 200.0


def test_available_transitions_are_highlighted(show, clients, monkeypatch):
    pytest.importorskip("pygraphviz")  # a list of states has no arrows
    drawn = []
    monkeypatch.setattr(
        controller,
        "_draw_arrow",
        lambda route, _, colour, thick: drawn.append((route.link, thick)),
    )
    clients.controllers.known["/long"] = FAILING
    show(ControllerPanel)
    highlighted = {(arrow.start, arrow.goal) for arrow, thick in drawn if thick > 1.0}
    assert highlighted == {("S0", "S1")}
