"""The camera process starts with the first subscription of one of its topics.

The tests share a simulator and depend on their order.
"""

import pytest
from camera_client import CameraClient, write_camera_scene
from sensor_msgs.msg import CameraInfo
from simulator_client import PAUSED, PLAYING
from simulators import SimulatorLauncher
from spawn_requests import at, spawn

from mujoco_ros.bridge.ros_arguments import names_topics_by_node

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
}


@pytest.fixture(scope="module")
def client(
    start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory
) -> CameraClient:
    scene = write_camera_scene(tmp_path_factory.mktemp("looker"))
    return CameraClient(start_shared, scene, real_time_factor=0.5, cameras_at_start="false")


def publishers(client: CameraClient, topic: str) -> list[str]:
    """Return the nodes that publish a topic."""
    return [info.node_name for info in client.listener.node.get_publishers_info_by_topic(topic)]


def topics(client: CameraClient, prefix: str) -> dict[str, str]:
    """Return the topics below a prefix with their types."""
    found = client.listener.node.get_topic_names_and_types()
    return {name.removeprefix(prefix): types[0] for name, types in found if name.startswith(prefix)}


def test_without_a_subscription_all_topics_exist_and_no_process(client: CameraClient) -> None:
    assert topics(client, "/camera/front/") == FRAMES
    assert topics(client, "/lidar/") == {"belt/scan": "sensor_msgs/msg/LaserScan"}
    for topic in ("/contacts", "/camera/oblique/image_raw", "/lidar/belt/scan"):
        assert publishers(client, topic) == ["mujoco"]
    assert client.row("mujoco: child processes")["cameras process"] == "none"


def test_the_topics_follow_the_model(client: CameraClient) -> None:
    response = spawn(client, text=GUEST, name="guest", initial_pose=at(0.0, 2.0, 0.5))
    assert response.result.result == 1, response.result
    assert client.listener.spin_until(lambda: topics(client, "/guest/camera/eye/") == FRAMES)
    assert client.call("DeleteEntity", entity="guest").result.result == 1
    assert client.listener.spin_until(lambda: not topics(client, "/guest/camera/eye/"))
    assert client.row("mujoco: child processes")["cameras process"] == "none"


def test_a_subscription_in_a_pause_starts_the_process_which_publishes_alone(
    client: CameraClient,
) -> None:
    client.ensure_state(PAUSED)
    received = client.listener.record(CameraInfo, "/camera/front/camera_info")
    assert client.listener.spin_until(lambda: len(received) > 0)
    assert client.row("mujoco: child processes")["cameras process"] != "none"
    for topic in ("/contacts", "/camera/front/camera_info", "/lidar/belt/scan"):
        assert client.listener.spin_until(
            lambda topic=topic: publishers(client, topic) == ["mujoco_cameras"]
        )
    client.ensure_state(PLAYING)
    assert topics(client, "/camera/front/").keys() >= FRAMES.keys()
    response = spawn(client, text=GUEST, name="guest", initial_pose=at(0.0, 2.0, 0.5))
    assert response.result.result == 1, response.result
    assert client.listener.spin_until(
        lambda: publishers(client, "/guest/camera/eye/image_raw") == ["mujoco_cameras"]
    )


def test_topics_that_only_one_of_the_nodes_renames_are_left_to_the_process() -> None:
    assert names_topics_by_node(["--ros-args", "-r", "mujoco_cameras:contacts:=touches"])
    assert names_topics_by_node(["--ros-args", "-r", "mujoco_cameras:__ns:=/there"])
    assert names_topics_by_node(["--ros-args", "--remap", "mujoco:contacts:=touches"])
    assert not names_topics_by_node(["--ros-args", "-p", "mujoco_cameras:looks:=plain"])
    assert not names_topics_by_node(["--ros-args", "-r", "mujoco_cameras:__node:=cam"])
    assert not names_topics_by_node(["--ros-args", "-r", "contacts:=touches", "-r", "__ns:=/"])
