"""The history of a state machine."""

from dataclasses import replace

from mujoco_ros.viewer.clients import ControllerInfo, TransitionInfo
from mujoco_ros.viewer.state_history import recent_periods, state_periods

CONTROLLER = ControllerInfo(
    name="/walker",
    state="error",
    reason="no leg is left",
    events=(
        (2.0, TransitionInfo("go", "idle", "walk")),
        (5.0, TransitionInfo("slip", "walk", "error", "no leg is left")),
    ),
)


def test_each_state_has_its_times_and_what_led_to_it():
    idle, walk, error = state_periods(CONTROLLER)
    assert (idle.state, idle.begin, idle.end, idle.duration(9.0)) == ("idle", None, 2.0, None)
    assert (walk.state, walk.label, walk.duration(9.0)) == ("walk", "go", 3.0)
    assert (error.label, error.reason, error.duration(9.0)) == ("slip", "no leg is left", 4.0)
    assert [each.is_present for each in (idle, walk, error)] == [False, False, True]


def test_without_events_there_is_the_present_state_alone():
    (period,) = state_periods(replace(CONTROLLER, events=()))
    assert (period.state, period.begin, period.duration(9.0)) == ("error", None, None)
    assert state_periods(ControllerInfo(name="/new")) == ()


def test_a_state_in_which_the_time_was_set_back_has_no_duration():
    again = (1.0, TransitionInfo("reset", "error", "idle"))
    controller = replace(CONTROLLER, state="idle", events=(*CONTROLLER.events, again))
    *_, error, idle = state_periods(controller)
    assert error.duration(3.0) is None
    assert idle.duration(3.0) == 2.0
    assert [each.state for each in recent_periods(controller, 0.0, 3.0)] == ["idle"]


def test_only_states_within_a_span_are_recent():
    names = [each.state for each in recent_periods(CONTROLLER, 3.0, 9.0)]
    assert names == ["walk", "error"]
    assert [each.state for each in recent_periods(CONTROLLER, 0.0, 1.0)] == ["idle"]
