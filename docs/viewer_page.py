"""A simulator with the viewer's page in a browser, for the figures of the page."""

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from mujoco_ros.model.output_files import output_file

ROOT = Path(__file__).resolve().parents[1]
SIZE = {"width": 1280, "height": 860}
TIMEOUT_S = 300.0
IN_FRONT, CLOSED = {"selected": True}, {"open": False}
"""Places of panels in the settings of the page."""
DRAWN_BY_THE_BROWSER = {"options": {}, "drawing": "three"}
"""Settings of the panel "View": three.js draws the scene, however slowly."""
# The scene has shadows, as with a graphics card, and its age is the drawing machine's.
_HIDE_RENDERER = """
const { prototype } = WebGL2RenderingContext, find = prototype.getExtension;
prototype.getExtension = function (name) {
  return name === "WEBGL_debug_renderer_info" ? null : find.call(this, name);
};
"""
_HIDE_AGE = ":root[data-stale] .view::after { display: none !important; }"


@contextmanager
def opened_page(
    scene: str,
    controller: str,
    settings: Mapping[str, Any],
    *,
    path: str = "",
    size: Mapping[str, int] = SIZE,
) -> Iterator[Any]:
    """Simulate a scene with a controller, and yield its page in a browser, as of playwright.

    Both are in a ROS domain of their own.

    Args:
        scene: Name of the scene.
        controller: Name of the controller.
        settings: What the viewer keeps of a page, see `Layout.settings`.
        path: Path of the page.
        size: Width and height of the page [px].
    """
    sys.path.insert(0, str(ROOT))
    # Not at the top: plots and diagrams are checked without the tests' packages.
    from benchmark.browser import OPTIONS, browser
    from benchmark.domains import Domain
    from mujoco_ros.viewer.settings_file import SettingsFile

    if browser() is None:
        sys.exit("no browser for the figures of the page")
    domain = Domain()
    ros = {"ROS_DOMAIN_ID": str(domain.id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    os.environ.update(ros)
    command = [sys.executable, "-m", "mujoco_ros", "--ros-args", "-p", f"scene:={scene}"]
    command += ["-p", "viewer:=web", "-p", f"controller:={controller}"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        SettingsFile(Path(folder, "mujoco_ros", "viewer")).write(scene, settings)
        log = Path(folder, "log")
        with _process(command, os.environ | {"XDG_STATE_HOME": folder}, log):
            running = driver.chromium.launch(executable_path=browser(), args=list(OPTIONS))
            page = running.new_page(viewport=dict(size), color_scheme="dark")
            page.set_default_timeout(1000.0 * TIMEOUT_S)
            page.add_init_script(_HIDE_RENDERER)
            page.goto(f"{_address(log)}{path}")
            page.add_style_tag(content=_HIDE_AGE)
            page.wait_for_function("document.documentElement.dataset.fps > 0")
            yield page
            running.close()
    domain.close()


def write_screenshot(page: Any, path: Path) -> None:
    """Write the page as PNG; 256 colours are enough, and need a third of the bytes."""
    image = Image.open(io.BytesIO(page.screenshot()))
    with output_file(path, "figure") as file:
        image.convert("RGB").quantize(256).save(file, "PNG", optimize=True)


@contextmanager
def _process(command: Sequence[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _address(log: Path) -> str:
    """Return the address of the page from the simulator's log."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if found := re.search(r"the viewer is at (\S+)", log.read_text()):
            return found.group(1)
        time.sleep(0.1)
    sys.exit(f"the simulator's log has no address of the page:\n{log.read_text()}")
