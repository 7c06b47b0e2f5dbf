"""Commands by topics, and their requests."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped

from mujoco_ros.control.pull import Pull
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.ros import commands as module
from mujoco_ros.viewer.ros.commands import CommandPublisher, VelocityPublisher
from mujoco_ros.viewer.ros.requests import Requests

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def requests(ros_node) -> Requests:
    return Requests(ros_node)


@pytest.fixture
def commands(ros_node, requests, monkeypatch) -> CommandPublisher:
    """A publisher for which calls without a pause are one press, however slow the machine is."""
    monkeypatch.setattr(module, "_PRESS_S", np.inf)
    setter = SimpleNamespace(set_joints=None, set_pose=None)
    return CommandPublisher(requests, Endpoints(ros_node), lambda: 1.5, setter)


SENT: dict[str, tuple[Callable[[CommandPublisher], Any], str]] = {
    "command elbow": (
        lambda it: it.command_joints("", {"elbow": 0.25}),
        "--once /joint_commands sensor_msgs/msg/JointState '{name: [elbow], position: [0.25]}'",
    ),
    "command 2 joints of left": (
        lambda it: it.command_joints("left", {"elbow": 0.25, "wrist": 0.0}),
        "--once /left/joint_commands sensor_msgs/msg/JointState "
        "'{name: [elbow, wrist], position: [0.25, 0.0]}'",
    ),
    "command winch of left": (
        lambda it: it.command_actuators("left", {"winch": 0.5}),
        "--once /left/actuator_commands control_msgs/msg/DynamicJointState "
        "'{joint_names: [winch], interface_values: [{interface_names: [ctrl], values: [0.5]}]}'",
    ),
    "push cup": (
        lambda it: it.push("cup", np.array([0.0, 2.0, 0.0]), np.array([0.5, 0.0, 0.0])),
        "--once /external_wrench geometry_msgs/msg/WrenchStamped "
        "'{header: {frame_id: cup}, wrench: {force: {y: 2.0}, torque: {x: 0.5}}}'",
    ),
    "move hand 1": (
        lambda it: it.move_mocap("", "hand 1", np.array([1.0, 0.0, 3.0]), UPRIGHT),
        "--once /mocap/hand_1/pose geometry_msgs/msg/PoseStamped "
        "'{header: {frame_id: world}, pose: {position: {x: 1.0, z: 3.0}}}'",
    ),
    "move target grasp": (
        lambda it: it.publish_target("grasp", np.array([0.1, 0.2, 0.3]), UPRIGHT),
        "--once --qos-durability transient_local /target/grasp/pose geometry_msgs/msg/PoseStamped "
        "'{header: {frame_id: world}, pose: {position: {x: 0.1, y: 0.2, z: 0.3}}}'",
    ),
}


@pytest.mark.parametrize("name", SENT)
def test_a_message_is_a_request_with_the_command_that_does_the_same(
    name, commands, requests, spin_until
):
    send, command = SENT[name]
    request = send(commands)
    assert requests.latest is request
    assert request.summary == f"{name}: published"
    assert spin_until(lambda: request.command)
    assert request.command == f"ros2 topic pub {command}"


@pytest.mark.parametrize("name", SENT)
def test_a_press_on_an_old_image_is_one_request_with_its_age(name, commands, requests, monkeypatch):
    requests.note_image_age(1.2)
    send, _ = SENT[name]
    first = send(commands)
    assert first.name == f"{name}, on an image 1.2 s old"
    assert send(commands) is first
    monkeypatch.setattr(module, "_PRESS_S", -1.0)
    assert send(commands) is not first


def test_a_pull_is_one_request_until_its_end(commands, requests, spin_until):
    requests.note_image_age(1.2)
    goal = np.array([0.5, 0.25, 0.75])
    pull = Pull(turns=False, point=np.zeros(3), position=goal, quat_wxyz=UPRIGHT)

    def latest(frame: str) -> Any:
        commands.pull(frame, pull)
        commands.tick(0.0)
        found = requests.latest
        return found if found is not None and f"pull {frame}," in found.name else None

    assert spin_until(lambda: latest("box"))
    request = requests.latest
    assert request.name == "pull box, on an image 1.2 s old"
    commands.tick(1.0)
    assert request.command == (
        "ros2 topic pub --rate 20 /external_wrench/pull "
        "visualization_msgs/msg/InteractiveMarkerFeedback "
        "'{header: {frame_id: world}, marker_name: box, control_name: translate, event_type: 1, "
        "pose: {position: {x: 0.5, y: 0.25, z: 0.75}}, mouse_point: {x: 0.5, y: 0.25, z: 0.75}, "
        "mouse_point_valid: true}'"
    )
    assert latest("box") is request
    assert spin_until(lambda: latest("cup")), "another body is another press"
    commands.release()
    assert spin_until(lambda: not commands.is_pulling)
    cup = requests.latest
    assert spin_until(lambda: latest("cup") is not cup), "another press"


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
        publisher.command(topic, linear, angular)
        return len(received) >= 3

    assert until(repeated)
    assert set(received) == {(linear, angular, frame, 7)}
    publisher.stop(topic)
    assert until(lambda: received[-1] == (ZERO, ZERO, frame, 7))
    assert not publisher.is_driving


def test_a_page_that_does_not_respond_stops_the_robot(driven):
    publisher, received, until = driven
    publisher.command(ROBOT, (0.2, 0.0, 0.0), ZERO)
    assert until(lambda: received and received[-1] == (ZERO, ZERO, "", 7))
    assert received[0] == ((0.2, 0.0, 0.0), ZERO, "", 7)


def test_two_robots_stop_one_by_one(driven):
    publisher, received, until = driven

    def are_driven() -> bool:
        publisher.command(ROBOT, (0.2, 0.0, 0.0), ZERO)
        publisher.command("/b/cmd_vel", (0.1, 0.0, 0.0), ZERO)
        return len(received) >= 2

    assert until(are_driven)
    publisher.stop("/b/cmd_vel")
    count = len(received)

    def continues() -> bool:
        publisher.command(ROBOT, (0.2, 0.0, 0.0), ZERO)
        return len(received) >= count + 2

    assert until(continues)
    assert {it[0][0] for it in received} == {0.2}, "the end of another robot's motion stops it"
    publisher.command("/b/cmd_vel", (0.1, 0.0, 0.0), ZERO)
    publisher.stop_all()
    assert until(lambda: received[-1][0] == ZERO)


def test_a_motion_is_one_request_with_the_command_that_does_the_same(driven):
    publisher, _, until = driven
    requests = [publisher.command(ROBOT, (speed, 0.0, 0.0), ZERO) for speed in (0.1, 0.25)]
    assert requests[0] is requests[1]
    assert requests[0].summary == "drive /robot/cmd_vel: published"
    assert until(lambda: requests[0].command)
    assert requests[0].command == (
        "ros2 topic pub --rate 20 /robot/cmd_vel geometry_msgs/msg/TwistStamped "
        "'{twist: {linear: {x: 0.25}}}'"
    )
    publisher.stop(ROBOT)
    assert publisher.command(ROBOT, (0.1, 0.0, 0.0), ZERO) is not requests[0]
    tool = publisher.command(TOOL, ZERO, (0.0, 0.0, 0.5))
    assert until(lambda: tool.command)
    assert tool.command == (
        f"ros2 topic pub --rate 20 {TOOL} geometry_msgs/msg/TwistStamped "
        "'{header: {frame_id: world}, twist: {angular: {z: 0.5}}}'"
    )
