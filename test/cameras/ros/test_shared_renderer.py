"""One renderer for all cameras; and what becomes of them where there is none."""

from typing import Any, ClassVar

import mujoco
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import String

from mujoco_ros.bridge.diagnostics.report import ERROR
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros import shared_renderer as drawing
from mujoco_ros.cameras.ros.camera import CameraSource
from mujoco_ros.cameras.ros.shared_renderer import SharedRenderer
from mujoco_ros.cameras.ros.source import StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.cameras import Camera, Intrinsics
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.quality import PLAIN, RICH
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
    """Notes which models it was made for."""

    backend, device, is_software, looks = "EGL", "a processor", True, None
    models: ClassVar[list[mujoco.MjModel]] = []

    def __init__(self, model: mujoco.MjModel, backend: str) -> None:
        self.resize(model)

    def resize(self, model: mujoco.MjModel) -> None:
        self.models.append(model)


class Opened:
    """Outlets that keep what is published, and to which somebody listens."""

    def __init__(self) -> None:
        self.published: dict[str, list[Any]] = {}

    def open(self, _kind: type, topic: str, _qos: object) -> TopicPublisher:
        publisher = TopicPublisher(topic)
        publisher.publish = self.published.setdefault(topic, []).append
        publisher.subscriptions = 1
        return publisher


@pytest.fixture
def no_opengl(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise RenderingError("there is no OpenGL; install libegl1")

    monkeypatch.setattr(drawing, "Renderer", refuse)


def test_nothing_is_opened_before_a_picture_is_wanted_and_each_model_uploaded_once(monkeypatch):
    monkeypatch.setattr(drawing, "Renderer", Renderer)
    Renderer.models = []
    drawn = SharedRenderer("auto")
    assert drawn.report().text == "no picture was wanted yet"
    first = drawn.renderer(MODEL)
    assert [drawn.renderer(model) for model in (MODEL, OTHER, OTHER)] == [first] * 3
    assert Renderer.models == [MODEL, OTHER]
    assert drawn.report().text == "EGL on a processor"


def test_a_processor_draws_plainly_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr(drawing, "Renderer", Renderer)
    drawn = SharedRenderer("auto")
    renderer = drawn.renderer(MODEL)
    assert renderer.looks is PLAIN
    for values in ({"looks": "rich"}, {"camera.eye.rate": 1.0}):
        drawn.change(values)
        assert drawn.renderer(MODEL).looks is RICH


def test_what_one_model_lacks_another_may_have(no_opengl: None, monkeypatch) -> None:
    drawn = SharedRenderer("auto")
    assert drawn.renderer(MODEL) is None
    monkeypatch.setattr(drawing, "Renderer", Renderer)
    assert drawn.renderer(MODEL) is None
    assert drawn.failure
    assert drawn.renderer(OTHER) is not None
    assert not drawn.failure


def test_without_opengl_one_message_says_so_and_cameras_still_tell_how_they_project(
    no_opengl: None, caplog: pytest.LogCaptureFixture
) -> None:
    drawn, opened = SharedRenderer("auto"), Opened()
    eye = CameraSource(CAMERA, Segmentation(MODEL), String(), opened, drawn, 0)
    data, layout = (
        mujoco.MjData(MODEL),
        ModelLayout(robots=(), free_objects=(), cameras=(), lidars=()),
    )
    for _ in range(2):
        eye.take(StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time(sec=3)))
    (message,) = [record.getMessage() for record in caplog.records]
    assert message == "cameras give no pictures: there is no OpenGL; install libegl1"
    assert eye.remark == drawn.report().text == drawn.failure
    assert drawn.report().level == ERROR
    sent = {topic.removeprefix("camera/eye/"): len(m) for topic, m in opened.published.items()}
    assert {topic for topic, count in sent.items() if count} == {
        "camera_info",
        "depth/camera_info",
        "segmentation/legend",
    }
    info = opened.published["camera/eye/camera_info"][-1]
    assert isinstance(info, CameraInfo)
    assert info.header.stamp.sec == 3
    assert not eye.counts


class TooLarge(Renderer):
    """Refuses every picture, as long as it has no room."""

    has_room: ClassVar[bool] = False

    def shot(self, *_arguments: object) -> None:
        if self.has_room:
            raise ValueError("this picture cannot be drawn for another reason")
        raise RenderingError("a picture of 8 x 6 pixels is too large for a processor")


def test_a_picture_that_is_refused_leaves_out_this_camera_s_pictures_alone(monkeypatch) -> None:
    monkeypatch.setattr(drawing, "Renderer", TooLarge)
    drawn, opened = SharedRenderer("auto"), Opened()
    eye = CameraSource(CAMERA, Segmentation(MODEL), String(), opened, drawn, 0)
    data, layout = (
        mujoco.MjData(MODEL),
        ModelLayout(robots=(), free_objects=(), cameras=(), lidars=()),
    )
    eye.take(StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time()))
    assert eye.remark == "a picture of 8 x 6 pixels is too large for a processor"
    assert opened.published["camera/eye/camera_info"]
    assert not opened.published["camera/eye/image_raw"]
    assert not eye.counts
    assert not drawn.failure, "other cameras go on"
    monkeypatch.setattr(TooLarge, "has_room", True)
    with pytest.raises(ValueError, match="another reason"):
        eye.take(StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time()))
    assert not eye.remark, "what was refused once is not told for ever"
