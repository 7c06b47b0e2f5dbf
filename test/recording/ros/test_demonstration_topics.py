"""Which topics are those of a demonstration."""

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.ros.demonstration_topics import (
    described_name,
    find_topics,
    is_valid,
    selection,
)

TWO_ARMS = (
    *("/left/joint_states", "/left/joint_references", "/left/camera/wrist/image_raw"),
    *("/right/joint_states", "/right/joint_references", "/camera/overview/image_raw"),
)


def test_topics_of_all_robots_and_cameras_are_found_by_name():
    found = find_topics(TWO_ARMS, None)
    assert found.states == {"left": "/left/joint_states", "right": "/right/joint_states"}
    assert found.commands == {
        "left": "/left/joint_references",
        "right": "/right/joint_references",
    }
    assert found.images == {
        "overview": "/camera/overview/image_raw",
        "left.wrist": "/left/camera/wrist/image_raw",
    }
    assert find_topics(TWO_ARMS, ["left.wrist"]).images == {
        "left.wrist": "/left/camera/wrist/image_raw"
    }
    assert find_topics(TWO_ARMS, []).images == {}
    assert find_topics(["/joint_states", "/joint_references"], []).states == {"": "/joint_states"}


@pytest.mark.parametrize(
    ("topics", "cameras", "error_text"),
    [
        (["/joint_references", "/joint_states"], None, "there are no topics of cameras yet"),
        (["/joint_states"], (), "there is no topic 'joint_references'"),
        (["/joint_references"], (), "but no '/joint_states'"),
        (TWO_ARMS, ["wrist"], r"camera 'wrist' not found \(did you mean 'left.wrist'\?\)"),
        ([*TWO_ARMS, "/left/actuator_controller/actuators"], None, "actuators without a joint"),
    ],
)
def test_what_cannot_be_recorded_is_an_error(topics, cameras, error_text):
    with pytest.raises(UserInputError, match=error_text):
        find_topics(topics, cameras)


def test_only_topics_that_are_needed_are_selected():
    others = (
        *("/clock", "/joint_commands", "/camera/eye/image_raw/compressed", "/tf"),
        *("/camera/eye/depth/image_rect_raw", "/camera/eye/segmentation/image_raw"),
        *("/ground_truth/joint_states", "/left/ground_truth/joint_states"),
    )
    needed = (*TWO_ARMS, "/mujoco/reset_event", "/robot_description", "/joint_states")
    for cameras in (None, ["left.wrist", "overview"]):
        pattern = selection(cameras)
        assert all(pattern.fullmatch(it) for it in needed)
        assert not any(pattern.fullmatch(it) for it in others)
    assert not selection([]).fullmatch("/camera/overview/image_raw")


def test_topics_of_another_type_are_not_valid():
    assert is_valid("/a/joint_states", "sensor_msgs/msg/JointState")
    assert not is_valid("/joint_states", "std_msgs/msg/String")
    assert is_valid("/camera/eye/image_raw", "sensor_msgs/msg/Image")
    assert not is_valid("/camera/eye/image_raw", "sensor_msgs/msg/JointState")


def test_the_name_of_a_robot_is_that_in_its_description():
    assert described_name("<?xml?>\n<robot version='1' name='arm'>") == "arm"
    assert described_name("<mujoco name='arm'>") == ""
