"""Validation of streamed commands."""

import re

import numpy as np
import pytest
from commanded_robot import some_joints
from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.control.events import CommandError, JointError
from mujoco_ros.control.joint_command import JointCommandReader, forward_command, joint_command

LEAVE = np.nan
JOINTS = some_joints(
    ("a", "b", "wheel", "free", "finger"),
    interfaces={"b": ["position", "velocity"], "wheel": ["velocity"], "free": []},
    limits={"a": (-1.0, 2.0)},
    gripper="finger",
)


def by_name(names, position=(), velocity=(), effort=(), *, out_of_limits="clamp"):
    return joint_command(JOINTS, out_of_limits, names, (position, velocity, effort))


def forward(interface, data, *, out_of_limits="clamp"):
    return forward_command(JOINTS, out_of_limits, interface, data)


def test_a_command_by_name_has_the_given_values_of_each_joint():
    found = by_name(["b", "a"], [0.5, 1.5], [], [LEAVE, 3.0])
    assert found.joints.tolist() == [1, 0]
    expected = [[0.5, 1.5], [LEAVE, LEAVE], [LEAVE, 3.0]]
    np.testing.assert_array_equal(found.values, expected)
    assert found.clamped.count == 0


def test_the_grippers_joint_can_be_commanded_by_name():
    assert by_name(["finger"], [0.01]).joints.tolist() == [4]


def test_joints_without_a_value_are_left_out():
    found = by_name(["a", "free", "b"], [LEAVE, LEAVE, 1.0], [LEAVE] * 3)
    assert found.joints.tolist() == [1]
    assert by_name(["a", "b"]).joints.tolist() == []


SERVOS = some_joints(
    ("a", "s1", "s2", "wheel"),
    interfaces={"s1": ["position"], "s2": ["position", "effort"], "wheel": ["velocity"]},
)


def test_velocities_of_position_servos_are_ignored_and_named():
    names = ("s1", "wheel", "a", "s2")
    positions, velocities = [0.1, LEAVE, 0.3, 0.4], [1.0, 2.0, 3.0, 0.0]
    found = joint_command(SERVOS, "clamp", names, (positions, velocities, []))
    expected = [positions, [LEAVE, 2.0, 3.0, LEAVE], [LEAVE] * 4]
    np.testing.assert_array_equal(found.values, expected)
    assert found.ignored == ("s1", "s2")
    without = joint_command(SERVOS, "clamp", ("s1",), ([0.1], [LEAVE], []))
    assert without.ignored == ()


def test_a_servo_with_a_velocity_alone_is_left_out_of_a_command_of_others():
    found = joint_command(SERVOS, "clamp", ("s1", "wheel"), ([], [1.0, 2.0], []))
    assert (found.joints.tolist(), found.ignored) == ([3], ("s1",))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (([], [1.0], []), "joint 's1' takes no velocity: it takes position only"),
        (([0.0], [np.inf], []), "velocity of joint 's1' is inf; it must be a finite number"),
        (([0.0], [0.0], [0.0]), "joint 's1' takes no effort: it takes position only"),
    ],
)
def test_a_velocity_that_cannot_be_ignored_is_refused(fields, message):
    with pytest.raises(CommandError, match=re.escape(message)):
        joint_command(SERVOS, "clamp", ("s1",), fields)


def test_zero_is_a_value():
    assert by_name(["a"], effort=[0.0]).values[:, 0].tolist()[2] == 0.0


@pytest.mark.parametrize(
    ("names", "fields", "message", "error"),
    [
        ([], {"position": []}, "the command names no joints", JointError),
        (["a", "x"], {"position": [0, 0]}, "joint 'x' not found; there are: a, b", JointError),
        (["a", "a"], {"position": [0, 0]}, "joint 'a' is named twice", JointError),
        (["a", "b"], {"position": [0]}, "position has 1 value for 2 joints; give", CommandError),
        (["a"], {"effort": [0, 1]}, "effort has 2 values for 1 joint; give", CommandError),
        (
            ["a", "b"],
            {"effort": [0, 0]},
            "joint 'b' takes no effort: it takes position and velocity only",
            JointError,
        ),
        (
            ["wheel"],
            {"position": [0]},
            "joint 'wheel' takes no position: it takes velocity only",
            JointError,
        ),
        (["free"], {"velocity": [0]}, "joint 'free' takes no velocity: it is passive", JointError),
    ],
)
def test_a_command_that_does_not_match_the_joints_is_refused(names, fields, message, error):
    with pytest.raises(error, match=re.escape(message)):
        by_name(names, **fields)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, -1.1e9])
