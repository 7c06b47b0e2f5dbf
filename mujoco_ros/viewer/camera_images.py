"""The camera images that pages show: each is subscribed while a page wants it, and encoded once."""

import math
from collections.abc import Collection, Hashable, Mapping
from threading import Lock
from typing import NamedTuple

import numpy as np

from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.rendering.false_colour import depth_scale
from mujoco_ros.rendering.segmentation import Label, Segmentation
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CameraKey, ImageKey, ImageKind, Thumbnail
from mujoco_ros.viewer.ros.thumbnails import ThumbnailSubscriber

_QUALITY = 82  # of JPEG
_IN_SCENE = 320  # largest width of images in the scene [px]


class Picture(NamedTuple):
    """An encoded image."""

    content: bytes
    media_type: str


class EncodedImages:
    """The images of the cameras of a state."""

    def __init__(self, state: SharedState, images: ThumbnailSubscriber) -> None:
        self._state, self._images = state, images
        self._wanted: dict[Hashable, set[ImageKey]] = {}
        self._subscribed: set[ImageKey] = set()
        self._encoded: dict[ImageKey, tuple[int, Picture]] = {}
        self._lock = Lock()  # of `_encoded`, which requests for files fill in threads
        self._labels: tuple[ModelLayout, Mapping[int, Label]] | None = None

    @property
    def cameras(self) -> list[CameraKey]:
        """All cameras of the model."""
        return [(camera.namespace, camera.name) for camera in self._state.layout.every_camera]

    def in_scene(self, camera: int | None = None) -> list[ImageKey]:
        """Return the image that the scene shows of a camera of the model, or of all."""
        return [
            ImageKey((each.namespace, each.name), ImageKind.COLOUR, _IN_SCENE)
            for each in self._state.layout.every_camera
            if camera in (None, each.camera)
        ]

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
        if image is None or image.values is None:
            return ""
        rows, columns = image.values.shape
        row = min(max(int(rows * down), 0), rows - 1)
        column = min(max(int(columns * right), 0), columns - 1)
        value = image.values[row, column]
        if image.limits is not None:
            return f"{value:.3f} m" if math.isfinite(value) else "nothing"
        label = self._legend().get(int(value))
        return (label.frame or label.name or label.kind) if label else "nothing"

    def _legend(self) -> Mapping[int, Label]:
        """Return what the numbers of segmentation images mean."""
        layout = self._state.layout
        if self._labels is None or self._labels[0] is not layout:
            self._labels = layout, Segmentation(self._state.model).legend(layout)
        return self._labels[1]


def encoded(pixels: np.ndarray, *, lossless: bool) -> Picture:
    """Return an RGB image as PNG or JPEG.  # (h, w, 3) uint8"""
    import cv2  # needs 20 MB, and few pages show images

    suffix, options = ".jpg", [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]
    if lossless:
        suffix, options = ".png", [cv2.IMWRITE_PNG_COMPRESSION, 1]
    is_written, content = cv2.imencode(suffix, np.ascontiguousarray(pixels[..., ::-1]), options)
    if not is_written:
        raise RuntimeError(f"an image of {pixels.shape} cannot be encoded")
    return Picture(content.tobytes(), "image/png" if lossless else "image/jpeg")


def scale_picture() -> Picture:
    """Return the colours of depth, near on the left."""
    return encoded(depth_scale(), lossless=True)
