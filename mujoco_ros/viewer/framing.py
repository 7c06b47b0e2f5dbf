"""Where the camera is at first: so that panels around the scene hide nothing."""

import math

import mujoco

from mujoco_ros.viewer.docks import Rectangle

_LEAST_SLOPE = 0.2


def frame(model: mujoco.MjModel, camera: mujoco.MjvCamera, scene: Rectangle, height: float) -> None:
    """Have the part of the page that panels leave show what a free camera would show on the whole.

    The camera draws back, and looks lower or higher; it stays at its side, so that it turns about
    the same axis.

    Args:
        model: What is shown.
        camera: A free camera that shows everything on the whole page.
        scene: What panels leave [px].
        height: Of the whole page [px].
    """
    _, top, _, free = scene
    if free <= 0.0:
        return
    camera.distance *= height / free
    tangent = math.tan(math.radians(model.vis.global_.fovy) / 2.0)
    metres_per_px = 2.0 * camera.distance * tangent / height
    # The higher the camera stands, the less of a height is seen.
    slope = max(math.cos(math.radians(camera.elevation)), _LEAST_SLOPE)
    camera.lookat[2] += (top + free / 2.0 - height / 2.0) * metres_per_px / slope
