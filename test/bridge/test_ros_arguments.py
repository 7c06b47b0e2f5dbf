"""ROS arguments of child processes."""

import pytest

from mujoco_ros.bridge.ros_arguments import child_ros_arguments


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], []),
        (["--own", "-r", "a:=b"], []),
        (
            ["--ros-args", "-r", "a:=b", "--remap", "sim:c:=d"],
            ["-r", "a:=b", "--remap", "sim:c:=d"],
        ),
        (["--ros-args", "-r", "__node:=me", "-r", "mujoco:__ns:=/there", "-r", "__name:=me"], []),
        (
            ["--ros-args", "-r", "mujoco_cameras:__node:=cam", "-r", "mujoco_viewer:__ns:=/there"],
            ["-r", "mujoco_cameras:__node:=cam", "-r", "mujoco_viewer:__ns:=/there"],
        ),
        (["--ros-args", "-p", "scene:=arm", "-p", "cameras:rate:=5"], ["-p", "cameras:rate:=5"]),
        (["--ros-args", "--params-file", "f.yaml"], ["--params-file", "f.yaml"]),
        (
            ["--ros-args", "--log-level", "debug", "--disable-rosout-logs", "--", "--own"],
            ["--log-level", "debug", "--disable-rosout-logs"],
        ),
    ],
)
def test_child_processes_get_the_arguments_that_are_not_for_the_simulator_alone(given, kept):
    assert child_ros_arguments(given, "/here") == ["--ros-args", *kept, "-r", "__ns:=/here"]
