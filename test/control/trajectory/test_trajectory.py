"""Validation of joint trajectories."""

import re

import numpy as np
import pytest
from commanded_robot import JointTolerance, points, some_joints, trajectory_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.control.events import CommandError, JointError, LateError
from mujoco_ros.control.trajectory.trajectory import tolerances, trajectory

JOINTS = some_joints(
    ("a", "b", "c", "wheel", "free", "finger"),
    interfaces={"b": ["position"], "wheel": ["velocity"], "free": []},
    limits={"a": (-1.0, 2.0)},
    gripper="finger",
)
SETTINGS = trajectory_settings(JOINTS)
STILL = [[0.0, 0.0]]
BAD = [float("nan"), float("inf"), -float("inf"), 1e300]


def check(names, arrays, *, out_of_limits="clamp", start=None, **changes):
    wanted = trajectory_settings(JOINTS, **changes)
    return trajectory(JOINTS, wanted, out_of_limits, names, start, arrays)


def refused(message, *arguments, error=CommandError, **options):
    with pytest.raises(error, match=re.escape(message)):
        check(*arguments, **options)


def test_a_trajectory_has_joints_duration_and_spline():
    found = check(["c", "a"], points([0.5, 2.0], [[1.0, 0.5], [3.0, 1.5]]), start=7.0)
    assert found.joints.tolist() == [2, 0]
    assert (found.start, found.duration, found.clamped.count) == (7.0, 2.0, 0)
    assert found.curve is not None
    assert found.curve.duration.tolist() == [1.5]
    np.testing.assert_array_equal(found.points.q, [[1.0, 0.5], [3.0, 1.5]])


def test_a_single_point_is_a_trajectory():
    found = check(["a"], points([0.0], [[1.0]]))
    assert found.curve is None
    assert found.duration == 0.0


@pytest.mark.parametrize(
    ("velocities", "accelerations", "degree"),
    [
        (None, None, [1, 1]),
        ([[1.0], [0.0]], None, [3, 3]),
        ([[1.0], [0.0]], [[1.0], [1.0]], [5, 5]),
        ([None, [0.0]], None, [1, 3]),
        ([[1.0], [0.0]], [[1.0], None], [5, 3]),
    ],
)
def test_the_fields_of_a_point_determine_the_order_of_the_spline(velocities, accelerations, degree):
    found = check(["a"], points([1.0, 2.0], [[0.0], [1.0]], velocities, accelerations))
    assert found.points.degree.tolist() == degree


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (points([1.0, 2.0], [[0.0], None]), "point 1 has no positions"),
        (points([1.0, 2.0], [None, [0.0]], [[0.0], [0.0]]), "point 0 has no positions"),
        (points([1.0], [[0.0]], None, [[0.0]]), "point 0 has accelerations, but no velocities"),
        (points([-0.1, 2.0], [[0.0], [1.0]]), "time_from_start of point 0 is negative: -0.1 s"),
        (
            points([0.1, 0.3, 0.2], [[0.0]] * 3),
            "times must rise from point to point: point 1 is at 0.3 s and point 2 at 0.2 s",
        ),
        (points([0.1, 0.1], [[0.0]] * 2), "point 0 is at 0.1 s and point 1 at 0.1 s"),
        (points([0.1, np.nan], [[0.0]] * 2), "time_from_start of point 1 is nan; it must be"),
        (points([np.inf], [[0.0]]), "time_from_start of point 0 is inf; it must be finite"),
    ],
)
def test_invalid_points_are_refused(arrays, message):
    refused(message, ["a"], arrays)


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("field", ["positions", "velocities", "accelerations", "effort"])
def test_a_value_out_of_range_is_refused_with_its_joint(field, value):
    rows = {name: np.zeros((3, 2)) for name in ("positions", "velocities", "accelerations")}
    rows["effort"] = np.zeros((3, 2))
    rows[field][1, 1] = value
    refused(
        f"{field} of joint 'c' is {value:g}; it must be",
        ["a", "c"],
        points([1, 2, 3], *rows.values()),
    )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "the trajectory has points, but names no joints"),
        (["a", "x"], "joint 'x' not found; there are: a, b, c"),
        (["a", "a"], "joint 'a' is named twice"),
        (["a", "wheel"], "joint 'wheel' takes velocity only; choose from: a, b, c"),
        (["a", "free"], "joint 'free' is passive: it takes no commands; choose from: a, b, c"),
        (["finger", "a"], "joint 'finger' belongs to the gripper controller"),
    ],
)
def test_joints_that_cannot_follow_are_refused(names, message):
    refused(message, names, points([1.0], STILL), error=JointError)


def test_a_trajectory_of_some_joints_can_be_forbidden():
    arrays = points([1.0], [[0.0, 0.0, 0.0]])
    partial = {"allow_partial_joints_goal": False}
    assert check(["c", "a", "b"], arrays, **partial).joints.tolist() == [2, 0, 1]
    message = "the trajectory lacks the joints a, c, and allow_partial_joints_goal is not set"
    refused(message, ["b"], points([1.0], [[0.0]]), error=JointError, **partial)


def test_a_trajectory_that_ends_in_motion_is_refused_unless_allowed():
    arrays = points([1.0, 2.0], [[0.0, 0.0]] * 2, [[9.0, 9.0], [0.0, 0.2]])
    refused("joint 'c' has velocity 0.2 at the last point; it must be 0 unless", ["a", "c"], arrays)
    found = check(["a", "c"], arrays, allow_nonzero_velocity_at_trajectory_end=True)
    assert found.points.dq[-1].tolist() == [0.0, 0.2]


