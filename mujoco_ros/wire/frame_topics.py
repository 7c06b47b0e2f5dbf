"""Topics of the camera process, which its simulator announces until the process runs."""

from typing import NamedTuple

from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, LaserScan, PointCloud2
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.wire.qos import LATCHED, RELIABLE, SENSOR


class FrameTopic(NamedTuple):
    """A topic: its message type, its name, and its quality of service."""

    message_type: type
    name: str
    qos: QoSProfile


CAMERA_TYPES: dict[str, type] = {
    "camera_info": CameraInfo,
    "depth/camera_info": CameraInfo,
    "image_raw": Image,
    "image_raw/compressed": CompressedImage,
    "depth/image_rect_raw": Image,
    "segmentation/image_raw": Image,
    "depth/points": PointCloud2,
}
"""Message types of a camera's frame, by topic; calibrations first, since subscribers of images wait
for them."""
CONTACTS = FrameTopic(MarkerArray, "contacts", RELIABLE)


def camera_frame_topics(namespace: str, camera: str) -> dict[str, FrameTopic]:
    """Return the topics of a camera's frames, by their names below the camera."""
    name = in_namespace(namespace, "camera", topic_token(camera))
    return {
        topic: FrameTopic(kind, f"{name}/{topic}", SENSOR) for topic, kind in CAMERA_TYPES.items()
    }


def camera_legend_topic(namespace: str, camera: str) -> FrameTopic:
    """Return the topic with the meaning of the numbers in segmentation images."""
    name = in_namespace(namespace, "camera", topic_token(camera))
    return FrameTopic(String, f"{name}/segmentation/legend", LATCHED)


def lidar_topic(name: str, *, is_scan: bool) -> FrameTopic:
    """Return the topic of a lidar; `is_scan` with one row of rays."""
    return FrameTopic(LaserScan if is_scan else PointCloud2, name, SENSOR)
