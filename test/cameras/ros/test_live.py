"""The topics of cameras and lidars of a running simulator."""

import json
import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from camera_client import (
    CRATE,
    CRATE_HALF,
    MARKER,
    CameraClient,
    CameraRecordings,
    pixels,
    write_camera_scene,
)
from cv_bridge import CvBridge
from rclpy.serialization import deserialize_message
from simulator_client import PAUSED, PLAYING
from simulators import WAIT_LIMIT_S, SimulatorLauncher, stamps_of, steps_of
from spawn_requests import at, spawn
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.rendering.gl import RenderingError, open_context

try:
    open_context().close()
except RenderingError as error:
    pytest.skip(f"no EGL or OSMesa here: {error}", allow_module_level=True)

STEP_S = 0.002
GUEST = """
<mujoco model="guest">
  <worldbody>
    <body name="trunk">
      <joint name="nod" axis="0 1 0"/><geom size="0.05" mass="1"/>
      <camera name="eye" pos="0.2 0 0" xyaxes="0 -1 0 0 0 1" resolution="32 24"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def shared(
    start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory
) -> CameraClient:
    scene = write_camera_scene(tmp_path_factory.mktemp("looker"))
    return CameraClient(start_shared, scene, real_time_factor=0.5)


@pytest.fixture
def client(shared: CameraClient) -> Iterator[CameraClient]:
    """The simulator of all these tests, playing; its cameras have no subscription afterwards."""
    shared.ensure_state(PLAYING)
    yield shared
    shared.unsubscribe_images()


@pytest.mark.parametrize(
    ("topic", "problem"),
    [
        ("joint_states", "the topic '/joint_states' would be sensor_msgs/msg/JointState"),
        ("cmd_vel", "the topic '/cmd_vel' would be geometry_msgs/msg/TwistStamped"),
        ("contacts", "two of cameras, lidars and contacts would publish on 'contacts'"),
    ],
)
def test_a_lidar_cannot_have_the_topic_of_something_else(
    start: SimulatorLauncher, tmp_path: Path, topic: str, problem: str
) -> None:
    rover = tmp_path / "rover.yaml"
    rover.write_text(
        "robots:\n"
        "  - name: rover\n"
        "    model: package://mujoco_ros/urdf_mjcf/rover/rover.xml\n"
        f"    lidars: [{{name: top, body: base_link, topic: {topic}}}]\n"
    )
    simulator = start.simulator(scene=rover, cameras="true")
    assert simulator.process.wait(WAIT_LIMIT_S) == 1
    assert problem in simulator.log


def of_one_frame(seen: CameraRecordings, topic: str) -> object:
    return seen.by_stamp(topic)[seen.common()[-1]]


def test_all_topics_of_a_frame_have_one_stamp_and_the_right_content(client: CameraClient) -> None:
    seen, legend = client.subscribe("/camera/front"), client.legend("/camera/front")
    assert client.wait_for_frames(seen, frames=3)
    colour, depth, info = (
        of_one_frame(seen, topic) for topic in ("image_raw", "depth/image_rect_raw", "camera_info")
    )
    segments, cloud, compressed = (
        of_one_frame(seen, topic)
        for topic in ("segmentation/image_raw", "depth/points", "image_raw/compressed")
    )
    assert [m.encoding for m in (colour, depth, segments)] == ["rgb8", "32FC1", "16UC1"]
    for message in (colour, depth, segments, cloud, info):
        assert (message.width, message.height) == (160, 120)
        assert message.header.frame_id == "front_optical_frame"
    assert of_one_frame(seen, "depth/camera_info") == info
    # Every frame is of a step, and the first one at or after its time.
    steps = steps_of([seen.by_stamp("image_raw")[stamp] for stamp in seen.common()], STEP_S)
    assert len({30 * step // round(1 / STEP_S) for step in steps}) == len(steps)

    bgr = CvBridge().compressed_imgmsg_to_cv2(compressed)
    assert compressed.format == "rgb8; jpeg compressed bgr8"
    plain = cv2.cvtColor(pixels(colour), cv2.COLOR_RGB2BGR)
    assert np.abs(bgr.astype(int) - plain).mean() < 3

    labels = {int(n): label for n, label in json.loads(legend.messages[0].data).items()}
    red = pixels(colour)[:, :, 0] > 200
    red &= pixels(colour)[:, :, 1] < 50
    assert red.sum() > 5
    (numbers, counts) = np.unique(pixels(segments)[red], return_counts=True)
    assert labels[int(numbers[counts.argmax()])]["name"] == "marker"

    points = np.frombuffer(cloud.data, np.float32).reshape(120, 160, 4)
    hit = np.isfinite(pixels(depth))
    assert hit.any()
    assert (points[..., 2][hit] == pixels(depth)[hit]).all()
    assert np.isnan(points[..., :3][~hit]).all()


@pytest.mark.parametrize("fovy", [60.0, 80.0])
def test_a_marker_is_visible_at_its_projection_by_calibration_and_frames(
    client: CameraClient, fovy: float
) -> None:
    """Also after the angle of view has changed."""
    assert client.set_camera_parameters({"camera.front.fovy": fovy})[0].successful
    seen = client.subscribe("/camera/front", "image_raw", "camera_info")

    def angles() -> list[float]:
        heights = [(info.height / 2, info.k[4]) for info in seen.by_stamp("camera_info").values()]
        return [2.0 * math.degrees(math.atan2(*height)) for height in heights]

    assert client.listener.spin_until(lambda: pytest.approx(fovy) in angles())
    assert client.wait_for_frames(seen, frames=24)  # two fifths of a swing
    places = []
    for stamp in seen.common():
        rotation, position = client.pose("front_optical_frame", stamp)
        k = np.array(seen.by_stamp("camera_info")[stamp].k).reshape(3, 3)
        u, v, w = k @ rotation.T @ (MARKER - position)
        image = pixels(seen.by_stamp("image_raw")[stamp])
        rows, columns = np.nonzero((image[:, :, 0] > 200) & (image[:, :, 1] < 50))
        assert len(rows) > 5
        assert np.hypot(columns.mean() - u / w, rows.mean() - v / w) < 1.0
        places.append(u / w)
    assert np.ptp(places) > 5.0, "the camera hardly moved"


def test_depth_and_cloud_are_of_the_crate_within_two_millimetres(client: CameraClient) -> None:
    """A camera of the scene in millimetres, whose principal point is off the centre."""
    topics = ("depth/image_rect_raw", "camera_info", "depth/points")
    seen = client.subscribe("/camera/oblique", *topics)
    assert client.wait_for_frames(seen)
    depth, info, cloud = (of_one_frame(seen, topic) for topic in topics)
    assert info.k.take([0, 4, 2, 5]) == pytest.approx([130.0, 128.0, 75.0, 62.0], rel=1e-6)
    rotation, position = client.pose("oblique_optical_frame", seen.common()[-1])
    points = np.frombuffer(cloud.data, np.float32).reshape(-1, 4)[:, :3]
    assert depth.encoding == "16UC1"
    flat = pixels(depth).ravel()
    near = np.isfinite(points).all(axis=1)
    assert (np.abs(1000 * points[near, 2] - flat[near]) <= 0.51).all()

    world = points[near] @ rotation.T + position
    apart = np.abs(world - CRATE) - CRATE_HALF  # beyond the faces, by axis
    distance = np.hypot.reduce(np.maximum(apart, 0.0), axis=1) + np.minimum(apart.max(axis=1), 0.0)
    crate = (world[:, 2] > 0.01) & (distance < 0.1)
    assert crate.sum() > 500
    assert np.abs(distance[crate]).max() < 2e-3
    for axis, side in ((0, -1), (1, 1), (2, 1)):  # the three visible faces
        face = CRATE[axis] + side * CRATE_HALF[axis]
        assert (np.abs(world[crate, axis] - face) < 2e-3).sum() > 50
    beside = (distance > 0.01) & (world[:, 2] < 0.1) & (world[:, 0] < 2)
    assert beside.sum() > 500
    assert np.abs(world[beside, 2]).max() < 2e-3  # the floor


def test_a_lidar_scans_without_rendering(client: CameraClient) -> None:
    scans = client.scan("/lidar/belt")
    assert client.listener.spin_until(lambda: len(scans) >= 3)
    scan = scans.latest
    assert (scan.header.frame_id, len(scan.ranges), len(scan.intensities)) == ("belt", 90, 90)
    assert scan.angle_increment == pytest.approx(2 * np.pi / 90)
    rotation, position = client.pose("belt", stamps_of([scan])[0])
    angles = scan.angle_min + scan.angle_increment * np.arange(90)
    ranges = np.array(scan.ranges)
    hit = np.isfinite(ranges)
    rays = np.stack([np.cos(angles), np.sin(angles), np.zeros(90)], axis=1)
    ends = (ranges[hit, None] * rays[hit]) @ rotation.T + position
    front = np.abs(ends[:, 0] - (CRATE[0] - CRATE_HALF[0])) < 1e-3
    assert front.sum() >= 3
    assert np.abs(ends[front, 1]).max() < CRATE_HALF[1] + 1e-3


def test_topics_without_a_subscription_are_never_computed(client: CameraClient) -> None:
    spare = client.row("mujoco: camera/spare")
    computed = {k: n for k, n in spare.items() if k.startswith("frames")}
    assert set(computed.values()) == {"0"}
    assert len(computed) == 4
    seen = client.subscribe("/camera/front", "image_raw")
    assert client.wait_for_frames(seen, frames=2)
    name = "mujoco: camera/front"
    assert client.listener.spin_until(lambda: int(client.row(name)["frames: colour"]) > 0)
    client.unsubscribe_images()
    assert client.listener.spin_until(lambda: client.row(name)["subscriptions"] == "0")
    frames = client.row(name)["frames"]
    client.listener.spin_for(0.5)
    assert client.row(name)["frames"] == frames


def test_a_rate_is_set_at_run_time_and_an_invalid_one_is_refused(client: CameraClient) -> None:
    (refused,) = client.set_camera_parameters({"camera.front.rate": -1.0})
    assert not refused.successful
    assert "'camera.front.rate' cannot be -1.0" in refused.reason
    (accepted,) = client.set_camera_parameters({"camera.front.rate": 5.0})
    assert accepted.successful
    seen = client.subscribe("/camera/front", "image_raw")
    assert client.wait_for_frames(seen, frames=4)
    steps = np.array(steps_of(list(seen.by_stamp("image_raw").values()), STEP_S))
    # There is at most one frame for each fifth of a second, even if frames are late.
    assert (np.diff(steps // 100) >= 1).all()
    client.set_camera_parameters({"camera.front.rate": 0.0})
    off = "off: its rate is 0"
    assert client.listener.spin_until(lambda: client.row("mujoco: camera/front")[""] == off)
    client.set_camera_parameters({"camera.front.rate": 30.0})


def test_the_scans_of_a_lidar_are_lost_and_arrive_again_as_its_parameters_ask(
    client: CameraClient,
) -> None:
    lost = "lidar.belt.delivery.dropout"
    (refused,) = client.set_camera_parameters({lost: 1.5})
    assert not refused.successful
    (accepted,) = client.set_camera_parameters({lost: 1.0})
    assert accepted.successful
    scans = client.scan("/lidar/belt")
    name = "mujoco: lidar/belt"
    before = int(client.row(name)["lost in delivery"])
    assert client.listener.spin_until(
        lambda: int(client.row(name)["lost in delivery"]) >= before + 5
    )
    while_lost = len(scans)
    assert client.set_camera_parameters({lost: 0.0, "lidar.belt.delivery.delay": 0.2})[1].successful
    assert client.listener.spin_until(lambda: len(scans) >= while_lost + 3)
    assert client.set_camera_parameters({"lidar.belt.delivery.delay": 0.0})[0].successful


def test_in_a_pause_a_new_subscription_gets_the_current_image(client: CameraClient) -> None:
    client.ensure_state(PAUSED)
    first = client.subscribe("/camera/front", "image_raw", "camera_info")
    assert client.wait_for_frames(first)
    again = client.subscribe("/camera/front", "image_raw", "camera_info")
    assert client.wait_for_frames(again)
    assert again.common() == first.common()
    client.call("ResetSimulation")
    assert client.wait_for_frames(again, frames=2), "a reset in a pause is not shown"
    assert again.common()[0] == (0, 0)


def test_contact_forces_sum_to_the_weight_of_the_objects_on_the_floor(client: CameraClient) -> None:
    contacts = client.listener.record(MarkerArray, "/contacts", reliable=True)
    assert client.listener.spin_until(lambda: len(contacts) > 2)
    markers = deserialize_message(contacts.raw[-1], MarkerArray).markers
    (arrow,) = [m for m in markers if m.type == Marker.ARROW and m.action == Marker.ADD]
    start, end = arrow.points
    weight = 4 / 3 * np.pi * 0.1**3 * 1000 * 9.81
    assert (arrow.ns, arrow.header.frame_id) == ("objects/forces", "world")
    assert (start.x, start.z) == pytest.approx((-1, 0), abs=1e-3)
    assert end.z - start.z == pytest.approx(0.002 * weight, rel=1e-2)


def test_the_camera_of_a_robot_appears_and_disappears_with_it(client: CameraClient) -> None:
    old = client.subscribe("/camera/front", "image_raw")
    assert client.wait_for_frames(old)
    response = spawn(client, text=GUEST, name="guest", initial_pose=at(0.0, 2.0, 0.5))
    assert response.result.result == 1, response.result
    seen = client.subscribe("/guest/camera/eye", "image_raw", "camera_info")
    assert client.wait_for_frames(seen)
    info = of_one_frame(seen, "camera_info")
    assert (info.width, info.header.frame_id) == (32, "guest/eye_optical_frame")
    frames = len(old.recordings["image_raw"])
    assert client.listener.spin_until(lambda: len(old.recordings["image_raw"]) > frames + 3)
    assert client.call("DeleteEntity", entity="guest").result.result == 1
    topic = "/guest/camera/eye/image_raw"
    node = client.listener.node
    assert client.listener.spin_until(lambda: node.count_publishers(topic) == 0)
    frames = len(old.recordings["image_raw"])
    assert client.listener.spin_until(lambda: len(old.recordings["image_raw"]) > frames + 3)


def test_a_killed_camera_process_is_restarted_and_subscriptions_continue(
    client: CameraClient,
) -> None:
    seen = client.subscribe("/camera/front", "image_raw")
    assert client.wait_for_frames(seen)
    os.kill(int(client.row("mujoco: child processes")["cameras process"]), signal.SIGKILL)
    client.listener.spin_for(0.5)
    frames = len(seen.recordings["image_raw"])
    assert client.listener.spin_until(lambda: len(seen.recordings["image_raw"]) > frames + 3)
