"""All that is computed of a model's states."""

import json
from dataclasses import asdict

import mujoco
from std_msgs.msg import String

from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.cameras.ros.camera import CameraSource
from mujoco_ros.cameras.ros.contacts import Contacts
from mujoco_ros.cameras.ros.lidar import LidarSource
from mujoco_ros.cameras.ros.shared_renderer import SharedRenderer
from mujoco_ros.cameras.ros.source import FrameSource
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.rendering.segmentation import Segmentation


def sources(
    model: mujoco.MjModel,
    layout: ModelLayout,
    publishers: PublisherPool,
    drawing: SharedRenderer,
    seed: int,
) -> list[FrameSource]:
    """Return the cameras and lidars of a model, and its contacts, each with its topics open."""
    segmentation = Segmentation(model)
    legend = String(data=_legend(segmentation, layout))
    return [
        *(
            CameraSource(camera, segmentation, legend, publishers, drawing, seed)
            for camera in layout.every_camera
        ),
        *(LidarSource(lidar, model, publishers, seed) for lidar in layout.every_lidar),
        Contacts(model, layout, publishers),
    ]


def _legend(segmentation: Segmentation, layout: ModelLayout) -> str:
    """Return what the numbers of segments stand for, as JSON."""
    labels = segmentation.legend(layout)
    return json.dumps({number: asdict(label) for number, label in labels.items()})
