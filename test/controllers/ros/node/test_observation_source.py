"""Observations from the topics of a robot."""

import pickle

import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.qos import RELIABLE


@pytest.fixture(scope="module")
def plant():
    return Plant(assemble(load_scene("quadruped")), emit=lambda _event: None)


def test_the_floating_base_is_that_of_the_newest_odometry_also_in_a_copy(
    plant, ros_node, spin_until
):
    source = TopicObservationSource(
        *(Endpoints(ros_node), plant.layout, 0),
        period=0.004,
        on_message=lambda: None,
        wrench_sign="child_on_parent",
    )
    names = list(plant.layout.robots[0].joints.names)
    states = JointState(name=names, position=[0.1] * len(names))
    odometry = Odometry()
    odometry.pose.pose.position.z, odometry.twist.twist.angular.x = 0.4, -2.0
    joint_states = ros_node.create_publisher(JointState, "joint_states", RELIABLE)
    odom = ros_node.create_publisher(Odometry, "odom", RELIABLE)

    def received() -> bool:
        odom.publish(odometry)
        joint_states.publish(states)
        return not {"odom", "joint_states", "/odom", "/joint_states"} & set(source.missing)

    assert spin_until(received)
    seen = source.observe().base
    assert isinstance(seen, BaseReading)
    for base in (seen, pickle.loads(pickle.dumps(seen))):
        assert base.pose.position.tolist() == [0.0, 0.0, 0.4]
        assert base.pose.quat_wxyz.tolist() == [1.0, 0.0, 0.0, 0.0]
        assert base.linear.tolist() == [0.0, 0.0, 0.0]
        assert base.angular.tolist() == [-2.0, 0.0, 0.0]


def test_a_topic_that_has_ended_is_expected_again_with_its_next_message(
    plant, ros_node, spin_until
):
    source = TopicObservationSource(
        *(Endpoints(ros_node), plant.layout, 0),
        period=0.004,
        on_message=lambda: None,
        every=True,
        wrench_sign="child_on_parent",
    )
    joint_states = ros_node.create_publisher(JointState, "joint_states", RELIABLE)
    odom = ros_node.create_publisher(Odometry, "odom", RELIABLE)

    def publish(publisher, message, nanosec: int) -> None:
        message.header.stamp.nanosec = nanosec
        publisher.publish(message)

    def received() -> bool:
        publish(joint_states, JointState(), 4)
        publish(odom, Odometry(), 2)
        return source.stamp == 4 and "/odom" not in source.missing and "odom" not in source.missing

    assert spin_until(received)
    (topic,) = (it for it in source.incomplete if it.endswith("odom"))
    source.end(source.incomplete)
    assert not source.incomplete
    assert spin_until(lambda: publish(odom, Odometry(), 3) or source.incomplete)
    assert source.incomplete == (topic,)
