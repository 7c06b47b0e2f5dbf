"""The figure of the page for phones: a humanoid that walks."""

from pathlib import Path

from viewer_page import DRAWN_BY_THE_BROWSER, opened_page, write_screenshot

CONTROLLER = "walk"
SIZE = {"width": 390, "height": 844}
WALKED_S = 8.0
AHEAD = 0.4
"""How far the pad is held forwards, in heights of the pad."""
AWAY = 250.0
"""Turn of the wheel that moves the camera away from the robot [px]."""
SETTINGS = {"panels": {"View": DRAWN_BY_THE_BROWSER}}


def draw_phone(scene: str, path: Path) -> None:
    """Drive the robot of a scene by the page, and write the page as PNG to `path`."""
    with opened_page(scene, CONTROLLER, SETTINGS, path="phone", size=SIZE) as page:
        page.get_by_role("button", name="Follow").click()
        page.get_by_role("main", name="Scene").locator(".scene-view").hover()
        page.mouse.wheel(0.0, AWAY)
        page.get_by_role("tab", name="Drive").click()
        pad = page.get_by_role("application", name="Move").bounding_box()
        x, y = pad["x"] + pad["width"] / 2, pad["y"] + pad["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 10.0, y - AHEAD * pad["height"])
        page.wait_for_timeout(1000.0 * WALKED_S)
        write_screenshot(page, path)
        page.mouse.up()
