"""Opening and closing a gripper, and detection of objects."""

import re

import numpy as np
import pytest
from commanded_robot import CommandedRobot, some_joints
from hypothesis import given
from hypothesis import strategies as st

from mujoco_ros.control.events import CommandError, GoalEnded, GoalProgress, GoalStarted, Outcome
from mujoco_ros.control.gripper import GripperCommand, gripper_command
from mujoco_ros.control.joints import Clamped
from mujoco_ros.control.settings import GripperSettings

JOINTS = some_joints(("arm", "finger"), limits={"finger": (0.0, 0.08)}, gripper="finger")
FINGER = 1


class Gripping(CommandedRobot):
    """A gripper whose finger follows its reference, but not below the width of an object."""

    def __init__(self, *, width: float = -1.0, **settings) -> None:
        super().__init__(JOINTS, q=[0.0, 0.05])
        self.width = width
        self._before = 0.05
        self.measure = self._measure
        self.control.gripper.settings = GripperSettings(**settings)

    def _measure(self, _time: float) -> np.ndarray:
        q = max(self.references.q[FINGER], self.width)
        dq, self._before = (q - self._before) / self.timestep, q
        self.control.effort[FINGER] = 100.0 * (self.references.q[FINGER] - q)
        return np.array([[0.0, q], [0.0, dq]])

    def grip(self, position: float, goal="g", **limits: float) -> None:
        self.control.command_gripper(
            GripperCommand(position=position, goal=goal, **limits), self.time
        )

    def fingers(self, seconds: float) -> np.ndarray:
        """Take steps and return the finger's references."""
        return self.run(seconds)[:, 0, FINGER]

    def end(self) -> GoalEnded:
        """The only goal that ended."""
        (event,) = self.events_of(GoalEnded)
        return event


def test_the_reference_moves_to_the_goal_at_the_commanded_speed():
    gripper = Gripping(max_velocity=0.2)
    gripper.grip(0.03)
    slow = gripper.fingers(0.2)
    np.testing.assert_allclose(slow[:100], 0.05 - 0.2e-3 * np.arange(1, 101), atol=1e-12)
    assert slow[100] == 0.03
    assert set(slow[100:]) == {0.03}
    gripper.grip(0.04, velocity=0.1)
    np.testing.assert_allclose(np.diff(gripper.fingers(0.09)), 1e-4, atol=1e-12)


def test_without_a_speed_limit_the_reference_is_at_the_goal_at_once():
    gripper = Gripping(max_velocity=0.0)
    gripper.grip(0.03)
    assert gripper.fingers(0.001)[0] == 0.03


def test_a_goal_within_reach_succeeds_when_the_finger_is_there():
    gripper = Gripping(goal_tolerance=0.001)
    gripper.grip(0.03)
    gripper.run(0.18)
    assert not gripper.events_of(GoalEnded)
    gripper.run(0.03)
    event = gripper.end()
    assert (event.goal, event.outcome, event.message) == ("g", Outcome.SUCCESSFUL, "goal reached")
    assert event.position == pytest.approx(0.031, abs=2e-4)
    assert not event.stalled
    assert gripper.fingers(0.1)[-1] == 0.03, "the reference reaches the goal"
    assert not gripper.control.active


@pytest.mark.parametrize(
    ("allow", "outcome"), [(False, Outcome.INVALID_GOAL), (True, Outcome.SUCCESSFUL)]
)
def test_an_object_stalls_the_gripper_which_may_be_a_success(allow, outcome):
    gripper = Gripping(width=0.04, allow_stalling=allow, stall_timeout=0.3)
    gripper.grip(0.0)
    rows = gripper.fingers(0.1 + 0.29)
    assert not gripper.events_of(GoalEnded), "0.1 s to get there, then the time-out"
    gripper.run(0.02)
    event = gripper.end()
    assert (event.outcome, event.message, event.stalled) == (outcome, "stalled", True)
    assert event.position == 0.04
    assert event.effort == pytest.approx(100.0 * (rows[-1] - 0.04), abs=0.1)
    assert gripper.fingers(1.0)[-1] == 0.0, "the gripper still presses"


