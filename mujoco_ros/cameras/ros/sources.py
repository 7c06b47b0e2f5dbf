"""The frame sources of a model."""

import json
from dataclasses import asdict

import mujoco
from std_msgs.msg import String

from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.cameras.ros.camera import CameraSource
from mujoco_ros.cameras.ros.contacts import ContactSource
from mujoco_ros.cameras.ros.lidar import LidarSource
from mujoco_ros.cameras.ros.shared_renderer import SharedRenderer
from mujoco_ros.cameras.ros.source import FrameSource
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.rendering.segmentation import Segmentation


def frame_sources(
    model: mujoco.MjModel,
    layout: ModelLayout,
    publishers: PublisherPool,
    renderer: SharedRenderer,
    seed: int,
) -> list[FrameSource]:
    """Return the cameras, lidars and contacts of a model, with their topics open."""
    segmentation = Segmentation(model)
    labels = segmentation.legend(layout)
    legend = String(data=json.dumps({number: asdict(label) for number, label in labels.items()}))
    return [
        *(
            CameraSource(camera, segmentation, legend, publishers, renderer, seed)
            for camera in layout.every_camera
        ),
        *(LidarSource(lidar, model, publishers, seed) for lidar in layout.every_lidar),
        ContactSource(model, layout, publishers),
    ]
