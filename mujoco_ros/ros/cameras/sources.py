"""All that is computed of a model's states."""

import json
from dataclasses import asdict

import mujoco
from std_msgs.msg import String

from mujoco_ros.model.layout import Layout
from mujoco_ros.rendering.segmentation import Segmentation
from mujoco_ros.ros.cameras.camera import CameraSource
from mujoco_ros.ros.cameras.contacts import Contacts
from mujoco_ros.ros.cameras.drawing import Drawing
from mujoco_ros.ros.cameras.lidar import LidarSource
from mujoco_ros.ros.cameras.outlets import Outlets
from mujoco_ros.ros.cameras.source import Source


def sources(
    model: mujoco.MjModel, layout: Layout, outlets: Outlets, drawing: Drawing
) -> list[Source]:
    """Return the cameras and lidars of a model, and its contacts, each with its topics open."""
    segmentation = Segmentation(model)
    legend = String(data=_legend(segmentation, layout))
    return [
        *(
            CameraSource(camera, segmentation, legend, outlets, drawing)
            for camera in layout.every_camera
        ),
        *(LidarSource(lidar, model, outlets) for lidar in layout.every_lidar),
        Contacts(model, layout, outlets),
    ]


def _legend(segmentation: Segmentation, layout: Layout) -> str:
    """Return what the numbers of segments stand for, as JSON."""
    labels = segmentation.legend(layout)
    return json.dumps({number: asdict(label) for number, label in labels.items()})
