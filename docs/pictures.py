"""Render docs/images/*.png from the shipped scenes: ``MUJOCO_GL=egl python docs/pictures.py``."""

import sys
from dataclasses import dataclass
from pathlib import Path

import cv2
import mujoco

from mujoco_ros.model.scene import load_scene
from mujoco_ros.sim.simulation import Simulation

IMAGES = Path(__file__).resolve().parent / "images"
SETTLED_S = 1.0
COLLISION_GROUP = 3


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A view of a scene.

    `size` is width and height [px]; `azimuth` and `elevation` [degrees] are where the camera looks.
    """

    name: str
    scene: str
    size: tuple[int, int]
    look_at: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float


PICTURES = (
    Picture(
        name="zoo",
        scene="zoo",
        size=(1280, 640),
        look_at=(0.28, 0.16, 0.72),
        distance=2.55,
        azimuth=233.0,
        elevation=-19.0,
    ),
    Picture(
        name="humanoid",
        scene="humanoid",
        size=(360, 400),
        look_at=(0.0, 0.0, 0.86),
        distance=2.45,
        azimuth=150.0,
        elevation=-8.0,
    ),
    Picture(
        name="quadruped",
        scene="quadruped",
        size=(360, 400),
        look_at=(0.0, 0.0, 0.26),
        distance=1.25,
        azimuth=140.0,
        elevation=-14.0,
    ),
    Picture(
        name="arm",
        scene="arm",
        size=(360, 400),
        look_at=(0.22, 0.0, 0.37),
        distance=1.7,
        azimuth=78.0,
        elevation=-14.0,
    ),
)


def main() -> None:
    """Render every picture, or those named on the command line."""
    wanted = sys.argv[1:] or [picture.name for picture in PICTURES]
    IMAGES.mkdir(exist_ok=True)
    for picture in PICTURES:
        if picture.name in wanted:
            render(picture, IMAGES / f"{picture.name}.png")


def render(picture: Picture, path: Path) -> None:
    """Simulate the scene until it has settled and write the picture to `path`."""
    simulation = Simulation(load_scene(picture.scene))
    while simulation.time < SETTLED_S:
        simulation.step()
    camera = mujoco.MjvCamera()
    camera.lookat[:] = picture.look_at
    camera.distance = picture.distance
    camera.azimuth, camera.elevation = picture.azimuth, picture.elevation
    option = mujoco.MjvOption()
    option.geomgroup[COLLISION_GROUP] = 0
    option.sitegroup[:] = 0
    width, height = picture.size
    # Twice the size, then halved: smooth edges.
    simulation.model.vis.global_.offwidth = 2 * width
    simulation.model.vis.global_.offheight = 2 * height
    with mujoco.Renderer(simulation.model, 2 * height, 2 * width) as renderer:
        renderer.update_scene(simulation.data, camera, option)
        pixels = renderer.render()
    small = cv2.resize(pixels, picture.size, interpolation=cv2.INTER_AREA)
    bgr = cv2.cvtColor(small, cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(path), bgr, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()