def test_a_finger_that_chatters_in_a_stiff_contact_has_stalled():
    gripper = Gripping(width=0.04, stall_timeout=0.3)
    quiet = gripper.measure

    def chattering(time: float) -> np.ndarray:
        measured = quiet(time)
        measured[1, FINGER] += 0.01 if round(time / gripper.timestep) % 2 else -0.01
        measured[0, FINGER] += measured[1, FINGER] * gripper.timestep
        return measured

    gripper.measure = chattering
    gripper.grip(0.0)
    gripper.run(0.1 + 0.35)
    assert gripper.end().stalled


def test_a_finger_that_creeps_and_jitters_in_a_grip_has_stalled():
    gripper = Gripping(width=0.04, stall_timeout=1.0, stall_velocity_threshold=0.002)
    quiet = gripper.measure

    def jittering(time: float) -> np.ndarray:
        measured = quiet(time)
        measured[0, FINGER] += 0.003 * np.sin(2 * np.pi * 100.0 * time) - 0.001 * time
        return measured

    gripper.measure = jittering
    gripper.grip(0.0)
    gripper.run(0.1 + 1.1)
    assert gripper.end().stalled


def test_a_slow_goal_is_no_stall():
    gripper = Gripping(stall_timeout=0.3, stall_velocity_threshold=0.01)
    gripper.grip(0.03, velocity=0.005)
    gripper.run(4.1)
    assert (gripper.end().stalled, gripper.end().message) == (False, "goal reached")


@pytest.mark.parametrize(
    ("limits", "speed"), [((0.0, 0.04), 0.001), ((0.0, 0.8), 0.02), ((-np.inf, np.inf), 0.001)]
)
def test_the_speed_at_rest_grows_with_the_range_of_the_gripper(limits, speed):
    joints = some_joints(("finger",), limits={"finger": limits}, gripper="finger")
    assert joints.gripper_speed_at_rest == pytest.approx(speed)
    gripper = CommandedRobot(joints, q=[0.0]).control.gripper
    assert gripper.settings.stall_velocity_threshold == joints.gripper_speed_at_rest


def test_a_finger_that_moves_again_has_not_stalled():
    gripper = Gripping(width=0.04, stall_timeout=0.3)
    gripper.grip(0.0)
    gripper.run(0.35)
    gripper.width = 0.035
    gripper.run(0.29)
    assert not gripper.events_of(GoalEnded)
    gripper.run(0.02)
    assert gripper.end().position == 0.035


def test_effort_is_limited_by_the_command_or_the_settings_until_preemption():
    gripper = Gripping(max_effort=5.0)
    gripper.grip(0.01, effort=2.0)
    gripper.grip(0.02)
    assert gripper.effort_limits == [(FINGER, 2.0), (FINGER, 5.0)]
    gripper.run(1.0)
    assert gripper.effort_limits[2:] == [], "what is gripped stays gripped"
    gripper.send(position={"finger": 0.03})
    assert gripper.effort_limits[2:] == [(FINGER, 0.0)]


def test_a_reset_restores_the_effort_limit_and_ends_the_goal():
    gripper = Gripping()
    gripper.grip(0.0, effort=2.0)
    gripper.run(0.1)
    gripper.control.reset()
    assert gripper.effort_limits[-1] == (FINGER, 0.0)
    assert gripper.end().message == "the simulation was reset"
    assert not gripper.control.active


def test_a_cancelled_gripper_holds_its_reference():
    gripper = Gripping()
    gripper.grip(0.0, effort=2.0)
    at = gripper.fingers(0.1)[-1]
    gripper.control.gripper.cancel("another")
    assert not gripper.events_of(GoalEnded)
    gripper.control.gripper.cancel("g")
    event = gripper.end()
    assert event.outcome is Outcome.CANCELED
    assert event.position == pytest.approx(at, abs=1e-3), "the result has the position"
    assert set(gripper.fingers(0.1)) == {at}
    assert gripper.effort_limits == [(FINGER, 2.0)]


