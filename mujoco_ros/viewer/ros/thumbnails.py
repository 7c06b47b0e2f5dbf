"""Images of cameras, made small: the newest of each that is watched."""

from dataclasses import dataclass
from itertools import count

import numpy as np
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import Image

from mujoco_ros.bridge.publishing.topics import SENSOR
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.naming import topic_token
from mujoco_ros.viewer.link import Thumbnail

_LARGEST = 320
"""Pixels in a row of a picture, at most."""
_PERIOD_S = 0.1

Key = tuple[str, str]


@dataclass
class _Watched:
    """A camera that is looked at: its topic, and the image that nobody has unpacked yet."""

    subscription: Subscription
    raw: bytes | None = None
    unpack_at: float = 0.0


class Thumbnails:
    """Subscribes to images while they are watched, all of it in the executor's thread.

    Images come as fast as the camera makes them, and are unpacked as fast as people see.

    Attributes:
        newest: By namespace and camera; other threads may read it.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        """Watch nothing yet."""
        self.newest: dict[Key, Thumbnail] = {}
        self._endpoints = endpoints
        self._numbers = count(1)
        self._watched: dict[Key, _Watched] = {}

    def watch(self, namespace: str, camera: str) -> None:
        """Ask for images of a camera."""
        key = (namespace, camera)
        if key in self._watched:
            return

        def take(raw: bytes) -> None:
            if (watched := self._watched.get(key)) is not None:
                watched.raw = raw

        self._watched[key] = _Watched(
            self._endpoints.subscription(
                Image,
                within(namespace, "camera", topic_token(camera), "image_raw"),
                take,
                SENSOR,
                raw=True,
            )
        )

    def unwatch(self, namespace: str, camera: str) -> None:
        """Ask for no more images of it."""
        watched = self._watched.pop((namespace, camera), None)
        if watched is not None:
            self._endpoints.close(watched.subscription)
        self.newest.pop((namespace, camera), None)

    def tick(self, now: float) -> None:
        """Unpack what has come, if it is time to; `now` is monotonic [s]."""
        for key, watched in self._watched.items():
            if watched.raw is None or now < watched.unpack_at:
                continue
            watched.unpack_at = now + _PERIOD_S
            image, watched.raw = deserialize_message(watched.raw, Image), None
            self.newest[key] = picture(image, next(self._numbers))


def picture(image: Image, number: int) -> Thumbnail:
    """Return an image in colours, small: every so many-th pixel of it.

    Raises:
        ValueError: It is not rgb8.
    """
    if image.encoding != "rgb8":
        raise ValueError(f"an image is {image.encoding}; it must be rgb8")
    rows = np.frombuffer(image.data, np.uint8).reshape(image.height, image.step)
    pixels = rows[:, : 3 * image.width].reshape(image.height, image.width, 3)
    stride = -(-image.width // _LARGEST)
    stamp = image.header.stamp
    return Thumbnail(
        pixels=np.ascontiguousarray(pixels[::stride, ::stride]),
        time=stamp.sec + stamp.nanosec * 1e-9,
        number=number,
    )
