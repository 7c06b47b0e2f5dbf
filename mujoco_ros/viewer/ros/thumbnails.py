"""Downsampled camera images of the subscribed cameras."""

from dataclasses import dataclass
from itertools import count

import numpy as np
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import Image

from mujoco_ros.bridge.publishing.topics import SENSOR
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.model.naming import topic_token, within
from mujoco_ros.viewer.clients import CameraKey, Thumbnail

_MAX_WIDTH = 320
"""Width of a thumbnail [px]."""
_PERIOD_S = 0.1
"""Images arrive at the rate of the camera and are deserialized at most this often."""


@dataclass
class _SubscribedCamera:
    subscription: Subscription
    serialized: bytes | None = None
    due_at: float = 0.0


class ThumbnailSubscriber:
    """Subscribes to camera images; any thread may call `subscribe` and `unsubscribe`.

    Attributes:
        newest: The newest image of each subscribed camera.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        self.newest: dict[CameraKey, Thumbnail] = {}
        self._endpoints = endpoints
        self._numbers = count(1)
        self._cameras: dict[CameraKey, _SubscribedCamera] = {}

    def subscribe(self, camera: CameraKey) -> None:
        """Subscribe to the images of a camera."""
        later(self._endpoints.node, self._subscribe, camera)

    def unsubscribe(self, camera: CameraKey) -> None:
        """End the subscription."""
        later(self._endpoints.node, self._unsubscribe, camera)

    def tick(self, now: float) -> None:
        """Deserialize the received images that are due; `now` is monotonic [s]."""
        for key, camera in self._cameras.items():
            if camera.serialized is None or now < camera.due_at:
                continue
            camera.due_at = now + _PERIOD_S
            image, camera.serialized = deserialize_message(camera.serialized, Image), None
            self.newest[key] = _thumbnail(image, next(self._numbers))

    def _subscribe(self, key: CameraKey) -> None:
        if key in self._cameras:
            return
        namespace, name = key

        def receive(serialized: bytes) -> None:
            if (camera := self._cameras.get(key)) is not None:
                camera.serialized = serialized

        topic = within(namespace, "camera", topic_token(name), "image_raw")
        self._cameras[key] = _SubscribedCamera(
            self._endpoints.subscription(Image, topic, receive, SENSOR, raw=True)
        )

    def _unsubscribe(self, key: CameraKey) -> None:
        if (camera := self._cameras.pop(key, None)) is not None:
            self._endpoints.close(camera.subscription)
        self.newest.pop(key, None)


def _thumbnail(image: Image, number: int) -> Thumbnail:
    """Return an image with every n-th pixel.

    Raises:
        ValueError: If the encoding is not rgb8.
    """
    if image.encoding != "rgb8":
        raise ValueError(f"the encoding of an image is {image.encoding}; it must be rgb8")
    rows = np.frombuffer(image.data, np.uint8).reshape(image.height, image.step)
    pixels = rows[:, : 3 * image.width].reshape(image.height, image.width, 3)
    stride = -(-image.width // _MAX_WIDTH)
    stamp = image.header.stamp
    return Thumbnail(
        pixels=np.ascontiguousarray(pixels[::stride, ::stride]),
        time=stamp.sec + stamp.nanosec * 1e-9,
        number=number,
    )
