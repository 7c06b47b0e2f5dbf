"""Topics of a camera: colour, depth, segmentation, point clouds, and calibration."""

import logging
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import mujoco
import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2, PointField

from mujoco_ros.bridge.diagnostics.report import ERROR, DiagnosticReport
from mujoco_ros.cameras.camera_images import COLOUR, DEPTH, SEGMENTATION, camera_images
from mujoco_ros.cameras.ros.frame_parameters import FORMATS, QUALITY
from mujoco_ros.cameras.ros.frame_publishers import FramePublishers
from mujoco_ros.cameras.ros.source import FrameDelivery, FrameSource, StateSnapshot
from mujoco_ros.model.sensors.cameras import Camera, with_present_optics
from mujoco_ros.rendering.depth import to_millimetres
from mujoco_ros.rendering.gl import PLAIN, RICH, RenderingError
from mujoco_ros.rendering.point_cloud import POINT, PointCloud
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.rendering.segmentation import Segmentation
from mujoco_ros.wire.frame_topics import camera_frame_topics
from mujoco_ros.wire.message_template import MessageTemplate
from mujoco_ros.wire.names import camera_topics

_LOG = logging.getLogger(__name__)


class SharedRenderer:
    """Opens OpenGL for the first image that is subscribed."""

    def __init__(self, backend: str) -> None:
        """Render with a backend: auto, egl or osmesa."""
        # Reason why rendering the current model failed; empty if it did not fail so far
        self.failure = ""
        self._quality = QUALITY.default
        self._backend = backend
        self._renderer: Renderer | None = None
        self._model: mujoco.MjModel | None = None

    def get(self, model: mujoco.MjModel) -> Renderer | None:
        """Return the renderer of a model; None without OpenGL."""
        is_new, self._model = model is not self._model, model
        if self.failure and not is_new:
            return None
        try:
            if self._renderer is None:
                self._renderer = Renderer(model, self._backend)
            elif is_new:
                self._renderer.set_model(model)
            auto = self._quality == "auto"
            is_plain = self._renderer.is_software if auto else self._quality == "plain"
            self._renderer.quality = PLAIN if is_plain else RICH
        except RenderingError as error:
            if str(error) != self.failure:
                _LOG.error("cameras publish no images: %s", error)
            self.failure, self._renderer = str(error), None
        else:
            self.failure = ""
        return self._renderer

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set the quality of the next images, if it is among `values`."""
        self._quality = values.get(QUALITY.name, self._quality)

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics."""
        if self.failure:
            return DiagnosticReport(self.failure, {}, level=ERROR)
        if self._renderer is None:
            return DiagnosticReport("no image was subscribed yet", {})
        renderer = self._renderer
        return DiagnosticReport(
            f"{renderer.backend} on {renderer.device}",
            {"backend": renderer.backend, "device": renderer.device},
        )


_POINT_TYPES = {
    np.dtype(np.float32): PointField.FLOAT32,
    np.dtype(np.uint16): PointField.UINT16,
}
_BYTES_PER_PIXEL = {"rgb8": 3, "16UC1": 2, "32FC1": 4}
BIG_ENDIAN = sys.byteorder == "big"


