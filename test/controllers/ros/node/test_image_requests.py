"""The next image of a camera, and the pose of the camera."""

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo, Image

from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.ros.node.image_requests import ImageRequests
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.conversions import stamp

CAMERA = "camera/wrist_camera"


class Wires:
    """Topics of a test."""

    def __init__(self) -> None:
        self.open: dict[str, object] = {}
        self.timers: list[object] = []
        self.triggers = 0

    def publisher(self, _kind, topic, _qos):
        def publish(_message) -> None:
            self.triggers += 1

        self.open[topic] = None
        return SimpleNamespace(publish=publish, topic=topic)

    def subscription(self, _kind, topic, callback, _qos, *, raw):
        assert raw
        self.open[topic] = callback
        return topic

    def close(self, endpoint) -> None:
        del self.open[getattr(endpoint, "topic", endpoint)]

    def later(self, _seconds, call) -> None:
        self.timers.append(call)

    def publish(self, topic: str, message, time: float) -> None:
        message.header.stamp = stamp(time)
        self.open[f"{CAMERA}/{topic}"](serialize_message(message))


@pytest.fixture(scope="module")
def arm():
    return Plant(assemble(load_scene("arm")), lambda _event: None)


def depth_image(encoding: str, pixels: np.ndarray) -> Image:
    height, width = pixels.shape
    return Image(
        encoding=encoding,
        height=height,
        width=width,
        step=pixels.strides[0],
        data=pixels.tobytes(),
    )


def seen(arm: Plant, time: float, wrist: float) -> Observation:
    q = arm.start.qpos[arm.layout.robots[0].joints.qpos].copy()
    q[5] = wrist
    return Observation(time=time, q=q, dq=np.zeros(8), effort=np.zeros(8))


def test_an_image_is_the_first_after_its_request_with_the_pose_at_its_stamp(arm):
    wires = Wires()
    images = ImageRequests(wires, arm.layout, 0, robot_model(arm, 0))
    for time, wrist in ((1.0, -1.5), (1.1, -1.0), (1.2, -0.5)):
        images.observe(seen(arm, time, wrist))
    future = images.request("wrist_camera")
    matrix = [9.0, 0.0, 1.0, 0.0, 9.0, 0.5, 0.0, 0.0, 1.0]
    colour = Image(encoding="bgr8", height=1, width=2, step=6, data=[1, 2, 3, 4, 5, 6])
    depth = depth_image("16UC1", np.array([[1500, 0]], dtype=np.uint16))
    for time in (1.19, 1.31):
        assert not future.done(), "an image before the request does not count"
        wires.publish("camera_info", CameraInfo(k=matrix), time)
        wires.publish("image_raw", colour, time)
        wires.publish("depth/image_rect_raw", depth, time)
    image = future.result(timeout=0)
    assert image.time == pytest.approx(1.31)
    np.testing.assert_allclose(image.depth, [[1.5, np.inf]])
    assert image.colour.tolist() == [[[3, 2, 1], [6, 5, 4]]]
    assert image.matrix.tolist() == [[9, 0, 1], [0, 9, 0.5], [0, 0, 1]]
    turned = ImageRequests(wires, arm.layout, 0, robot_model(arm, 0))
    again = turned._pose(images._cameras["wrist_camera"], seen(arm, 1.2, -0.5))
    np.testing.assert_allclose(image.pose.position, again.position)
    assert image.pose.matrix[2, 2] < -0.7, "it points downwards"
    wires.timers[0]()
    assert wires.open == {}, "there was no request since"


def test_an_unknown_camera_and_a_wrong_encoding_are_reported(arm):
    wires = Wires()
    images = ImageRequests(wires, arm.layout, 0, robot_model(arm, 0))
    with pytest.raises(LookupError, match="camera 'x' not found"):
        images.request("x").result(timeout=0)
    future = images.request("wrist_camera")
    wires.publish("camera_info", CameraInfo(), 1.0)
    wires.publish("image_raw", Image(encoding="mono8"), 1.0)
    wires.publish("depth/image_rect_raw", depth_image("8UC1", np.zeros((1, 1), np.uint8)), 1.0)
    with pytest.raises(
        ValueError, match="the encoding of a depth image is 8UC1, not 32FC1 or 16UC1"
    ):
        future.result(timeout=0)
    silent = images.request("wrist_camera")
    wires.timers[-1]()
    with pytest.raises(TimeoutError, match="camera 'wrist_camera' published no image"):
        silent.result(timeout=0)


def publish(wires: Wires, time: float) -> None:
    """Publish an image with a depth of 2 m."""
    wires.publish("camera_info", CameraInfo(), time)
    wires.publish(
        "image_raw", Image(encoding="rgb8", height=1, width=1, step=3, data=[1, 2, 3]), time
    )
    wires.publish("depth/image_rect_raw", depth_image("32FC1", np.array([[2.0]], np.float32)), time)


def test_in_lockstep_an_image_shows_the_tick_of_its_request_and_arrives_at_a_fixed_tick(arm):
    wires, changes = Wires(), []
    images = ImageRequests(
        *(wires, arm.layout, 0, robot_model(arm, 0)),
        lockstep=True,
        changed=lambda: changes.append(images.busy),
    )
    time = 35 * 0.01  # differs from its stamp in the last bit
    images.observe(seen(arm, time, -1.0))
    late, soon = images.request("wrist_camera"), images.request("wrist_camera")
    assert wires.triggers == 2
    publish(wires, 0.34)
    publish(wires, 0.36)
    assert images.busy, "these show other states"
    for timer in wires.timers[1:4:2]:
        timer()
    assert wires.triggers == 4, "the images are requested again"
    images.deliver(0.36, [])
    publish(wires, 0.35)
    assert changes[-1:] == [False]
    assert not images.busy
    images.deliver(0.36, [soon])
    assert soon.result(timeout=0).time == time
    images.deliver(0.44, [])
    assert not late.done()
    images.deliver(0.45, [])
    assert late.result(timeout=0).depth.tolist() == [[2.0]]


def test_in_lockstep_a_camera_without_images_ends_the_wait_with_an_error(arm):
    wires = Wires()
    images = ImageRequests(wires, arm.layout, 0, robot_model(arm, 0), lockstep=True)
    images.observe(seen(arm, 1.0, -1.0))
    image = images.request("wrist_camera")
    wires.timers[0]()
    assert not images.busy
    images.deliver(1.1, [])
    with pytest.raises(TimeoutError, match="camera 'wrist_camera' published no image"):
        image.result(timeout=0)
    wires.timers[-1]()
    assert wires.open == {}
