"""Fields of view of the cameras that publish images."""

import mujoco
import numpy as np

from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene, Scale
from mujoco_ros.viewer.overlays.shapes import line, outline
from mujoco_ros.viewer.style import CAMERA

_LENGTH_M = 0.4
"""Distance of the far end."""
_RADIUS = 0.3
"""Of lines, as a share of that of arrows."""


def fields_of_view(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the pyramid that each camera shows, with a mark at the upper edge of its image."""
    geoms: list[mujoco.MjvGeom] = []
    radius = _RADIUS * scale.radius
    for camera in scene.layout.every_camera:
        apex = scene.data.cam_xpos[camera.camera]
        corners = image_corners(scene.data, camera)
        geoms += outline(corners, radius, CAMERA)
        for corner in corners:
            geoms += line(apex, corner, radius, CAMERA)
        top = 0.5 * (corners[0] + corners[1])
        geoms += line(top, top + 0.15 * (corners[1] - corners[2]), 2.0 * radius, CAMERA)
    return geoms


def image_corners(data: mujoco.MjData, camera: Camera) -> list[np.ndarray]:
    """Return the corners of the image in ``world``, clockwise from the top left [m].  # each (3,)

    The x axis of MuJoCo's camera frame points to the right, y up, and z backwards.
    """
    position, axes = data.cam_xpos[camera.camera], data.cam_xmat[camera.camera].reshape(3, 3)
    optics = camera.intrinsics
    horizontal = [(column - optics.cx) / optics.fx for column in (-0.5, camera.width - 0.5)]
    vertical = [(optics.cy - row) / optics.fy for row in (-0.5, camera.height - 0.5)]
    return [
        position + _LENGTH_M * axes @ np.array([horizontal[column], vertical[row], -1.0])
        for column, row in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]
