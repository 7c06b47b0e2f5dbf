"""A camera's topics: pictures, depth, segmentation, clouds, and how it projects."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import cv2
import numpy as np
from builtin_interfaces.msg import Time
from cv_bridge import CvBridge
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2
from std_msgs.msg import String

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.message_template import MessageTemplate
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.bridge.publishing.topics import LATCHED, SENSOR
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.cameras.camera_images import COLOUR, DEPTH, SEGMENTATION, camera_images
from mujoco_ros.cameras.ros.camera_messages import camera_info, cloud, image
from mujoco_ros.cameras.ros.shared_renderer import LOOKS, SharedRenderer
from mujoco_ros.cameras.ros.source import FrameSource, StateSnapshot
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.rendering.depth import to_millimetres
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.point_cloud import POINT, PointCloud
from mujoco_ros.rendering.segmentation import Segmentation

SEGMENTS = "16UC1"
FORMATS = ("jpeg", "png")
Pictures = Mapping[str, np.ndarray]


class CameraSource(FrameSource):
    """Draws what a camera sees, and publishes of it what is listened to."""

    computes = (COLOUR, DEPTH, SEGMENTATION)

    def __init__(
        self,
        camera: Camera,
        segmentation: Segmentation,
        legend: String,
        publishers: PublisherPool,
        drawing: SharedRenderer,
        seed: int,
    ) -> None:
        """Open the topics of a camera.

        Args:
            camera: The camera.
            segmentation: Gives all that is to be seen a number.
            legend: What these numbers stand for, published once.
            publishers: Opens the topics.
            drawing: Draws, if there is OpenGL.
            seed: Seed of the noise.
        """
        name = camera_topics(camera)
        self._publishers = {
            topic: publishers.open(product.kind, f"{name}/{topic}", SENSOR)
            for topic, product in PRODUCTS.items()
        }
        super().__init__(name, camera.rate, self._publishers.values())
        legend_publisher = publishers.open(String, f"{name}/segmentation/legend", LATCHED)
        legend_publisher.send(legend)
        self.latched = (legend_publisher,)
        self.camera = camera
        self._drawing, self._segmentation = drawing, segmentation
        self._refusal = ""
        self._seed = seed
        self._format = ParameterSpec(
            name=f"{self.parameter}.compressed_format",
            default=FORMATS[0],
            description="Of image_raw/compressed",
            choices=FORMATS,
        )
        self.format = FORMATS[0]
        self._info = camera_info(camera)
        self._bridge = CvBridge()

    @property
    def remark(self) -> str:
        """Return why pictures that are wanted cannot be drawn, if so."""
        return self._drawing.failure or self._refusal if self._kinds(self._heard()) else ""

    def specs(self) -> Sequence[ParameterSpec]:
        """Return its parameters."""
        return (*super().specs(), self._format)

    def change(self, values: Mapping[str, Any]) -> None:
        """Take over those of its parameters that are among `values`."""
        super().change(values)
        self.format = values.get(self._format.name, self.format)
        if LOOKS.name in values:
            self.repeat()
            self.untried.update(self.publishers)  # all is uploaded anew

    def take(self, moment: StateSnapshot) -> None:
        """Draw what is listened to, and publish it; all of it has the same stamp."""
        heard = self._heard()
        pictures = self._draw(self._kinds(heard), moment)
        for topic in heard:
            product = PRODUCTS[topic]
            if pictures.keys() >= product.needs:
                self._publishers[topic].send(product.message(self, pictures, moment.stamp))

    def _heard(self) -> list[str]:
        return [topic for topic, it in self._publishers.items() if it.subscriptions]

    @staticmethod
    def _kinds(topics: Sequence[str]) -> set[str]:
        """Return which kinds of pictures some topics need."""
        return set().union(*(PRODUCTS[topic].needs for topic in topics))

    def _draw(self, kinds: set[str], moment: StateSnapshot) -> Pictures:
        """Return pictures by their kind, none where there is no OpenGL."""
        renderer = self._drawing.renderer(moment.model) if kinds else None
        if renderer is None:
            return {}
        self._refusal = ""
        try:
            pictures = camera_images(
                renderer, moment.data, self.camera, kinds, seed=self._seed, time=moment.time
            )
        except RenderingError as error:
            self._refusal = str(error)
            return {}
        self.counts.update(kinds)
        if SEGMENTATION in pictures:
            self._segmentation.ids(pictures[SEGMENTATION], self._ids)
            pictures[SEGMENTATION] = self._ids
        return pictures

    def calibration(self, _pictures: Pictures, stamp: Time) -> CameraInfo:
        """Return how the camera projects."""
        self._info.header.stamp = stamp
        return self._info

    def colour(self, pictures: Pictures, stamp: Time) -> bytes:
        """Return the picture."""
        return self._written(self._colour, pictures[COLOUR], stamp)

    def compressed(self, pictures: Pictures, stamp: Time) -> CompressedImage:
        """Return the picture, compressed."""
        bgr = cv2.cvtColor(pictures[COLOUR], cv2.COLOR_RGB2BGR)
        message = self._bridge.cv2_to_compressed_imgmsg(bgr, dst_format=self.format)
        message.header.stamp, message.header.frame_id = stamp, self.camera.frame
        # As image_transport's own publisher says it; its subscriber asks for that.
        message.format = f"rgb8; {self.format} compressed bgr8"
        return message

    def depth(self, pictures: Pictures, stamp: Time) -> bytes:
        """Return distances along the optical axis."""
        depth = pictures[DEPTH]
        if self.camera.depth_encoding == "16UC1":
            to_millimetres(depth, self._millimetres)
            depth = self._millimetres
        return self._written(self._depth, depth, stamp)

    def segments(self, pictures: Pictures, stamp: Time) -> bytes:
        """Return the number of what each pixel shows."""
        return self._written(self._segments, pictures[SEGMENTATION], stamp)

    def points(self, pictures: Pictures, stamp: Time) -> bytes:
        """Return the coloured cloud."""
        filled = self._cloud.fill(pictures[DEPTH], pictures[COLOUR])
        return self._written(self._points, filled, stamp)

    @staticmethod
    def _written(template: MessageTemplate, picture: np.ndarray, stamp: Time) -> bytes:
        template.arrays["data"][:] = np.ascontiguousarray(picture).reshape(-1).view(np.uint8)
        return template.stamped(stamp.sec, stamp.nanosec)

    # Made when they are first needed: few of a camera's topics ever are, and they are large.

    @cached_property
    def _colour(self) -> MessageTemplate:
        return MessageTemplate(image(self.camera, "rgb8"), arrays=["data"])

    @cached_property
    def _depth(self) -> MessageTemplate:
        return MessageTemplate(image(self.camera, self.camera.depth_encoding), arrays=["data"])

    @cached_property
    def _segments(self) -> MessageTemplate:
        return MessageTemplate(image(self.camera, SEGMENTS), arrays=["data"])

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.empty((self.camera.height, self.camera.width), np.uint16)

    @cached_property
    def _millimetres(self) -> np.ndarray:
        return np.empty((self.camera.height, self.camera.width), np.uint16)

    @cached_property
    def _cloud(self) -> PointCloud:
        return PointCloud(self.camera.intrinsics, self.camera.width, self.camera.height)

    @cached_property
    def _points(self) -> MessageTemplate:
        camera = self.camera
        message = cloud(camera.frame, camera.height, camera.width, POINT)
        return MessageTemplate(message, arrays=["data"])


class Product(NamedTuple):
    """A topic of a camera: its type, the pictures it is made of, and how."""

    kind: type
    needs: frozenset[str]
    message: Callable[[CameraSource, Pictures, Time], Any]


_NOTHING: frozenset[str] = frozenset()
_COLOUR, _DEPTH = frozenset({COLOUR}), frozenset({DEPTH})
PRODUCTS = {
    "camera_info": Product(CameraInfo, _NOTHING, CameraSource.calibration),
    "depth/camera_info": Product(CameraInfo, _NOTHING, CameraSource.calibration),
    "image_raw": Product(Image, _COLOUR, CameraSource.colour),
    "image_raw/compressed": Product(CompressedImage, _COLOUR, CameraSource.compressed),
    "depth/image_rect_raw": Product(Image, _DEPTH, CameraSource.depth),
    "segmentation/image_raw": Product(Image, frozenset({SEGMENTATION}), CameraSource.segments),
    "depth/points": Product(PointCloud2, _COLOUR | _DEPTH, CameraSource.points),
}
"""What a camera publishes at its rate, by topic; calibrations first, as others wait for them."""


def camera_topics(camera: Camera) -> str:
    """Return where the topics of a camera are."""
    return within(camera.namespace, "camera", topic_token(camera.name))
