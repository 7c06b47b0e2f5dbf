"""Commands by topics, and their requests."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mujoco_ros.control.pull import Pull
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.ros import commands as module
from mujoco_ros.viewer.ros.commands import CommandPublisher
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
