"""The picture of the viewer's page: a simulator with a controller, a browser, a hand at work."""

import io
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from PIL import Image
from playwright.sync_api import sync_playwright
from rclpy.context import Context
from sensor_msgs.msg import JointState

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = ROOT / "test" / "viewer" / "support"
CONTROLLER, TRANSITION = "stand", "squat"
SIZE = {"width": 1280, "height": 800}
COARSE = 0.25
"""Pixels to a pixel while the page is set up: without a graphics card, each takes its time."""
PATIENCE_S = 300.0
SETTLED_S = 40.0
PERIOD_S = 4.0
PUSH_N = 4.0
SWINGS_RAD = {"left_shoulder_pitch": (0.0, 0.5), "left_elbow": (-0.9, 0.5)}
"""About what and how far joints swing."""
PLOTTED = {
    "wrenches": ("left_ankle_ft force",),
    "joints": ("left_shoulder_pitch q", "left_shoulder_pitch q_ref", "left_elbow torque"),
}
OVERLAID = ("Contact forces", "Balance")


def photograph(scene: str, path: Path) -> None:
    """Simulate a scene with one robot, show it, and write the page as PNG to `path`."""
    sys.path[:0] = [str(ROOT), str(SUPPORT)]
    # Not before: other pictures are checked where there are no tests.
    from benchmark.domains import Domain
    from benchmark.page import browser

    if browser() is None:
        sys.exit("no browser for the picture of the page")
    domain = Domain()
    with tempfile.TemporaryDirectory() as folder:
        widgets = Path(folder, "widgets.json")
        ros = os.environ | {
            "ROS_DOMAIN_ID": str(domain.id),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }
        os.environ.update(ros)
        spied = {"PYTHONPATH": str(SUPPORT / "spied"), "MUJOCO_ROS_WIDGETS": str(widgets)}
        command = [sys.executable, "-m", "mujoco_ros", "--ros-args", "-p", f"scene:={scene}"]
        command += ["-p", f"controller:={CONTROLLER}"]
        log = Path(folder, "log")
        with (
            _running([*command, "-p", "viewer:=web"], ros | spied, log),
            _moving(),
        ):
            _photograph(_address(log), Path(widgets), scene, path)
    domain.close()


@contextmanager
def _running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


@contextmanager
def _moving() -> Iterator[None]:
    """Have joints swing, and push the robot a little."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("hand", context=context)
    commands = node.create_publisher(JointState, "joint_commands", 10)
    wrenches = node.create_publisher(WrenchStamped, "external_wrench", 10)
    ended = threading.Event()

    def move() -> None:
        while not ended.wait(0.02):
            swing = math.sin(2.0 * math.pi * time.monotonic() / PERIOD_S)
            positions = [middle + reach * swing for middle, reach in SWINGS_RAD.values()]
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


def _address(log: Path) -> str:
    """Return where the page is, as the simulator tells."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := re.search(r"the viewer is at (\S+)", log.read_text()):
            return found.group(1)
        time.sleep(0.1)
    sys.exit(f"the simulator does not say where its page is:\n{log.read_text()}")


def _photograph(address: str, widgets: Path, robot: str, path: Path) -> None:
    from shown import Shown

    from benchmark.page import OPTIONS, browser

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser(), args=list(OPTIONS))
        # Panels stay as they are from one page to the next of the same size.
        coarse = Shown(_page(running, address, COARSE), widgets)
        _set_up(coarse, robot)
        coarse.page.close()
        page = _page(running, address, 1.0)
        page.wait_for_timeout(1000.0 * SETTLED_S)
        shot = page.screenshot()
        running.close()
    # 256 colours are enough for it, and a third of the bytes.
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256).save(path, optimize=True)


def _page(running: Any, address: str, scale: float) -> Any:
    page = running.new_page(viewport=SIZE, device_scale_factor=scale, color_scheme="dark")
    page.set_default_timeout(1000.0 * PATIENCE_S)
    with page.expect_console_message(lambda said: "First remote draw frame" in said.text):
        page.goto(address)
    return page


def _set_up(shown: Any, robot: str) -> None:
    """Tick what is to be seen, and bring to the front what is hidden."""
    shown.front("Overlays")
    for overlay in OVERLAID:
        shown.click(f"Overlays/{overlay}")
    shown.front("Cameras")
    shown.click("Plots/Choose")
    for kind, signals in PLOTTED.items():
        shown.click(f"Plots/{robot} {kind}")
        for name in signals:
            shown.click(f"Plots/##{robot} {kind} {name}")
        shown.click(f"Plots/{robot} {kind}")
    shown.press((0.4 * SIZE["width"], 0.1 * SIZE["height"]))  # closes the choices
    shown.front("Controller")
    shown.click(f"Controller/{TRANSITION}")
