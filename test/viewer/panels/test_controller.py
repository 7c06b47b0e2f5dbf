"""The panel "Controller", and its picture of a state machine."""

import math

import pytest

from mujoco_ros.viewer.link import ControllerInfo, Edge, Happened
from mujoco_ros.viewer.panels.controller import ControllerPanel
from mujoco_ros.viewer.panels.state_graph import Point, arrow, on_ellipse

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


def test_boxes_are_on_an_ellipse_from_the_top_on():
    top, right, bottom, left = on_ellipse(4, Point(100.0, 50.0), 80.0, 40.0)
    assert top == pytest.approx((100.0, 30.0))
    assert right == pytest.approx((140.0, 50.0))
    assert bottom == pytest.approx((100.0, 70.0))
    assert left == pytest.approx((60.0, 50.0))


def test_an_arrow_goes_from_rim_to_rim_and_beside_the_one_back():
    size = Point(20.0, 10.0)
    there = arrow(Point(0.0, 0.0), size, Point(100.0, 0.0), size)
    back = arrow(Point(100.0, 0.0), size, Point(0.0, 0.0), size)
    assert there.tail.x == 10.0
    assert there.head.x == 90.0
    assert there.tail.y == -back.tail.y != 0.0
    assert math.hypot(*there.along) == 1.0
    assert arrow(Point(0.0, 0.0), size, Point(0.0, 0.0), size) is None
