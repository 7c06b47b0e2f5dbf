"""Names and values of joints."""

import numpy as np
import pytest
from commanded_robot import some_joints
from hypothesis import given
from hypothesis import strategies as st

from mujoco_ros.control.events import CommandError, JointError
from mujoco_ros.control.joints import LARGEST, check_numbers

MIXED = some_joints(
    ("hip", "knee", "wheel", "toe", "finger"),
    interfaces={"knee": ["position"], "wheel": ["velocity", "position"], "toe": []},
    gripper="finger",
)


def test_joints_are_found_in_the_order_of_the_names():
    assert MIXED.find(["toe", "hip"]).tolist() == [3, 0]
    assert MIXED.find([]).tolist() == []


@pytest.mark.parametrize("interface", ["position", "velocity", "effort"])
def test_controllers_command_joints_with_their_interface_except_the_gripper(interface):
    taking = {"position": (0, 1, 2), "velocity": (0, 2), "effort": (0,)}
    assert MIXED.with_interface(interface) == taking[interface]


def test_the_error_for_an_unknown_joint_has_the_closest_name():
    with pytest.raises(JointError, match=r"joint 'kne' not found \(did you mean 'knee'\?\); there"):
        MIXED.find(["hip", "kne"])


def test_a_joint_named_twice_is_refused():
    with pytest.raises(JointError, match="joint 'hip' is named twice"):
        MIXED.find(["hip", "toe", "hip"])


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ("toe", "joint 'toe' is passive: it takes no commands; choose from: hip, knee, wheel"),
        ("finger", "joint 'finger' belongs to the gripper controller; choose from: hip, knee"),
    ],
)
def test_the_error_for_an_invalid_joint_names_its_interfaces(joint, message):
    with pytest.raises(JointError, match=message):
        MIXED.find(["hip", joint], MIXED.with_interface("position"))


@pytest.mark.parametrize(
    ("joint", "interface", "message"),
    [
        ("knee", "effort", "joint 'knee' takes no effort: it takes position only"),
        ("wheel", "effort", "joint 'wheel' takes no effort: it takes position and velocity only"),
        ("toe", "position", "joint 'toe' takes no position: it is passive"),
    ],
)
def test_the_error_for_a_missing_interface_names_those_of_the_joint(joint, interface, message):
    joints = MIXED.find(["hip", joint])
    MIXED.check_interface(joints, interface, np.array([True, False]))
    with pytest.raises(JointError, match=message):
        MIXED.check_interface(joints, interface, np.array([True, True]))


# --- limits

LIMITED = some_joints("ab", limits={"a": (-1.0, 2.0)})


@given(st.lists(st.tuples(*[st.floats(-5, 5) | st.just(float("nan"))] * 2), min_size=1, max_size=5))
def test_clamping_moves_only_positions_beyond_the_limits(rows):
    positions = np.array(rows)
    before = positions.copy()
    within, clamped = LIMITED.clamp(np.array([0, 1]), positions, "clamp")
    np.testing.assert_array_equal(positions, before)
    np.testing.assert_array_equal(within[:, 1], before[:, 1])
    expected = [q if np.isnan(q) else min(max(q, -1.0), 2.0) for q in before[:, 0]]
    np.testing.assert_array_equal(within[:, 0], expected)
    slack = 1e-3  # for joints held at a soft stop
    assert clamped.count == sum(q < -1.0 - slack or q > 2.0 + slack for q in before[:, 0])


@pytest.mark.parametrize("out_of_limits", ["clamp", "refuse"])
def test_a_position_slightly_beyond_a_limit_is_accepted(out_of_limits):
    within, clamped = LIMITED.clamp(np.array([0]), np.array([2.0 + 5e-4]), out_of_limits)
    assert within == 2.0
    assert clamped.count == 0


def test_a_position_beyond_the_limits_can_be_refused():
    with pytest.raises(
        CommandError, match=r"position 2\.5 of joint 'a' is outside its limits \[-1"
    ):
        LIMITED.clamp(np.array([1, 0]), np.array([[0.0, 2.0], [9.0, 2.5]]), "refuse")
    assert LIMITED.clamp(np.array([1, 0]), np.array([[9.0, 2.0]]), "refuse")[1].count == 0


# --- errors of continuous joints


@given(st.floats(-20, 20), st.floats(-20, 20))
def test_full_turns_of_continuous_joints_are_valid(desired, actual):
    joints = some_joints("ab", continuous="b")
    rows = np.array([[desired, desired], [1.0, 9.0]]), np.array([[actual, actual], [0.5, -9.0]])
    position, velocity = joints.error(*rows)
    assert position[0] == desired - actual
    assert abs(position[1]) <= np.pi + 1e-9
    turns = (desired - actual - position[1]) / (2 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-9)
    assert velocity.tolist() == [0.5, 18.0]


# --- numbers


@given(st.floats(), st.integers(0, 1), st.booleans())
def test_the_error_for_an_invalid_number_names_the_joint(value, column, nan):
    values = np.zeros((3, 2))
    values[1, column] = value
    fine = abs(value) <= LARGEST or (nan and np.isnan(value))
    if fine:
        check_numbers(values, "effort", ("a", "b"), nan=nan)
    else:
        with pytest.raises(CommandError, match=f"effort of joint '{'ab'[column]}' is .*; it must"):
            check_numbers(values, "effort", ("a", "b"), nan=nan)
