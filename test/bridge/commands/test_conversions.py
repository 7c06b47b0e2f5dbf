"""Messages are converted to arrays of the control layer, or refused."""

from typing import Any

import numpy as np
import pytest
from command_clients import follow, point, trajectory
from commanded_robot import some_joints, trajectory_settings
from control_msgs.msg import JointComponentTolerance, JointTolerance
from hypothesis import given
from hypothesis import strategies as st
from trajectory_msgs.msg import MultiDOFJointTrajectoryPoint

from mujoco_ros.bridge.commands.trajectory_server import (
    point_arrays,
    seconds,
    to_tolerances,
    to_trajectory,
)
from mujoco_ros.control.events import CommandError, JointError

_NAMES = ("a", "b", "c")
_JOINTS = some_joints(_NAMES)
_SETTINGS = trajectory_settings(_JOINTS)


@given(st.integers(-(2**31), 2**31 - 1), st.integers(0, 999_999_999))
def test_seconds_equal_those_of_the_message_to_the_nearest_double(sec: int, nanosec: int) -> None:
    message = point(0.0).time_from_start
    message.sec, message.nanosec = sec, nanosec
    assert abs(seconds(message) - (sec + nanosec / 1e9)) <= np.spacing(abs(sec) + 1.0)


def test_points_become_arrays_that_mark_the_given_fields() -> None:
    message = trajectory(
        point(0.5, [1, 2, 3]),
        point(1.25, [4, 5, 6], [7, 8, 9]),
        point(2.0, [1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 5]),
        joints=_NAMES,
    )
    arrays = point_arrays(message)
    assert arrays.times.tolist() == [0.5, 1.25, 2.0]
    assert arrays.given.tolist() == [
        [True, True, True],
        [False, True, True],
        [False, False, True],
        [False, False, True],
    ]
    assert arrays.values[0].tolist() == [[1, 2, 3], [4, 5, 6], [1, 1, 1]]
    assert arrays.values[1].tolist() == [[0, 0, 0], [7, 8, 9], [2, 2, 2]]
    assert arrays.values[2, 2].tolist() == [3, 3, 3]
    assert arrays.values[3, 2].tolist() == [4, 4, 5]


def test_points_are_removed_from_the_message_that_rclpy_keeps() -> None:
    message = trajectory(*(point(float(i), [0, 0, 0]) for i in range(1, 50)), joints=_NAMES)
    assert len(point_arrays(message).times) == 49
    assert message.points == []
    broken = trajectory(point(1.0, [0, 0]), point(2.0, [0, 0, 0]), joints=_NAMES)
    with pytest.raises(CommandError):
        point_arrays(broken)
    assert broken.points == []


@pytest.mark.parametrize("field", ["positions", "velocities", "accelerations", "effort"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_an_array_of_the_wrong_length_is_refused_with_point_and_field(
    field: str, count: int
) -> None:
    message = trajectory(point(1.0, [0, 0, 0]), point(2.0, [0, 0, 0]), joints=_NAMES)
    setattr(message.points[1], field, [0.0] * count)
    with pytest.raises(CommandError, match=f"point 1 has {count} {field} for 3 joints"):
        point_arrays(message)


def test_a_message_without_points_means_hold_and_needs_known_joints() -> None:
    for names, joints in (((), [0, 1, 2]), (("b",), [1])):
        found = to_trajectory(trajectory(joints=names), _JOINTS, _SETTINGS, "clamp")
        assert found.is_hold
        assert found.joints.tolist() == joints
    with pytest.raises(JointError, match="joint 'x' not found"):
        to_trajectory(trajectory(joints=("x",)), _JOINTS, _SETTINGS, "clamp")


def test_values_are_assigned_to_the_named_joints_in_any_order() -> None:
    message = trajectory(point(1.0, [3, 1]), joints=("c", "a"))
    found = to_trajectory(message, _JOINTS, _SETTINGS, "clamp")
    assert found is not None
    assert dict(zip(found.joints.tolist(), found.points.q[0].tolist(), strict=True)) == {2: 3, 0: 1}


@pytest.mark.parametrize(
    ("start", "expected"), [(None, None), (0.0, None), (12.5, 12.5), (1e-9, 1e-9)]
)
def test_a_stamp_of_zero_means_no_stamp(start: float | None, expected: float | None) -> None:
    message = trajectory(point(1.0, [0, 0, 0]), joints=_NAMES, start=start)
    found = to_trajectory(message, _JOINTS, _SETTINGS, "clamp")
    assert found is not None
    assert found.start == expected


def _goal(**fields: Any) -> Any:
    return follow(point(1.0, [0, 0, 0]), joints=_NAMES, **fields)


def test_tolerances_of_the_goal_override_those_of_the_settings() -> None:
    settings = trajectory_settings(
        _JOINTS,
        trajectory=np.array([0.1, 0.2, 0.0]),
        goal=np.array([0.3, 0.0, 0.0]),
        stopped_velocity_tolerance=0.5,
        goal_time=2.0,
    )
    goal = _goal(
        path_tolerance=[JointTolerance(name="b", position=0.7, velocity=0.8)],
        goal_tolerance=[JointTolerance(name="a", position=-1.0, velocity=-1.0)],
    )
    found = to_tolerances(goal, _JOINTS, settings, np.arange(3))
    inf = np.inf
    assert found.path.tolist() == [[0.1, 0.7, inf], [inf, 0.8, inf]]
    assert found.goal.tolist() == [[inf, inf, inf], [inf, 0.5, 0.5]]
    assert found.goal_time == 2.0
    goal.goal_time_tolerance.sec = -1
    assert to_tolerances(goal, _JOINTS, settings, np.arange(3)).goal_time == 0.0
    goal.goal_time_tolerance.sec, goal.goal_time_tolerance.nanosec = 1, 500_000_000
    assert to_tolerances(goal, _JOINTS, settings, np.arange(3)).goal_time == 1.5


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"path_tolerance": [JointTolerance(name="x", position=1.0)]}, "joint 'x' not found"),
        (
            {"goal_tolerance": [JointTolerance(name="a", position=-2.0)]},
            "goal_tolerance of joint 'a': position is -2",
        ),
        (
            {"path_tolerance": [JointTolerance(name="b", velocity=float("nan"))]},
            "path_tolerance of joint 'b': velocity is nan",
        ),
        (
            {"path_tolerance": [JointTolerance(name="b", acceleration=1.0)]},
            "acceleration is not measured",
        ),
        ({"component_path_tolerance": [JointComponentTolerance()]}, "component tolerances"),
        ({"component_goal_tolerance": [JointComponentTolerance()]}, "component tolerances"),
    ],
)
def test_an_invalid_tolerance_is_refused_with_its_joint(
    fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        to_tolerances(_goal(**fields), _JOINTS, _SETTINGS, np.arange(3))


def test_joints_of_several_degrees_of_freedom_are_refused() -> None:
    goal = _goal()
    goal.multi_dof_trajectory.joint_names = ["base"]
    with pytest.raises(CommandError, match="multi_dof_trajectory is not supported"):
        to_tolerances(goal, _JOINTS, _SETTINGS, np.arange(3))
    goal = _goal()
    goal.multi_dof_trajectory.points = [MultiDOFJointTrajectoryPoint()]
    with pytest.raises(CommandError, match="multi_dof_trajectory is not supported"):
        to_tolerances(goal, _JOINTS, _SETTINGS, np.arange(3))
