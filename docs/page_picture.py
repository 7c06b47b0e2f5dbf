"""The picture of the viewer's page: a simulator, a browser, and what is seen."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
)
SIZE = {"width": 1280, "height": 800}
PATIENCE_S = 300.0
SETTLED_S = 10.0


def photograph(scene: str, path: Path) -> None:
    """Simulate a scene, show it, and write the page as PNG to `path`."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser for the picture of the page: none of {', '.join(BROWSERS)} is there")
    command = [sys.executable, "-m", "mujoco_ros", "--ros-args", "-p", f"scene:={scene}"]
    with tempfile.TemporaryFile() as log:
        simulator = subprocess.Popen(
            [*command, "-p", "viewer:=web"],
            env={**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
            stdout=log,
            stderr=log,
        )
        try:
            _photograph(_address(simulator, log.fileno()), browser, path)
        finally:
            simulator.send_signal(signal.SIGINT)
            simulator.wait()


def _address(simulator: subprocess.Popen[bytes], log: int) -> str:
    """Return where the page is, as the simulator tells."""
    deadline = time.monotonic() + PATIENCE_S
    while simulator.poll() is None and time.monotonic() < deadline:
        told = os.pread(log, 1 << 20, 0).decode()
        if found := re.search(r"the viewer is at (\S+)", told):
            return found.group(1)
        time.sleep(0.1)
    sys.exit("the simulator does not say where its page is")


def _photograph(address: str, browser: str, path: Path) -> None:
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser, args=list(OPTIONS))
        page = running.new_page(viewport=SIZE)
        page.set_default_timeout(1000.0 * PATIENCE_S)
        with page.expect_console_message(lambda said: "First remote draw frame" in said.text):
            page.goto(address)
        page.wait_for_timeout(1000.0 * SETTLED_S)
        shot = page.screenshot()
        running.close()
    # 256 colours are enough for it, and a third of the bytes.
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256).save(path, optimize=True)
