"""Commanded velocities of the panel "Drive"."""

import time

import pytest
from geometry_msgs.msg import Twist, TwistStamped

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.ros.drive import VelocityPublisher
from mujoco_ros.viewer.ros.requests import Requests


@pytest.fixture
def driven(ros_node, spin_until):
    """A publisher of velocities, what a robot receives, and a function that waits for it."""
    received: list[tuple[float, float, float, int]] = []

    def receive(message: TwistStamped) -> None:
        twist = message.twist
        received.append((twist.linear.x, twist.linear.y, twist.angular.z, message.header.stamp.sec))

    ros_node.create_subscription(TwistStamped, "/robot/cmd_vel", receive, 10)
    ros_node.create_subscription(Twist, "/other/cmd_vel", receive, 10)
    ros_node.create_publisher(TwistStamped, "/unused/cmd_vel", 10)
    publisher = VelocityPublisher(Requests(ros_node), Endpoints(ros_node), lambda: 7.5)

    def until(condition) -> bool:
        def ticked() -> bool:
            publisher.tick(time.monotonic())
            return bool(condition())

        return bool(spin_until(ticked))

    assert until(lambda: publisher.topics)
    return publisher, received, until


def test_only_stamped_velocities_that_are_subscribed_can_be_commanded(driven):
    publisher, _, _ = driven
    assert publisher.topics == ("/robot/cmd_vel",)


def test_a_velocity_is_repeated_until_it_stops(driven):
    publisher, received, until = driven

    def repeated() -> bool:
        publisher.drive("/robot/cmd_vel", 0.2, -0.1, 0.3)
        return len(received) >= 3

    assert until(repeated)
    assert set(received) == {(0.2, -0.1, 0.3, 7)}
    publisher.stop("/robot/cmd_vel")
    assert until(lambda: received[-1] == (0.0, 0.0, 0.0, 7))


def test_a_page_that_does_not_respond_stops_the_robot(driven):
    publisher, received, until = driven
    publisher.drive("/robot/cmd_vel", 0.2, 0.0, 0.0)
    assert until(lambda: received and received[-1] == (0.0, 0.0, 0.0, 7))
    assert received[0] == (0.2, 0.0, 0.0, 7)


def test_two_robots_stop_one_by_one(driven):
    publisher, received, until = driven

    def are_driven() -> bool:
        publisher.drive("/robot/cmd_vel", 0.2, 0.0, 0.0)
        publisher.drive("/b/cmd_vel", 0.1, 0.0, 0.0)
        return len(received) >= 2

    assert until(are_driven)
    publisher.stop("/b/cmd_vel")
    count = len(received)

    def continues() -> bool:
        publisher.drive("/robot/cmd_vel", 0.2, 0.0, 0.0)
        return len(received) >= count + 2

    assert until(continues)
    assert {it[0] for it in received} == {0.2}, "the end of another robot's motion stops it"
    publisher.drive("/b/cmd_vel", 0.1, 0.0, 0.0)
    publisher.stop_all()
    assert until(lambda: received[-1][0] == 0.0)


def test_a_motion_is_one_request_with_the_command_that_does_the_same(driven):
    publisher, _, until = driven
    requests = [publisher.drive("/robot/cmd_vel", speed, 0.0, 0.0) for speed in (0.1, 0.25)]
    assert requests[0] is requests[1]
    assert requests[0].summary == "drive /robot/cmd_vel: published"
    assert until(lambda: requests[0].command)
    assert requests[0].command == (
        "ros2 topic pub --rate 10 /robot/cmd_vel geometry_msgs/msg/TwistStamped "
        "'{twist: {linear: {x: 0.25}}}'"
    )
    publisher.stop("/robot/cmd_vel")
    assert publisher.drive("/robot/cmd_vel", 0.1, 0.0, 0.0) is not requests[0]