def test_effort_needs_joints_with_an_effort_interface():
    refused(
        "joint 'b' takes no effort: it takes position only",
        ["a", "b"],
        points([1.0], STILL, tau=[[0.0, 3.0]]),
        error=JointError,
    )
    found = check(["a", "b"], points([1.0], STILL, tau=[[3.0, 0.0]]))
    assert found.points.tau.tolist() == [[3.0, 0.0]]


def test_positions_beyond_the_limits_are_clamped_and_counted_or_refused():
    arrays = points([1.0, 2.0, 3.0], [[9.0, 9.0], [-5.0, 0.0], [1.0, 0.0]])
    found = check(["a", "c"], arrays)
    assert found.points.q.tolist() == [[2.0, 9.0], [-1.0, 0.0], [1.0, 0.0]]
    assert found.clamped.count == 2
    message = "position 9 of joint 'a' is outside its limits [-1, 2]"
    refused(message, ["a", "c"], arrays, out_of_limits="refuse")


@settings(max_examples=100)
@given(
    st.lists(st.floats(width=32) | st.sampled_from(BAD), min_size=1, max_size=4),
    st.lists(st.floats() | st.floats(-2, 2), min_size=4, max_size=4),
)
def test_any_input_is_rejected_or_gives_a_finite_spline_with_increasing_times(times, values):
    arrays = points(times, np.resize(values, (len(times), 1)))
    good = np.isfinite(times).all() and times[0] >= 0 and (np.diff(times) > 0).all()
    good &= bool((np.abs(arrays.values[0]) <= 1e9).all())
    try:
        found = check(["c"], arrays)
    except CommandError:
        assert not good
    else:
        assert good
        assert found.curve is None or np.isfinite(found.curve.q).all()


def test_a_trajectory_that_ends_in_the_past_is_late():
    found = check(["a"], points([1.0, 2.5], [[0.0], [1.0]]), start=10.0)
    found.check_in_time(12.5)
    with pytest.raises(LateError, match=r"ends in the past: at 12\.500 s, and it is 12\.501 s"):
        found.check_in_time(12.501)
    check(["a"], points([0.0], [[0.0]])).check_in_time(1e6)


def test_a_trajectory_with_stamps_of_another_clock_is_rejected():
    found = check(["a"], points([1.0], [[0.0]]), start=1.7e9)
    with pytest.raises(
        CommandError, match=r"starts in 1699999990 s, more than a day ahead; is use"
    ):
        found.check_in_time(10.0)
    found.check_in_time(1.7e9 - 86_399.0)


# --- tolerances

CHOSEN = np.array([2, 0])
DEFAULTS = trajectory_settings(
    JOINTS,
    trajectory=np.array([0.1, 0, 0, 0, 0, 0]),
    goal=np.array([0.01, 0, 0.03, 0, 0, 0]),
    goal_time=2.0,
    stopped_velocity_tolerance=0.5,
)
NONE = np.inf


def test_tolerances_that_are_not_given_are_those_of_the_settings():
    found = tolerances(JOINTS, DEFAULTS, CHOSEN)
    assert found.path.tolist() == [[NONE, 0.1], [NONE, NONE]]
    assert found.goal.tolist() == [[0.03, 0.01], [0.5, 0.5]]
    assert found.goal_time == 2.0


def test_given_tolerances_replace_erase_or_leave_the_default():
    found = tolerances(
        JOINTS,
        DEFAULTS,
        CHOSEN,
        [JointTolerance(name="a", position=0.7, velocity=3.0)],
        [
            JointTolerance(name="a", position=-1.0, velocity=-1.0, acceleration=-1.0),
            JointTolerance(name="c", velocity=0.2),
        ],
        -1.0,
    )
    assert found.path.tolist() == [[NONE, 0.7], [NONE, 3.0]]
    assert found.goal.tolist() == [[0.03, NONE], [0.2, NONE]]
    assert found.goal_time == 0.0


@pytest.mark.parametrize("wrong", [-0.5, -2.0, float("nan"), float("inf")])
@pytest.mark.parametrize("field", ["position", "velocity"])
def test_an_invalid_tolerance_is_refused(field, wrong):
    given_ones = [JointTolerance(name="a", **{field: wrong})]
    message = f"goal_tolerance of joint 'a': {field} is {wrong:g}; it must be positive"
    with pytest.raises(CommandError, match=re.escape(message)):
        tolerances(JOINTS, DEFAULTS, CHOSEN, (), given_ones)
    with pytest.raises(CommandError, match=f"goal_time_tolerance is {wrong:g}; it must be"):
        tolerances(JOINTS, DEFAULTS, CHOSEN, (), (), wrong)


def test_a_tolerance_of_acceleration_is_refused_because_none_is_measured():
    given_ones = [JointTolerance(name="a", acceleration=1.0)]
    with pytest.raises(CommandError, match="path_tolerance of joint 'a': acceleration is not"):
        tolerances(JOINTS, DEFAULTS, CHOSEN, given_ones)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x", "joint 'x' not found"),
        ("b", "path_tolerance is for joint 'b', which the trajectory leaves out; it has: c, a"),
    ],
)
def test_a_tolerance_for_a_joint_outside_the_trajectory_is_refused(name, message):
    with pytest.raises(JointError, match=message):
        tolerances(JOINTS, DEFAULTS, CHOSEN, [JointTolerance(name=name, position=1.0)])
