"""A simulator with the viewer's page in a browser, for the figures of the page."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SUPPORT = ROOT / "test" / "support" / "viewer"
SIZE = {"width": 1280, "height": 800}
COARSE = 0.25
"""Device pixels per pixel while the page is set up: software rendering is slow."""
TIMEOUT_S = 300.0


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """A running simulator.

    Attributes:
        address: Of the viewer's page.
        widgets: File with the rectangles of the page's widgets.
    """

    address: str
    widgets: Path

    def slow_down(self, period: float) -> None:
        """Build the panels at most once in a period [s], for browsers that are slow."""
        draft = self.widgets.with_suffix(".draft_of_period")
        draft.write_text(str(period))
        draft.replace(self.widgets.with_suffix(".period"))


@contextmanager
def simulator(scene: str, arguments: Sequence[str] = ()) -> Iterator[Simulator]:
    """Simulate a scene with the viewer, in a ROS domain of its own."""
    sys.path[:0] = [str(ROOT), str(SUPPORT)]
    # Not at the top: plots and diagrams are checked without the tests' packages.
    from benchmark.browser import browser
    from benchmark.domains import Domain

    if browser() is None:
        sys.exit("no browser for the figures of the page")
    domain = Domain()
    ros = {"ROS_DOMAIN_ID": str(domain.id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    os.environ.update(ros)
    command = [sys.executable, "-m", "mujoco_ros", "--ros-args", "-p", f"scene:={scene}"]
    command += ["-p", "viewer:=web", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        widgets, log = Path(folder, "widgets.json"), Path(folder, "log")
        spied = {
            "PYTHONPATH": str(DOCS / "slow_viewer"),
            "MUJOCO_ROS_WIDGETS": str(widgets),
            "XDG_STATE_HOME": folder,  # without the settings of other viewers
            "MUJOCO_ROS_SPY": str(SUPPORT / "widget_recorder" / "sitecustomize.py"),
        }
        with _process(command, os.environ | spied, log):
            yield Simulator(address=_address(log), widgets=widgets)
    domain.close()


@contextmanager
def browser_pages(address: str) -> Iterator[Any]:
    """Yield a function that opens the page with a number of device pixels per pixel."""
    from benchmark.browser import OPTIONS, browser

    def page(scale: float) -> Any:
        opened = running.new_page(viewport=SIZE, device_scale_factor=scale, color_scheme="dark")
        opened.set_default_timeout(1000.0 * TIMEOUT_S)
        with opened.expect_console_message(lambda line: "First remote draw frame" in line.text):
            opened.goto(address)
        # A second per image, as without a graphics card, is the drawing machine's, not the page's.
        opened.add_style_tag(content="#lag { display: none }")
        return opened

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser(), args=list(OPTIONS))
        yield page
        running.close()


def choose_plots(driver: Any, robot: str, plotted: Mapping[str, Sequence[str]]) -> None:
    """Select the plotted signals of a robot, by their kind."""
    driver.click("Plots/Clear")
    driver.click("Plots/Choose")
    for kind, signals in plotted.items():
        driver.click(f"Plots/{robot} {kind}")
        for name in signals:
            driver.click(f"Plots/##{robot} {kind} {name}")
        driver.click(f"Plots/{robot} {kind}")
    driver.press((0.4 * SIZE["width"], 0.1 * SIZE["height"]))  # closes the choices


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
