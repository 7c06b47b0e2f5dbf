"""The camera process starts with the first subscription of one of its topics.

The tests share a simulator and depend on their order.
"""

import os
import signal
from pathlib import Path

import pytest
from camera_client import CameraClient, write_camera_scene
from sensor_msgs.msg import CameraInfo
from simulator_client import PAUSED, PLAYING
from simulators import SimulatorLauncher, stamps_of
from spawn_requests import at, spawn

from mujoco_ros.bridge.ros_arguments import names_node

GUEST = """
<mujoco model="guest">
  <worldbody>
    <body name="trunk"><joint/><geom size="0.05" mass="1"/><camera name="eye"/></body>
  </worldbody>
</mujoco>
"""
FRAMES = {
    "camera_info": "sensor_msgs/msg/CameraInfo",
    "depth/camera_info": "sensor_msgs/msg/CameraInfo",
    "depth/image_rect_raw": "sensor_msgs/msg/Image",
    "depth/points": "sensor_msgs/msg/PointCloud2",
    "image_raw": "sensor_msgs/msg/Image",
    "image_raw/compressed": "sensor_msgs/msg/CompressedImage",
    "segmentation/image_raw": "sensor_msgs/msg/Image",
    "segmentation/legend": "std_msgs/msg/String",
    "trigger": "std_msgs/msg/Empty",
}


@pytest.fixture(scope="module")
def client(
    start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory
) -> CameraClient:
    scene = write_camera_scene(tmp_path_factory.mktemp("looker"))
    return CameraClient(start_shared, scene, real_time_factor=0.5, cameras_at_start="false")


def publishers(client: CameraClient, topic: str) -> list[str]:
    """Return the nodes that publish a topic."""
    return sorted(
        info.node_name for info in client.listener.node.get_publishers_info_by_topic(topic)
    )


def topics(client: CameraClient, prefix: str) -> dict[str, str]:
    """Return the topics below a prefix with their types."""
    found = client.listener.node.get_topic_names_and_types()
    return {name.removeprefix(prefix): types[0] for name, types in found if name.startswith(prefix)}


def test_without_a_subscription_all_topics_exist_and_no_process(client: CameraClient) -> None:
    assert topics(client, "/camera/front/") == FRAMES
    assert topics(client, "/lidar/") == {"belt/scan": "sensor_msgs/msg/LaserScan"}
    of_three = ("/contacts", "/camera/oblique/image_raw", "/lidar/belt/scan")
    # The middleware delivers the name of a node after its topics.
    assert client.listener.spin_until(
        lambda: all(publishers(client, topic) == ["mujoco"] for topic in of_three)
    )
    assert client.row("mujoco: child processes")["cameras process"] == "none"


def test_the_topics_follow_the_model(client: CameraClient) -> None:
    response = spawn(client, text=GUEST, name="guest", initial_pose=at(0.0, 2.0, 0.5))
    assert response.result.result == 1, response.result
    assert client.listener.spin_until(lambda: topics(client, "/guest/camera/eye/") == FRAMES)
    assert client.call("DeleteEntity", entity="guest").result.result == 1
    assert client.listener.spin_until(lambda: not topics(client, "/guest/camera/eye/"))
    assert client.row("mujoco: child processes")["cameras process"] == "none"


def test_a_parameter_is_set_before_there_is_a_process(client: CameraClient) -> None:
    (accepted,) = client.set_camera_parameters({"camera.front.rate": 12.0})
    assert accepted.successful
    (refused,) = client.set_camera_parameters({"camera.front.compressed_format": "gif"})
    assert "one of" in refused.reason


def test_a_subscription_in_a_pause_starts_the_process_and_both_nodes_publish_each_message_once(
    client: CameraClient,
) -> None:
    client.ensure_state(PAUSED)
    received = client.listener.record(CameraInfo, "/camera/front/camera_info")
    assert client.listener.spin_until(lambda: len(received) > 0)
    row = client.row("mujoco: child processes")
    assert row["cameras process"] != "none"
    assert client.listener.spin_until(
        lambda: publishers(client, "/camera/front/camera_info") == ["mujoco", "mujoco_cameras"]
    )
    assert publishers(client, "/camera/front/image_raw") == ["mujoco"], "it is not subscribed"
    client.ensure_state(PLAYING)
    begun = len(received)
    assert client.listener.spin_until(lambda: len(received) > begun + 12)
    stamps = stamps_of(received.messages)
    assert stamps == sorted(set(stamps))
    client.listener.spin_until(lambda: client.row("mujoco: camera/front")["asked [Hz]"] == "12")


def test_a_process_that_was_killed_keeps_the_parameters_and_its_first_frame_is_soon(
    client: CameraClient,
) -> None:
    received = client.listener.record(CameraInfo, "/camera/front/camera_info")
    assert client.listener.spin_until(lambda: len(received) > 0)
    pid = int(client.row("mujoco: child processes")["cameras process"])
    os.kill(pid, signal.SIGKILL)
    assert client.listener.spin_until(
        lambda: client.row("mujoco: child processes")["cameras process"] not in (str(pid), "none")
    )
    begun = len(received)
    assert client.listener.spin_until(lambda: len(received) > begun + 3)
    name = "mujoco: camera/front"
    assert client.listener.spin_until(lambda: client.row(name)["asked [Hz]"] == "12")


def test_the_camera_of_a_spawned_robot_is_published_as_well(client: CameraClient) -> None:
    response = spawn(client, text=GUEST, name="guest", initial_pose=at(0.0, 2.0, 0.5))
    assert response.result.result == 1, response.result
    received = client.listener.record(CameraInfo, "/guest/camera/eye/camera_info")
    assert client.listener.spin_until(lambda: len(received) > 0)


def test_arguments_for_the_node_of_the_process_are_found(tmp_path: Path) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text("/there/mujoco_cameras: {ros__parameters: {looks: plain}}\n")
    for arguments in (
        ["-p", "mujoco_cameras:looks:=plain"],
        ["-r", "mujoco_cameras:contacts:=touches"],
        ["--params-file", str(file)],
    ):
        assert names_node(["--ros-args", *arguments], "mujoco_cameras")
    others = ["-p", "cameras:=true", "-r", "mujoco:contacts:=touches"]
    assert not names_node(["--ros-args", *others], "mujoco_cameras")
