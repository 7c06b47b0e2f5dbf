"""The figure of a camera's products: colour, depth, segmentation and point cloud."""

from contextlib import closing

import cv2
import mujoco
import numpy as np

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.rendering.false_colour import depth_colours, number_colours
from mujoco_ros.rendering.gl import RICH
from mujoco_ros.rendering.point_cloud import PointCloud
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.rendering.segmentation import Segmentation
from mujoco_ros.sim.simulation import Simulation

SCENE, CAMERA = "arm", "table_camera"
GAP_PX = 8
SETTLED_S = 1.0
WHITE = 255
ASIDE_RAD, ABOVE_RAD = -0.45, 0.35  # direction of view on the cloud
POINT_PX = 2


def camera_figure() -> np.ndarray:
    """Return colour, depth, segmentation and cloud side by side.  # (h, w, 3) BGR."""
    simulation = Simulation(load_scene(SCENE))
    while simulation.time < SETTLED_S:
        simulation.step()
    model, data = simulation.model, simulation.data
    mujoco.mj_forward(model, data)
    camera = next(c for c in simulation.layout.every_camera if c.name == CAMERA)
    with closing(Renderer(model, quality=RICH)) as renderer:
        frame = renderer.frame(data, camera)
        colour, depth, objects = frame.colour.copy(), frame.depth.copy(), frame.objects.copy()
    ids = Segmentation(model).numbers(objects)
    panels = (colour, depth_colours(depth)[0], number_colours(ids), _cloud(camera, depth, colour))
    gap = np.full((camera.height, GAP_PX, 3), WHITE, np.uint8)
    row = [part for panel in panels for part in (panel, gap)][:-1]
    return cv2.cvtColor(np.hstack(row), cv2.COLOR_RGB2BGR)


def _cloud(camera: Camera, depth: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """Return the points from a direction beside the camera."""
    cloud = PointCloud(camera.intrinsics, camera.width, camera.height).fill(depth, colour)
    points = np.stack([cloud[axis] for axis in "xyz"], axis=-1).reshape(-1, 3)
    colours = colour.reshape(-1, 3)
    middle = np.array([0.0, 0.0, np.nanpercentile(points[:, 2], 25)])
    turned = (points - middle) @ _turn().T + middle
    optics = camera.intrinsics
    with np.errstate(invalid="ignore"):
        u = np.rint(optics.fx * turned[:, 0] / turned[:, 2] + optics.cx)
        v = np.rint(optics.fy * turned[:, 1] / turned[:, 2] + optics.cy)
        inside = (u >= 0) & (v >= 0) & (u < camera.width) & (v < camera.height)
        inside &= turned[:, 2] > 0
    order = np.flatnonzero(inside)[np.argsort(-turned[inside, 2])]  # the nearest last
    drawn = np.full((camera.height + POINT_PX, camera.width + POINT_PX, 3), WHITE, np.uint8)
    for across in range(POINT_PX):
        for down in range(POINT_PX):
            rows, columns = v[order].astype(int) + down, u[order].astype(int) + across
            drawn[rows, columns] = colours[order]
    return drawn[: camera.height, : camera.width]


def _turn() -> np.ndarray:
    """Return the rotation from the camera to the direction beside it.  # (3, 3)."""
    sine, cosine = np.sin(ASIDE_RAD), np.cos(ASIDE_RAD)
    aside = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
    sine, cosine = np.sin(ABOVE_RAD), np.cos(ABOVE_RAD)
    above = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
    return above @ aside
