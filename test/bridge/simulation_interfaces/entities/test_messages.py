"""Conversion of messages."""

import math
import re

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3
from simulation_interfaces.msg import Bounds

from mujoco_ros.bridge.simulation_interfaces.entities.messages import (
    bounds_message,
    read_pose,
    read_twist,
    state_message,
)
from mujoco_ros.sim.observer import BoundingBox, Motion
from mujoco_ros.wire.conversions import pose_message, stamp


def pose(*, x: float = 1.0, w: float = 1.0, qx: float = 0.0) -> Pose:
    return Pose(position=Point(x=x, y=2.0, z=3.0), orientation=Quaternion(x=qx, w=w))


def test_a_pose_survives_the_round_trip():
    there = np.array([1.0, 2.0, 3.0, 0.1, 0.7, -0.1, 0.7])
    assert read_pose(pose_message(there[:3], there[3:])) == pytest.approx(there)


def test_a_quaternion_of_nearly_unit_length_is_normalized():
    assert np.linalg.norm(read_pose(pose(w=1.005))[3:]) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (pose(x=math.nan), "x of the position must be within ±1e+06, got nan"),
        (pose(x=math.inf), "x of the position"),
        (pose(x=1e7), "x of the position"),
        (pose(w=math.nan), "w of the orientation"),
        (pose(w=0.0), "not a unit quaternion: its length is 0"),
        (pose(w=0.5), "its length is 0.5"),
        (pose(qx=1.0), "its length is 1.41"),
    ],
)
def test_an_invalid_pose_is_refused(wrong, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_pose(wrong)


@pytest.mark.parametrize("part", ["linear", "angular"])
def test_an_invalid_twist_is_refused(part):
    with pytest.raises(ValueError, match=f"y of the {part} velocity must be within"):
        read_twist(Twist(**{part: Vector3(y=math.nan)}))


def test_a_state_is_in_the_world_frame_with_its_time_stamp():
    motion = Motion(
        position=np.array([1.0, 2.0, 3.0]),
        quat_wxyz=np.array([1.0, 0.0, 0.0, 0.0]),
        linear=np.array([4.0, 5.0, 6.0]),
        angular=np.array([7.0, 8.0, 9.0]),
        linear_acceleration=np.array([10.0, 11.0, 12.0]),
        angular_acceleration=np.array([13.0, 14.0, 15.0]),
    )
    state = state_message(motion, 1.25)
    assert (state.header.frame_id, state.header.stamp) == ("world", stamp(1.25))
    assert (state.header.stamp.sec, state.header.stamp.nanosec) == (1, 250_000_000)
    assert (state.pose.position.y, state.pose.orientation.w) == (2.0, 1.0)
    assert (state.twist.linear.x, state.twist.angular.z) == (4.0, 9.0)
    assert (state.acceleration.linear.x, state.acceleration.angular.z) == (10.0, 15.0)


def test_bounds_begin_with_the_upper_corner():
    bounds = bounds_message(BoundingBox(np.array([-1.0, -2.0, -3.0]), np.array([1.0, 2.0, 3.0])))
    assert bounds.type == Bounds.TYPE_BOX
    assert [(p.x, p.y, p.z) for p in bounds.points] == [(1.0, 2.0, 3.0), (-1.0, -2.0, -3.0)]
    assert bounds_message(None) == Bounds(type=Bounds.TYPE_EMPTY)
