"""Commanded velocities of robots and tools."""

import time

import pytest
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.ros.drive import VelocityPublisher
from mujoco_ros.viewer.ros.requests import Requests

ROBOT, TOOL = "/robot/cmd_vel", "/arm/cartesian_controller/target_twist"
ZERO = (0.0, 0.0, 0.0)


@pytest.fixture
def driven(ros_node, spin_until):
    """A publisher of velocities, what a robot receives, and a function that waits for it."""
    received: list[tuple[tuple[float, ...], tuple[float, ...], str, int]] = []

    def receive(message: TwistStamped) -> None:
        header = message.header
        twist = ((it.x, it.y, it.z) for it in (message.twist.linear, message.twist.angular))
        received.append((*twist, header.frame_id, header.stamp.sec))

    for topic in (
        ROBOT,
        TOOL,
        "/servo/target_twist",
        "/humanoid/cartesian_controller/target_twist",
    ):
        ros_node.create_subscription(TwistStamped, topic, receive, 10)
    ros_node.create_publisher(PoseStamped, "/arm/cartesian_controller/current_pose", 10)
    for name in ("cmd_vel", "target_twist"):
        ros_node.create_subscription(Twist, f"/other/{name}", receive, 10)
        ros_node.create_publisher(TwistStamped, f"/unused/{name}", 10)
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
    assert publisher.topics == (ROBOT,)


def test_tools_are_target_twists_but_for_controllers_of_the_simulator_without_a_frame(driven):
    publisher, _, _ = driven
    assert publisher.tool_topics == (TOOL, "/servo/target_twist")


@pytest.mark.parametrize(("topic", "frame"), [(ROBOT, ""), (TOOL, "world")])
def test_a_velocity_is_repeated_until_it_stops(driven, topic, frame):
    publisher, received, until = driven
    linear, angular = (0.2, -0.1, 0.05), (0.1, 0.2, 0.3)

    def repeated() -> bool:
        publisher.drive(topic, linear, angular)
        return len(received) >= 3

    assert until(repeated)
    assert set(received) == {(linear, angular, frame, 7)}
    publisher.stop(topic)
    assert until(lambda: received[-1] == (ZERO, ZERO, frame, 7))
    assert not publisher.is_driving


def test_a_page_that_does_not_respond_stops_the_robot(driven):
    publisher, received, until = driven
    publisher.drive(ROBOT, (0.2, 0.0, 0.0), ZERO)
    assert until(lambda: received and received[-1] == (ZERO, ZERO, "", 7))
    assert received[0] == ((0.2, 0.0, 0.0), ZERO, "", 7)


def test_two_robots_stop_one_by_one(driven):
    publisher, received, until = driven

    def are_driven() -> bool:
        publisher.drive(ROBOT, (0.2, 0.0, 0.0), ZERO)
        publisher.drive("/b/cmd_vel", (0.1, 0.0, 0.0), ZERO)
        return len(received) >= 2

    assert until(are_driven)
    publisher.stop("/b/cmd_vel")
    count = len(received)

    def continues() -> bool:
        publisher.drive(ROBOT, (0.2, 0.0, 0.0), ZERO)
        return len(received) >= count + 2

    assert until(continues)
    assert {it[0][0] for it in received} == {0.2}, "the end of another robot's motion stops it"
    publisher.drive("/b/cmd_vel", (0.1, 0.0, 0.0), ZERO)
    publisher.stop_all()
    assert until(lambda: received[-1][0] == ZERO)


def test_a_motion_is_one_request_with_the_command_that_does_the_same(driven):
    publisher, _, until = driven
    requests = [publisher.drive(ROBOT, (speed, 0.0, 0.0), ZERO) for speed in (0.1, 0.25)]
    assert requests[0] is requests[1]
    assert requests[0].summary == "drive /robot/cmd_vel: published"
    assert until(lambda: requests[0].command)
    assert requests[0].command == (
        "ros2 topic pub --rate 20 /robot/cmd_vel geometry_msgs/msg/TwistStamped "
        "'{twist: {linear: {x: 0.25}}}'"
    )
    publisher.stop(ROBOT)
    assert publisher.drive(ROBOT, (0.1, 0.0, 0.0), ZERO) is not requests[0]
    tool = publisher.drive(TOOL, ZERO, (0.0, 0.0, 0.5))
    assert until(lambda: tool.command)
    assert tool.command == (
        f"ros2 topic pub --rate 20 {TOOL} geometry_msgs/msg/TwistStamped "
        "'{header: {frame_id: world}, twist: {angular: {z: 0.5}}}'"
    )
