"""The initial camera pose: the scene fits the part of the page without panels."""

import math

import mujoco

from mujoco_ros.viewer.docks import Rectangle

_MIN_SLOPE = 0.2


def fit_camera(
    model: mujoco.MjModel, camera: mujoco.MjvCamera, scene: Rectangle, page_height: float
) -> None:
    """Move a free camera that shows the model on the whole page so that `scene` shows it.

    The distance and the height of the look-at point change; azimuth and elevation do not.

    Args:
        model: The model.
        camera: The camera.
        scene: Part of the page without panels [px].
        page_height: [px].
    """
    _, top, _, height = scene
    if height <= 0.0:
        return
    camera.distance *= page_height / height
    tangent = math.tan(math.radians(model.vis.global_.fovy) / 2.0)
    metres_per_px = 2.0 * camera.distance * tangent / page_height
    # Elevation foreshortens vertical distances.
    slope = max(math.cos(math.radians(camera.elevation)), _MIN_SLOPE)
    camera.lookat[2] += (top + height / 2.0 - page_height / 2.0) * metres_per_px / slope
