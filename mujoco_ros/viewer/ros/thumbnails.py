"""Downsampled camera images of the subscribed cameras."""

import logging
from dataclasses import dataclass
from itertools import count

import numpy as np
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import Image

from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rendering.false_colour import depth_colours, number_colours
from mujoco_ros.viewer.clients import ImageKey, ImageKind, Thumbnail
from mujoco_ros.wire.qos import SENSOR

_LOG = logging.getLogger(__name__)
_TOPICS = {
    ImageKind.COLOUR: "image_raw",
    ImageKind.DEPTH: "depth/image_rect_raw",
    ImageKind.SEGMENTATION: "segmentation/image_raw",
}
_PIXELS = {"rgb8": (np.uint8, 3), "32FC1": (np.float32, 1), "16UC1": (np.uint16, 1)}
"""Type and number of the values of a pixel, by encoding."""
_MILLIMETRE = np.float32(1e-3)
_PERIOD_S = 0.1  # images arrive at the rate of the camera and are deserialized at most this often


@dataclass
class _SubscribedCamera:
    subscription: Subscription
    serialized: bytes | None = None
    due_at: float = 0.0
    has_failed: bool = False


class ThumbnailSubscriber:
    """Subscribes to camera images; any thread may call `subscribe` and `unsubscribe`."""

    def __init__(self, endpoints: Endpoints) -> None:
        self.newest: dict[ImageKey, Thumbnail] = {}  # the newest image of each subscription
        self._endpoints = endpoints
        self._numbers = count(1)
        self._cameras: dict[ImageKey, _SubscribedCamera] = {}

    def subscribe(self, key: ImageKey) -> None:
        """Subscribe to images of a camera."""
        later(self._endpoints.node, self._subscribe, key)

    def unsubscribe(self, key: ImageKey) -> None:
        """End the subscription."""
        later(self._endpoints.node, self._unsubscribe, key)

    def tick(self, now: float) -> None:
        """Deserialize the received images that are due; `now` is monotonic [s]."""
        for key, camera in self._cameras.items():
            if camera.serialized is None or now < camera.due_at:
                continue
            camera.due_at = now + _PERIOD_S
            serialized, camera.serialized = camera.serialized, None
            try:
                image = deserialize_message(serialized, Image)
                self.newest[key] = _thumbnail(image, key, next(self._numbers))
            except Exception as error:  # of any publisher; the other cameras go on
                if not camera.has_failed:
                    camera.has_failed = True
                    _LOG.warning(
                        "images of the camera '%s' are not shown: %s", key.camera[1], error
                    )

    def _subscribe(self, key: ImageKey) -> None:
        if key in self._cameras:
            return
        namespace, name = key.camera

        def receive(serialized: bytes) -> None:
            if (camera := self._cameras.get(key)) is not None:
                camera.serialized = serialized

        topic = in_namespace(namespace, "camera", topic_token(name), _TOPICS[key.kind])
        self._cameras[key] = _SubscribedCamera(
            self._endpoints.subscription(Image, topic, receive, SENSOR, raw=True)
        )

    def _unsubscribe(self, key: ImageKey) -> None:
        if (camera := self._cameras.pop(key, None)) is not None:
            self._endpoints.close(camera.subscription)
        self.newest.pop(key, None)


def _thumbnail(image: Image, key: ImageKey, number: int) -> Thumbnail:
    if image.encoding not in _PIXELS:
        known = ", ".join(_PIXELS)
        raise ValueError(f"the encoding of an image is {image.encoding}; it must be {known}")
    kind, channels = _PIXELS[image.encoding]
    rows = np.frombuffer(image.data, np.uint8).reshape(image.height, image.step)
    values = rows[:, : image.width * channels * np.dtype(kind).itemsize].copy().view(kind)
    stride = -(-image.width // key.max_width)
    values = values.reshape(image.height, image.width, channels)[::stride, ::stride]
    stamp = image.header.stamp
    time = stamp.sec + stamp.nanosec * 1e-9
    if key.kind is ImageKind.COLOUR:
        return Thumbnail(pixels=np.ascontiguousarray(values), time=time, number=number)
    values, limits = values[..., 0], None
    if key.kind is ImageKind.SEGMENTATION:
        pixels = number_colours(values)
    else:
        if image.encoding == "16UC1":  # 0 without a hit
            values = np.where(values, values * _MILLIMETRE, np.float32(np.inf))
        pixels, limits = depth_colours(values)
    return Thumbnail(pixels=pixels, time=time, number=number, values=values, limits=limits)
