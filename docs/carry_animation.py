"""The animation of walk_grasp: a humanoid carries a box from one table to another."""

from pathlib import Path

import cv2
import mujoco
from page_animation import save
from PIL import Image
from scene_view import COLLISION_GROUP

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

NAME = "walk_grasp"
FRAME_S, SPEED = 0.1, 5.0
"""Duration of a frame, and simulated time per time of the animation."""
SIZE = (520, 340)
"""[px]"""
LONGEST = 100.0
"""[s]"""


def draw_carry(path: Path) -> None:
    """Simulate the controller until it has finished, and write the scene as GIF to `path`."""
    simulation = Simulation(load_scene(NAME))
    host = ControllerHost(simulation, load(NAME))
    camera, option = mujoco.MjvCamera(), mujoco.MjvOption()
    camera.lookat[:], camera.distance = (-0.55, 0.45, 0.85), 3.7
    camera.azimuth, camera.elevation = 25.0, -20.0
    option.geomgroup[COLLISION_GROUP], option.sitegroup[:] = 0, 0
    width, height = SIZE
    simulation.model.vis.global_.offwidth, simulation.model.vis.global_.offheight = (
        2 * width,
        2 * height,
    )
    frames: list[Image.Image] = []
    with mujoco.Renderer(simulation.model, 2 * height, 2 * width) as renderer:
        while host.supervised.machine.outcome is None and simulation.time < LONGEST:
            host.tick()
            if simulation.time >= len(frames) * FRAME_S * SPEED:
                renderer.update_scene(simulation.data, camera, option)
                small = cv2.resize(renderer.render(), SIZE, interpolation=cv2.INTER_AREA)
                frames.append(Image.fromarray(small))
    host.close()
    save(frames, path, frame_s=FRAME_S)
