"""The figure of the page for phones: a humanoid that walks."""

import io
from pathlib import Path

from PIL import Image
from viewer_page import TIMEOUT_S, simulator

from mujoco_ros.model.output_files import output_file

CONTROLLER = "walk"
SIZE = {"width": 390, "height": 844}
WALKED_S = 8.0


def draw_phone(scene: str, path: Path) -> None:
    """Drive the robot of a scene by the page, and write the page as PNG to `path`."""
    with simulator(scene, ["-p", f"controller:={CONTROLLER}"]) as running:
        from playwright.sync_api import sync_playwright

        from benchmark.browser import OPTIONS, browser

        with sync_playwright() as driver:
            opened = driver.chromium.launch(executable_path=browser(), args=list(OPTIONS))
            page = opened.new_page(viewport=SIZE, device_scale_factor=1.0, color_scheme="dark")
            page.set_default_timeout(1000.0 * TIMEOUT_S)
            page.goto(f"{running.address}phone")
            page.wait_for_selector("#controllers em:text('STAND')")
            # The policy of the page forbids the functions of waits, which are evaluated later.
            while not page.evaluate("document.querySelector('#image').naturalWidth"):
                page.wait_for_timeout(100.0)
            box = page.locator("#move").bounding_box()
            x, y = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 10.0, y - 0.4 * box["height"])
            page.wait_for_selector("#controllers em:text('WALK')")
            page.wait_for_timeout(1000.0 * WALKED_S)
            screenshot = page.screenshot()
            page.mouse.up()
            opened.close()
    colours = Image.open(io.BytesIO(screenshot)).convert("RGB").quantize(256)
    with output_file(path, "figure") as file:
        colours.save(file, "PNG", optimize=True)