def test_a_new_command_ends_the_previous_goal_and_continues_from_there():
    gripper = Gripping()
    gripper.grip(0.0)
    at = gripper.fingers(0.1)[-1]
    gripper.grip(0.06, "new")
    event = gripper.end()
    assert (event.goal, event.outcome) == ("g", Outcome.CANCELED)
    assert gripper.fingers(0.001)[0] == pytest.approx(at + 1e-4)
    gripper.run(1.0)
    assert gripper.events_of(GoalEnded)[-1].goal == "new"


def test_a_goal_that_ends_before_its_first_step_has_the_present_measurement():
    gripper = Gripping()
    gripper.grip(0.03)
    gripper.run(1.0)
    gripper.send(position={"finger": 0.06})
    gripper.run(0.1)
    gripper.control.effort[FINGER] = 7.0
    gripper.grip(0.03, "first")
    gripper.grip(0.02, "second")
    event = gripper.events_of(GoalEnded)[-1]
    assert (event.goal, event.effort) == ("first", 7.0)
    assert event.position == gripper.control.q[FINGER] == pytest.approx(0.06)


def test_a_goal_waits_without_a_stall_while_simulated_time_is_paused():
    gripper = Gripping(width=0.05, stall_timeout=0.1)
    gripper.grip(0.0)
    assert gripper.events == []
    gripper.index += 10_000
    gripper.run(0.1)
    assert [type(event) for event in gripper.events if not isinstance(event, GoalProgress)] == [
        GoalStarted
    ]


def test_feedback_has_the_position_of_the_finger():
    gripper = Gripping(width=0.04)
    gripper.grip(0.0)
    gripper.run(0.5)
    feedback = gripper.events_of(GoalProgress)
    assert 9 <= len(feedback) <= 11, "20 Hz"
    assert feedback[-1].actual[:, 0].tolist() == [0.04, 0.0]
    assert feedback[-1].desired[0, 0] == 0.0
    assert feedback[-1].effort < 0


def test_a_robot_without_a_gripper_rejects_gripper_commands():
    with pytest.raises(CommandError, match="the robot has no gripper"):
        gripper_command(some_joints("a"), "clamp", [], [0.0], [], [])


# --- validation of commands


def read(names=(), position=(0.05,), velocity=(), effort=(), *, out_of_limits="clamp"):
    fields = [list(field) for field in (names, position, velocity, effort)]
    return gripper_command(JOINTS, out_of_limits, *fields)


def test_speed_and_effort_are_optional():
    assert read() == GripperCommand(position=0.05)
    expected = GripperCommand(position=0.01, velocity=0.2, effort=7.0)
    assert read(["finger"], [0.01], [0.2], [7.0]) == expected


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ({"names": ["arm"]}, "the gripper's joint is 'finger', not 'arm'"),
        ({"names": ["finger", "arm"]}, "the gripper's joint is 'finger', not 'finger, arm'"),
        ({"position": []}, "a gripper command has 1 position, got 0"),
        ({"position": [0.1, 0.1]}, "a gripper command has 1 position, got 2"),
        ({"velocity": [1, 1]}, "a gripper command has at most 1 velocity, got 2"),
        ({"effort": [1, 1]}, "a gripper command has at most 1 effort, got 2"),
        ({"velocity": [-0.1]}, "the velocity limit must not be negative, got -0.1"),
        ({"effort": [-3]}, "the effort limit must not be negative, got -3"),
    ],
)
def test_an_invalid_gripper_command_is_refused(command, message):
    with pytest.raises(CommandError, match=re.escape(message)):
        read(**command)


@given(st.sampled_from(["position", "velocity", "effort"]), st.floats())
def test_values_out_of_range_are_refused(field, value):
    sensible = abs(value) <= 1e9 and (field == "position" or value >= 0)
    if sensible:
        assert 0.0 <= read(**{field: [value]}).position <= 0.08
    else:
        with pytest.raises(CommandError, match=field):
            read(**{field: [value]})


def test_a_position_beyond_the_limits_is_clamped_or_refused():
    text = "position 0.2 of joint 'finger' was clamped to its limits [0, 0.08]"
    assert read(position=[0.2]) == GripperCommand(position=0.08, clamped=Clamped(1, text))
    with pytest.raises(
        CommandError, match=r"position 0\.2 of joint 'finger' is outside its limits"
    ):
        read(position=[0.2], out_of_limits="refuse")
