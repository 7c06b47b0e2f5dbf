"""The figure of the viewer's page: a humanoid with a controller, plots and overlays."""

import io
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from PIL import Image
from rclpy.context import Context
from sensor_msgs.msg import JointState
from viewer_page import COARSE, browser_pages, choose_plots, simulator

from mujoco_ros.model.output_files import output_file

CONTROLLER, TRANSITION = "stand", "squat"
SETTLED_S = 40.0
PERIOD_S = 4.0
PUSH_N = 4.0
SWINGS_RAD = {"left_shoulder_pitch": (0.0, 0.5), "left_elbow": (-0.9, 0.5)}
"""Mean and amplitude of joints that swing."""
PLOTTED = {
    "wrenches": ("left_ankle_ft force",),
    "joints": ("left_shoulder_pitch q", "left_shoulder_pitch q_ref", "left_elbow torque"),
}
OVERLAID = ("Contact forces", "Balance")


def draw_page(scene: str, path: Path) -> None:
    """Simulate a scene with one robot, and write the viewer's page as PNG to `path`."""
    with simulator(scene, ["-p", f"controller:={CONTROLLER}"]) as running, _moving():
        from page_driver import PageDriver

        with browser_pages(running.address) as open_page:
            # A page keeps the panels of the previous page of the same size.
            coarse = PageDriver(open_page(COARSE), running.widgets)
            _set_up(coarse, scene)
            coarse.page.close()
            page = open_page(1.0)
            page.wait_for_timeout(1000.0 * SETTLED_S)
            screenshot = page.screenshot()
    # 256 colours are enough, and need a third of the bytes.
    colours = Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(256)
    with output_file(path, "figure") as file:
        colours.save(file, "PNG", optimize=True)


@contextmanager
def _moving() -> Iterator[None]:
    """Swing joints, and push the robot with a small force."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("mover", context=context)
    commands = node.create_publisher(JointState, "joint_commands", 10)
    wrenches = node.create_publisher(WrenchStamped, "external_wrench", 10)
    ended = threading.Event()

    def move() -> None:
        while not ended.wait(0.02):
            swing = math.sin(2.0 * math.pi * time.monotonic() / PERIOD_S)
            positions = [mean + amplitude * swing for mean, amplitude in SWINGS_RAD.values()]
            commands.publish(JointState(name=list(SWINGS_RAD), position=positions))
            wrench = WrenchStamped()
            wrench.header.frame_id = "torso"
            wrench.wrench.force.y = PUSH_N * swing
            wrenches.publish(wrench)

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        node.destroy_node()
        rclpy.shutdown(context=context)


def _set_up(shown: Any, robot: str) -> None:
    """Select overlays and plots, and bring hidden windows to the front."""
    shown.frames(12)  # until the windows that are in front at first are there
    shown.front("Overlays")
    for overlay in OVERLAID:
        shown.click(f"Overlays/{overlay}")
    shown.front("Cameras")
    choose_plots(shown, robot, PLOTTED)
    shown.front("Controller")
    shown.click(f"Controller/{TRANSITION}")
