"""The panel "Controller", and its picture of a state machine."""

from dataclasses import replace
from itertools import pairwise

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer import docks
from mujoco_ros.viewer.link import ControllerInfo, Edge, Happened
from mujoco_ros.viewer.panels import state_graph
from mujoco_ros.viewer.panels.controller import ControllerPanel
from mujoco_ros.viewer.panels.state_graph import aside

WALKING = ControllerInfo(
    name="/walking_controller",
    state="idle",
    states=("idle", "standing", "walking"),
    edges=(
        Edge("stand", "idle", "standing"),
        Edge("walk", "standing", "walking"),
        Edge("stop", "walking", "standing"),
    ),
    available=("stand",),
    events=(Happened(3.25, "relax", "standing", "idle"),),
)


def test_it_is_said_if_there_is_no_controller(show):
    assert "No node offers a state machine" in show(ControllerPanel).text


def test_it_comes_to_the_front_with_the_first_controller(show, link, monkeypatch):
    led = []
    monkeypatch.setattr(docks, "lead", lambda place, title: led.append((place, title)))
    show(ControllerPanel)
    assert not led
    link.controllers[WALKING.name] = WALKING
    show(ControllerPanel)
    assert (docks.DockPlace.RIGHT_BELOW, "Controller") in led


def test_only_transitions_that_are_available_can_be_taken(show, link):
    link.controllers[WALKING.name] = WALKING
    frames = show(ControllerPanel)
    assert "/walking_controller is idle" in frames.texts
    assert not frames.seen["walk"]
    assert not frames.seen["stop"]
    frames.use("stand")
    assert link.called("change_state") == [("/walking_controller", "stand")]


def test_a_refusal_is_shown(show, link):
    link.controllers[WALKING.name] = WALKING
    frames = show(ControllerPanel)
    frames.use("stand")
    link.requests[-1].settle(False, "refused in state 'idle'")
    frames.build()
    assert "refused in state 'idle'" in frames.text


def test_the_last_events_are_shown(show, link):
    link.controllers[WALKING.name] = WALKING
    assert {"3.25 s", "relax", "standing", "idle"} <= set(show(ControllerPanel).texts)


def test_one_of_several_controllers_is_chosen(show, link):
    other = ControllerInfo(name="/another", state="off", available=("switch on",))
    link.controllers.update({WALKING.name: WALKING, other.name: other})
    frames = show(ControllerPanel)
    assert "/another is off" in frames.texts
    frames.use("##controller", entered=1)
    assert "/walking_controller is idle" in frames.texts
    del link.controllers[WALKING.name]
    frames.build()
    assert "/another is off" in frames.texts


def test_a_controller_of_which_nothing_is_known_yet_is_shown_as_such(show, link):
    link.controllers["/new"] = ControllerInfo(name="/new")
    assert "/new is in an unknown state" in show(ControllerPanel).texts


LONG = tuple(f"S{number}" for number in range(12))
FAILING = ControllerInfo(
    name="/long",
    state="S0",
    states=(*LONG, "RECOVER"),
    edges=(
        *(Edge("done", start, goal) for start, goal in pairwise(LONG)),
        *(Edge("slip", start, "RECOVER") for start in LONG),
        Edge("retry", "RECOVER", "S0"),
        Edge("lost", "S3", "nowhere"),
    ),
    available=("done",),
)


def test_states_to_which_most_others_lead_or_none_are_drawn_aside():
    assert aside(FAILING.states, [(edge.start, edge.goal) for edge in FAILING.edges]) == {"RECOVER"}
    assert aside(("A", "B", "error"), [("A", "B")]) == {"error"}
    assert aside(("A", "B"), []) == set()


def test_a_picture_that_is_too_long_scrolls_to_the_present_state_and_can_be_scrolled_on(
    show, link, monkeypatch
):
    scrolled = []
    monkeypatch.setattr(imgui, "SetScrollY", scrolled.append)
    link.controllers["/long"] = FAILING
    frames = show(ControllerPanel)
    assert scrolled == [0.0]
    frames.build(3)
    assert scrolled == [0.0]
    link.controllers["/long"] = replace(FAILING, state="S11")
    frames.build(3)
    assert len(scrolled) == 2
    assert scrolled[1] > 200.0


def test_what_can_be_taken_is_drawn_lit(show, link, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        state_graph,
        "_draw_arrow",
        lambda route, _, colour, thick: drawn.append((route.link, thick)),
    )
    link.controllers["/long"] = FAILING
    show(ControllerPanel)
    lit = {(link.start, link.goal) for link, thick in drawn if thick > 1.0}
    assert lit == {("S0", "S1")}
