"""The camera images that pages show: each is subscribed while a page wants it, and encoded once."""

from collections.abc import Collection, Hashable
from threading import Lock
from typing import NamedTuple

import cv2
import numpy as np

from mujoco_ros.rendering.false_colour import depth_scale
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CameraKey, ImageClient, ImageKey, ImageKind, Thumbnail
from mujoco_ros.viewer.image_legend import ImageLegend

_QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 82]
_FAST = [cv2.IMWRITE_PNG_COMPRESSION, 1]


class Picture(NamedTuple):
    """An encoded image."""

    content: bytes
    media_type: str


class EncodedImages:
    """The images of the cameras of a state."""

    def __init__(self, state: SharedState, images: ImageClient) -> None:
        self._state, self._images = state, images
        self._wanted: dict[Hashable, set[ImageKey]] = {}
        self._subscribed: set[ImageKey] = set()
        self._encoded: dict[ImageKey, tuple[int, Picture]] = {}
        self._lock = Lock()  # of `_encoded`, which requests for files fill in threads
        self._legend = ImageLegend(state)

    @property
    def cameras(self) -> list[CameraKey]:
        """All cameras of the model."""
        return [(camera.namespace, camera.name) for camera in self._state.layout.every_camera]

    def want(self, owner: Hashable, keys: Collection[ImageKey]) -> None:
        """Receive the images that an owner shows now, and no others for it."""
        self._wanted[owner] = set(keys)
        if not keys:
            del self._wanted[owner]
        wanted = set().union(*self._wanted.values())
        for key in self._subscribed - wanted:
            self._images.unsubscribe(key)
            with self._lock:
                self._encoded.pop(key, None)
        for key in wanted - self._subscribed:
            self._images.subscribe(key)
        self._subscribed = wanted

    def newest(self, key: ImageKey) -> Thumbnail | None:
        """Return the newest image; None before the first one."""
        return self._images.newest.get(key)

    def encoded(self, key: ImageKey) -> Picture | None:
        """Return the newest image as JPEG, or as PNG if its colours mean something."""
        image = self.newest(key)
        if image is None:
            return None
        with self._lock:
            number, picture = self._encoded.get(key, (-1, None))
            if picture is None or number != image.number:
                picture = encoded(image.pixels, lossless=key.kind is not ImageKind.COLOUR)
                self._encoded[key] = image.number, picture
            return picture

    def under(self, key: ImageKey, right: float, down: float) -> str:
        """Return the distance or the name at a place of an image, in 0..1 from its upper left."""
        image = self.newest(key)
        return "" if image is None else self._legend.under(image, right, down)


def encoded(pixels: np.ndarray, *, lossless: bool) -> Picture:
    """Return an RGB image as PNG or JPEG.  # (h, w, 3) uint8"""
    suffix, options = (".png", _FAST) if lossless else (".jpg", _QUALITY)
    is_written, content = cv2.imencode(suffix, np.ascontiguousarray(pixels[..., ::-1]), options)
    if not is_written:
        raise RuntimeError(f"an image of {pixels.shape} cannot be encoded")
    return Picture(content.tobytes(), "image/png" if lossless else "image/jpeg")


def scale_picture() -> Picture:
    """Return the colours of depth, near on the left."""
    return encoded(depth_scale(), lossless=True)
