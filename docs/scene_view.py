"""Images of simulated scenes."""

from dataclasses import dataclass
from pathlib import Path

import cv2
import mujoco
import numpy as np

from mujoco_ros.model.output_files import write_whole
from mujoco_ros.sim.simulation import Simulation

COLLISION_GROUP = 3
SMALL = [cv2.IMWRITE_PNG_COMPRESSION, 9]


@dataclass(frozen=True, kw_only=True)
class View:
    """A view of a scene.

    `size` is width and height [px], `lookat` the point in the middle [m], `azimuth` and `elevation`
    the direction of the camera [degrees], `settled_s` the simulated time before
    it [s]. The normal forces of a touch grid `touch_sensor` are drawn beside it.
    """

    name: str
    scene: str
    size: tuple[int, int]
    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    settled_s: float = 1.0
    touch_sensor: str | None = None


def photograph(simulation: Simulation, view: View, path: Path) -> None:
    """Write the view of the present state to `path`."""
    camera = mujoco.MjvCamera()
    camera.lookat[:] = view.lookat
    camera.distance = view.distance
    camera.azimuth, camera.elevation = view.azimuth, view.elevation
    option = mujoco.MjvOption()
    option.geomgroup[COLLISION_GROUP] = 0
    option.sitegroup[:] = 0
    width, height = view.size
    # Twice the size, then halved, for smooth edges.
    simulation.model.vis.global_.offwidth = 2 * width
    simulation.model.vis.global_.offheight = 2 * height
    with mujoco.Renderer(simulation.model, 2 * height, 2 * width) as renderer:
        renderer.update_scene(simulation.data, camera, option)
        pixels = renderer.render()
    small = cv2.resize(pixels, view.size, interpolation=cv2.INTER_AREA)
    bgr = cv2.cvtColor(small, cv2.COLOR_RGB2BGR)
    write_image(path, bgr)


def write_image(path: Path, bgr: np.ndarray) -> None:
    """Write an image as a small PNG.  # (height, width, 3)"""
    write_whole(path, cv2.imencode(".png", bgr, SMALL)[1].tobytes(), "image")
