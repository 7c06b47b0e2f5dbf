"""Numeric fields of messages."""

from math import isnan

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TransformStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Bool, Float64MultiArray, Header, String
from tf2_msgs.msg import TFMessage

from mujoco_ros.viewer.ros.field_subscriber import message_time, numeric_paths, reader

JOINTS = JointState(name=["left knee", "arm/elbow.x"], position=[0.5, -1.5], effort=[3.0, 4.0])


def test_every_numeric_field_has_a_path_and_a_value():
    message = PoseStamped()
    message.pose.position.y, message.header.stamp.sec = 2.5, 7
    paths = numeric_paths(message)
    assert "pose.position.y" in paths
    assert reader("pose.position.y")(message) == 2.5
    assert reader("header.stamp.sec")(message) == 7.0
    assert len(paths) == 9
    assert numeric_paths(String(data="5")) == ()
    assert [reader(it)(Bool(data=True)) for it in numeric_paths(Bool())] == [1.0]


def test_elements_are_found_by_the_names_of_the_message_in_any_order():
    paths = numeric_paths(JOINTS)
    assert "position[left knee]" in paths
    assert "velocity[left knee]" not in paths
    read = reader("effort[arm/elbow.x]")
    assert read(JOINTS) == 4.0
    assert read(JointState(name=["arm/elbow.x"], effort=[6.0])) == 6.0
    assert isnan(read(JointState(name=["other"], effort=[6.0])))


def test_elements_without_names_have_indices():
    message = Float64MultiArray(data=[1.0, 2.0, 3.0])
    assert reader("data[2]")(message) == 3.0
    assert "data[2]" in numeric_paths(message)
    assert isnan(reader("data[3]")(message))
    frames = TFMessage(transforms=[TransformStamped(), TransformStamped()])
    frames.transforms[1].transform.translation.z = 4.0
    assert reader("transforms[1].transform.translation.z")(frames) == 4.0
    assert "transforms[1].transform.translation.z" in numeric_paths(frames)


def test_the_list_of_a_large_message_is_limited():
    assert len(numeric_paths(Image(data=np.zeros(10_000, np.uint8).tobytes()))) < 200
    frames = TFMessage(transforms=[TransformStamped()] * 1000)
    assert len(numeric_paths(frames)) <= 2000


@pytest.mark.parametrize(
    ("message", "time"),
    [
        (JointState(header=Header(stamp=Time(sec=12, nanosec=500_000_000))), 12.5),
        (Clock(clock=Time(sec=13)), 13.0),
        (JointState(), 14.0),
        (Float64MultiArray(), 14.0),
        (DiagnosticArray(header=Header(stamp=Time(sec=1_700_000_000))), 14.0),
    ],
)
def test_the_time_is_that_of_the_stamp_on_the_simulated_clock(message, time):
    assert message_time(message, 14.0) == time
