"""One renderer for all cameras, and cameras without one."""

from typing import Any, ClassVar

import mujoco
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo

from mujoco_ros.bridge.diagnostics.report import ERROR
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros import camera as module
from mujoco_ros.cameras.ros.camera import CameraSource, SharedRenderer
from mujoco_ros.cameras.ros.source import StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.cameras import Camera, Intrinsics
from mujoco_ros.rendering.gl import PLAIN, RICH, RenderingError
from mujoco_ros.rendering.segmentation import Segmentation

MODEL, OTHER = (
    mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><camera/><geom size='1'/></worldbody></mujoco>"
    )
    for _ in range(2)
)
CAMERA = Camera(
    name="eye",
    namespace="",
    frame="eye_optical_frame",
    camera=0,
    body=0,
    width=8,
    height=6,
    intrinsics=Intrinsics(fx=5.0, fy=5.0, cx=3.5, cy=2.5),
)


class Renderer:
    """Records its models."""

    backend, device, is_software, quality = "EGL", "a processor", True, None
    models: ClassVar[list[mujoco.MjModel]] = []

    def __init__(self, model: mujoco.MjModel, backend: str) -> None:
        self.set_model(model)

    def set_model(self, model: mujoco.MjModel) -> None:
        self.models.append(model)


class Opened:
    """Publishers with a subscription, which record their messages."""

    def __init__(self) -> None:
        self.published: dict[str, list[Any]] = {}

    def open(self, _kind: type, topic: str, _qos: object) -> TopicPublisher:
        publisher = TopicPublisher(topic)
        publisher.publish = self.published.setdefault(topic, []).append
        publisher.subscriptions = 1
        return publisher


@pytest.fixture
def without_opengl(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise RenderingError("OpenGL is not available; install libegl1")

    monkeypatch.setattr(module, "Renderer", refuse)


def test_nothing_is_opened_before_an_image_is_subscribed_and_each_model_uploaded_once(monkeypatch):
    monkeypatch.setattr(module, "Renderer", Renderer)
    Renderer.models = []
    shared = SharedRenderer("auto")
    assert shared.report().text == "no image was subscribed yet"
    first = shared.get(MODEL)
    assert [shared.get(model) for model in (MODEL, OTHER, OTHER)] == [first] * 3
    assert Renderer.models == [MODEL, OTHER]
    assert shared.report().text == "EGL on a processor"


def test_a_cpu_renders_with_plain_quality_unless_the_parameter_is_rich(monkeypatch):
    monkeypatch.setattr(module, "Renderer", Renderer)
    shared = SharedRenderer("auto")
    renderer = shared.get(MODEL)
    assert renderer.quality is PLAIN
    for values in ({"looks": "rich"}, {"camera.eye.rate": 1.0}):
        shared.set_parameters(values)
        assert shared.get(MODEL).quality is RICH


def test_another_model_can_be_rendered_after_one_that_cannot(
    without_opengl: None, monkeypatch
) -> None:
    shared = SharedRenderer("auto")
    assert shared.get(MODEL) is None
    monkeypatch.setattr(module, "Renderer", Renderer)
    assert shared.get(MODEL) is None
    assert shared.failure
    assert shared.get(OTHER) is not None
    assert not shared.failure


def test_without_opengl_one_message_is_logged_and_cameras_publish_their_calibration(
    without_opengl: None, caplog: pytest.LogCaptureFixture
) -> None:
    shared, opened = SharedRenderer("auto"), Opened()
    camera = CameraSource(CAMERA, Segmentation(MODEL), opened, shared, 0)
    data, layout = (
        mujoco.MjData(MODEL),
        ModelLayout(robots=(), free_objects=(), cameras=(), lidars=()),
    )
    for _ in range(2):
        camera.publish(
            StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time(sec=3))
        )
    (message,) = [record.getMessage() for record in caplog.records]
    assert message == "cameras publish no images: OpenGL is not available; install libegl1"
    assert camera.warning == shared.report().text == shared.failure
    assert shared.report().level == ERROR
    sent = {topic.removeprefix("camera/eye/"): len(m) for topic, m in opened.published.items()}
    assert {topic for topic, count in sent.items() if count} == {
        "camera_info",
        "depth/camera_info",
    }
    info = opened.published["camera/eye/camera_info"][-1]
    assert isinstance(info, CameraInfo)
    assert info.header.stamp.sec == 3
    assert not camera.counts


class TooLarge(Renderer):
    """Cannot render, as long as it has no memory."""

    has_memory: ClassVar[bool] = False

    def frame(self, *_arguments: object) -> None:
        if self.has_memory:
            raise ValueError("this image cannot be rendered for another reason")
        raise RenderingError("an image of 8 x 6 pixels is too large for a processor")


def test_an_image_that_cannot_be_rendered_disables_only_its_camera(
    monkeypatch,
) -> None:
    monkeypatch.setattr(module, "Renderer", TooLarge)
    shared, opened = SharedRenderer("auto"), Opened()
    camera = CameraSource(CAMERA, Segmentation(MODEL), opened, shared, 0)
    data, layout = (
        mujoco.MjData(MODEL),
        ModelLayout(robots=(), free_objects=(), cameras=(), lidars=()),
    )
    camera.publish(StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time()))
    assert camera.warning == "an image of 8 x 6 pixels is too large for a processor"
    assert opened.published["camera/eye/camera_info"]
    assert not opened.published["camera/eye/image_raw"]
    assert not camera.counts
    assert not shared.failure, "other cameras continue"
    monkeypatch.setattr(TooLarge, "has_memory", True)
    with pytest.raises(ValueError, match="another reason"):
        camera.publish(StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time()))
    assert not camera.warning, "a warning ends with its reason"