def camera_info(camera: Camera) -> CameraInfo:
    """Return the calibration: a pinhole camera without distortion, whose images are rectified."""
    optics = camera.intrinsics
    message = CameraInfo(width=camera.width, height=camera.height, distortion_model="plumb_bob")
    message.header.frame_id = camera.frame
    fx, fy, cx, cy = optics.fx, optics.fy, optics.cx, optics.cy
    message.d = [0.0] * 5
    message.k = [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]
    message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    message.p = [fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return message


def image(camera: Camera, encoding: str) -> Image:
    """Return a black image."""
    row = camera.width * _BYTES_PER_PIXEL[encoding]
    message = Image(
        width=camera.width,
        height=camera.height,
        encoding=encoding,
        is_bigendian=BIG_ENDIAN,
        step=row,
        data=array("B", bytes(row * camera.height)),
    )
    message.header.frame_id = camera.frame
    return message


def cloud(frame: str, rows: int, columns: int, point: np.dtype[Any]) -> PointCloud2:
    """Return an organised point cloud in a TF frame, whose points are all zero."""
    step = point.itemsize
    message = PointCloud2(
        width=columns,
        height=rows,
        fields=[
            PointField(name=name, offset=offset, datatype=_POINT_TYPES[kind], count=1)
            for name, (kind, offset, *_) in (point.fields or {}).items()
        ],
        is_bigendian=BIG_ENDIAN,
        point_step=step,
        row_step=step * columns,
        data=array("B", bytes(step * columns * rows)),
        is_dense=False,
    )
    message.header.frame_id = frame
    return message


Images = Mapping[str, np.ndarray]


@cache
def _bridge() -> Any:
    """Return OpenCV's bridge, which needs 12 MB, and few topics need it."""
    from cv_bridge import CvBridge

    return CvBridge()


class CameraSource(FrameSource):
    """Renders the images of a camera that have a subscription, and publishes them."""

    products = (COLOUR, DEPTH, SEGMENTATION)

    def __init__(
        self,
        camera: Camera,
        segmentation: Segmentation,
        publishers: FramePublishers,
        renderer: SharedRenderer,
        seed: int,
    ) -> None:
        """Open the topics of a camera."""
        name = camera_topics(camera.namespace, camera.name)
        self._publishers = {
            topic: publishers.open(*opened)
            for topic, opened in camera_frame_topics(camera.namespace, camera.name).items()
        }
        super().__init__(name, camera.rate, self._publishers.values())
        self.camera = camera
        self._renderer, self._segmentation, self._seed = renderer, segmentation, seed
        self._failure = ""
        self.format = FORMATS[0]
        self.delivery = FrameDelivery(name, seed, camera.delivery)
        self._info = camera_info(camera)
        self._templates: dict[str, MessageTemplate] = {}  # by encoding

    @property
    def warning(self) -> str:
        """Return the reason why subscribed images cannot be rendered; empty if they can be."""
        has_images = _needs(self._subscribed())
        return self._renderer.failure or self._failure if has_images else ""

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set the camera's parameters among `values`."""
        super().set_parameters(values)
        self.format = values.get(f"{self.parameter}.compressed_format", self.format)
        if QUALITY.name in values:
            self.repeat()
            self.untried.update(self.publishers)  # the model is uploaded again

    def publish(self, snapshot: StateSnapshot) -> None:
        """Render and publish the subscribed topics, all of one stamp."""
        self._follow(snapshot.model)
        subscribed = self._subscribed()
        images = self._render(_needs(subscribed), snapshot)
        for topic in subscribed:
            product = PRODUCTS[topic]
            if images.keys() >= product.needs:
                message = product.message(self, images, snapshot.stamp)
                self.send(self._publishers[topic], message)

    def _follow(self, model: mujoco.MjModel) -> None:
        """Use the present angle of view of the model."""
        camera = with_present_optics(self.camera, model)
        if camera is not self.camera:
            self.camera = camera
            self._info = camera_info(self.camera)
            self.__dict__.pop("_cloud", None)

    def _subscribed(self) -> list[str]:
        return [topic for topic, publisher in self._publishers.items() if publisher.subscriptions]

    def _render(self, products: set[str], snapshot: StateSnapshot) -> Images:
        """Return images by product; none without OpenGL."""
        renderer = self._renderer.get(snapshot.model) if products else None
        if renderer is None:
            return {}
        self._failure = ""
        try:
            images = camera_images(
                renderer, snapshot.data, self.camera, products, seed=self._seed, time=snapshot.time
            )
        except RenderingError as error:
            self._failure = str(error)
            return {}
        self.counts.update(products)
        if SEGMENTATION in images:
            images[SEGMENTATION] = self._segmentation.numbers(images[SEGMENTATION])
        return images

    def calibration(self, _images: Images, stamp: Time) -> CameraInfo:
        """Return the calibration."""
        self._info.header.stamp = stamp
        return self._info

    def colour(self, images: Images, stamp: Time) -> bytes:
        """Return the colour image."""
        return self._image("rgb8", images[COLOUR], stamp)

    def compressed(self, images: Images, stamp: Time) -> CompressedImage:
        """Return the compressed colour image."""
        bgr = np.ascontiguousarray(images[COLOUR][..., ::-1])
        message = _bridge().cv2_to_compressed_imgmsg(bgr, dst_format=self.format)
        message.header.stamp, message.header.frame_id = stamp, self.camera.frame
        # The format string of image_transport's publisher, which its subscriber parses.
        message.format = f"rgb8; {self.format} compressed bgr8"
        return message

    def depth(self, images: Images, stamp: Time) -> bytes:
        """Return the distances along the optical axis."""
        depth, encoding = images[DEPTH], self.camera.depth_encoding
        return self._image(encoding, to_millimetres(depth) if encoding == "16UC1" else depth, stamp)

    def segments(self, images: Images, stamp: Time) -> bytes:
        """Return the segmentation image."""
        return self._image("16UC1", images[SEGMENTATION], stamp)

    def points(self, images: Images, stamp: Time) -> bytes:
        """Return the coloured point cloud."""
        return _filled(self._points, self._cloud.fill(images[DEPTH], images[COLOUR]), stamp)

    def _image(self, encoding: str, pixels: np.ndarray, stamp: Time) -> bytes:
        if encoding not in self._templates:
            self._templates[encoding] = MessageTemplate(
                image(self.camera, encoding), arrays=["data"]
            )
        return _filled(self._templates[encoding], pixels, stamp)

    # Created on first use, like the templates: few topics have subscriptions.

    @cached_property
    def _cloud(self) -> PointCloud:
        return PointCloud(self.camera.intrinsics, self.camera.width, self.camera.height)

    @cached_property
    def _points(self) -> MessageTemplate:
        camera = self.camera
        message = cloud(camera.frame, camera.height, camera.width, POINT)
        return MessageTemplate(message, arrays=["data"])


class Product(NamedTuple):
    """A topic of a camera: the images it needs, and its message."""

    needs: frozenset[str]
    message: Callable[[CameraSource, Images, Time], Any]


_NOTHING: frozenset[str] = frozenset()
_COLOUR, _DEPTH = frozenset({COLOUR}), frozenset({DEPTH})
PRODUCTS = {
    "camera_info": Product(_NOTHING, CameraSource.calibration),
    "depth/camera_info": Product(_NOTHING, CameraSource.calibration),
    "image_raw": Product(_COLOUR, CameraSource.colour),
    "image_raw/compressed": Product(_COLOUR, CameraSource.compressed),
    "depth/image_rect_raw": Product(_DEPTH, CameraSource.depth),
    "segmentation/image_raw": Product(frozenset({SEGMENTATION}), CameraSource.segments),
    "depth/points": Product(_COLOUR | _DEPTH, CameraSource.points),
}
"""The topics of a frame, in the order of `CAMERA_TYPES`."""


def _needs(topics: Sequence[str]) -> set[str]:
    return set().union(*(PRODUCTS[topic].needs for topic in topics))


def _filled(template: MessageTemplate, content: np.ndarray, stamp: Time) -> bytes:
    template.arrays["data"][:] = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
    return template.stamped(stamp.sec, stamp.nanosec)