@pytest.mark.parametrize("field", ["position", "velocity", "effort"])
def test_a_value_out_of_range_is_refused(field, value):
    message = re.escape(f"{field} of joint 'a' is {value:g}; it must be")
    with pytest.raises(CommandError, match=message):
        by_name(["finger", "a"], **{field: [0.0, value]})
    with pytest.raises(CommandError, match=message):
        forward(field, [value] + [0.0] * (len(JOINTS.with_interface(field)) - 1))


def test_positions_beyond_the_limits_are_clamped_and_counted_or_refused():
    found = by_name(["b", "a"], [9.0, 9.0])
    assert found.values[0].tolist() == [9.0, 2.0]
    assert found.clamped.count == 1
    assert forward("position", [-3.0, 9.0]).values[0].tolist() == [-1.0, 9.0]
    for refuse in (
        lambda: by_name(["b", "a"], [9.0, 9.0], out_of_limits="refuse"),
        lambda: forward("position", [9.0, 9.0], out_of_limits="refuse"),
    ):
        with pytest.raises(CommandError, match=r"position 9 of joint 'a' is outside its limits"):
            refuse()
    assert by_name(["a"], [], [9.0], [9.0], out_of_limits="refuse").clamped.count == 0


@pytest.mark.parametrize(
    ("interface", "row", "joints"),
    [("position", 0, [0, 1]), ("velocity", 1, [0, 1, 2]), ("effort", 2, [0])],
)
def test_a_forward_command_is_for_all_joints_with_its_interface_in_model_order(
    interface, row, joints
):
    data = [0.1 * (i + 1) for i in range(len(joints))]
    found = forward(interface, data)
    assert found.joints.tolist() == joints
    assert found.values[row].tolist() == data
    assert np.isnan(np.delete(found.values, row, axis=0)).all()


@pytest.mark.parametrize("data", [[], [1.0], [1.0] * 3])
def test_the_error_for_a_forward_command_of_the_wrong_length_names_the_order(data):
    with pytest.raises(CommandError, match=r"values? for 2 joints; the order is: a, b"):
        forward("position", data)


def test_a_forward_command_leaves_no_joint_out():
    with pytest.raises(CommandError, match="position of joint 'b' is nan; it must be a finite"):
        forward("position", [0.0, LEAVE])


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([*JOINTS.names, "x"]), max_size=4),
    st.lists(st.lists(st.floats(), max_size=4), min_size=3, max_size=3),
)
def test_any_input_is_rejected_or_gives_a_valid_command(names, fields):
    try:
        found = joint_command(JOINTS, "clamp", names, fields)
    except CommandError:
        return
    assert len(set(names)) == len(names) > 0
    given = found.values[~np.isnan(found.values)]
    assert (np.abs(given) <= 1e9).all()
    for joint, column in zip(found.joints, found.values.T, strict=True):
        given_ones = ~np.isnan(column)
        assert given_ones.any()
        takes = [what in JOINTS.interfaces[joint] for what in ("position", "velocity", "effort")]
        assert (np.array(takes) | ~given_ones).all()


_VALUES = st.sampled_from([LEAVE, 0.0, -0.5, 1.0, 2.0, 2.0005, 3.0, 1e9, -1e9, 2e9, np.inf])
_NAMES = st.lists(st.sampled_from([*JOINTS.names, "unknown"]), max_size=4)


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_reader_finds_the_same_in_commands_of_known_joints(data: st.DataObject) -> None:
    reader = JointCommandReader(JOINTS)
    names = tuple(data.draw(_NAMES))
    for _ in range(4):
        fields = [
            data.draw(st.lists(_VALUES, min_size=size, max_size=size))
            for size in data.draw(st.lists(st.sampled_from([0, *2 * [len(names)], 2]), min_size=3))[
                :3
            ]
        ]
        out_of_limits = data.draw(st.sampled_from(["clamp", "refuse"]))
        try:
            expected = joint_command(JOINTS, out_of_limits, names, fields)
        except CommandError as error:
            with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
                reader.read(out_of_limits, names, fields)
            continue
        found = reader.read(out_of_limits, names, fields)
        np.testing.assert_array_equal(found.joints, expected.joints)
        np.testing.assert_array_equal(found.values, expected.values)
        assert (found.clamped, found.ignored) == (expected.clamped, expected.ignored)


def test_a_command_keeps_its_values_when_the_next_one_is_read() -> None:
    reader = JointCommandReader(JOINTS)
    commands = [reader.read("clamp", ("a", "b"), ([x, x], [], [])) for x in (0.0, 0.1, 0.2)]
    assert [it.values[0].tolist() for it in commands] == [[x, x] for x in (0.0, 0.1, 0.2)]
