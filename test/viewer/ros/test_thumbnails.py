"""Images of cameras, from any publisher."""

from types import SimpleNamespace

import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image

from mujoco_ros.viewer.clients import ImageKey, ImageKind
from mujoco_ros.viewer.ros.thumbnails import ThumbnailSubscriber


@pytest.fixture
def received():
    """A subscriber, and the functions that receive the images of a topic."""
    receivers = {}

    def subscription(_kind, topic, receive, _qos, **_options):
        receivers[topic] = receive

    subscriber = ThumbnailSubscriber(SimpleNamespace(subscription=subscription))
    return subscriber, receivers


def test_an_image_that_cannot_be_shown_is_logged_once_and_the_other_cameras_go_on(received, caplog):
    subscriber, receivers = received
    keys = [ImageKey(("", name), ImageKind.COLOUR, 320) for name in ("odd", "usual")]
    for key in keys:
        subscriber._subscribe(key)
    pixel = {"height": 1, "width": 1, "step": 3, "data": bytes(3)}
    for now in (1.0, 2.0):
        receivers["camera/odd/image_raw"](serialize_message(Image(encoding="bayer_rggb8", **pixel)))
        receivers["camera/usual/image_raw"](serialize_message(Image(encoding="rgb8", **pixel)))
        subscriber.tick(now)
    assert [key for key in keys if key in subscriber.newest] == keys[1:]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "'odd' are not shown: the encoding of an image is bayer_rggb8" in caplog.text
