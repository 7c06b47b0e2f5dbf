"""The page of a running simulator, driven by a browser."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

TIMEOUT_S = 120.0
_PERIOD_S = 0.2


class PageDriver:
    """A page in a browser; its widgets are found by window and label."""

    def __init__(self, page: Any, widgets: Path) -> None:
        """Drive a page; its viewer writes the rectangles of the widgets to the file `widgets`."""
        self.page = page
        self._widgets = widgets

    def screenshot(self) -> np.ndarray:
        """Return the page as RGB.  # (height, width, 3) uint8"""
        encoded = np.frombuffer(self.page.screenshot(scale="css"), dtype=np.uint8)
        return cv2.cvtColor(cv2.imdecode(encoded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)

    def magenta(self) -> np.ndarray:
        """Return the magenta pixels, x and y, in any light.  # (n, 2)"""
        red, green, blue = np.moveaxis(self.screenshot().astype(int), 2, 0)
        rows, columns = np.nonzero((red > green + 60) & (blue > green + 60))
        return np.stack([columns, rows], axis=1)

    def wait(self, condition: Callable[[], bool], what: str, period_s: float = _PERIOD_S) -> None:
        """Wait until a condition holds."""
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, f"timeout: {what}"
            self.page.wait_for_timeout(1000.0 * period_s)

    def middle(self, label: str) -> tuple[float, float]:
        """Wait for the widget ``window/label``; return its middle."""
        found: dict[str, list[float]] = {}

        def is_found() -> bool:  # the viewer writes the file again at any time
            found.update(self.found)
            return label in found

        self.wait(is_found, f"{label}, but {', '.join(self.found)}")
        left, top, right, bottom = found[label]
        return (left + right) / 2.0, (top + bottom) / 2.0

    def forget(self) -> None:
        """Drop the widgets until the viewer writes them again."""
        self._widgets.unlink(missing_ok=True)

    def front(self, window: str) -> None:
        """Bring a window to the front of its dock area."""
        draft = self._widgets.with_suffix(".draft_of_front")
        draft.write_text(window)
        draft.replace(self._widgets.with_suffix(".front"))

    def frames(self, count: int = 2) -> None:
        """Wait for frames of the browser and of the viewer.

        Input between two frames gets lost, and either may be the slower one on a busy machine.
        """
        self.page.evaluate(
            """count => new Promise(done => {
                const next = () => count-- > 0 ? requestAnimationFrame(next) : done();
                next();
            })""",
            count,
        )
        first = self.frame_count
        self.wait(lambda: self.frame_count >= first + count, "frames of the viewer", 0.02)

    def press(self, position: tuple[float, float]) -> None:
        """Click at a position."""
        self.page.mouse.move(*position)
        self.frames()
        self.page.mouse.down()
        self.frames()
        self.page.mouse.up()
        self.frames()

    def reveal(self, label: str, place: tuple[float, float]) -> None:
        """Turn the wheel at a place in the window of a widget until that is visible."""

        def is_visible() -> bool:
            if label in self.found:
                return True
            self.page.mouse.move(*place)
            self.frames()
            self.page.mouse.wheel(0.0, 40.0)
            self.frames(3)
            return False

        self.wait(is_visible, f"{label} is not visible")

    def click(self, label: str) -> None:
        """Click a widget."""
        self.press(self.middle(label))

    def type(self, label: str, text: str) -> None:
        """Replace the text of a field and press return."""
        self.press(self.middle(label))
        self.page.keyboard.type(text)
        self.frames(2 + len(text))  # Dear ImGui may take one character per frame
        self.page.keyboard.down("Enter")
        self.frames()
        self.page.keyboard.up("Enter")
        self.frames()

    def drag(self, start: tuple[float, float], motion: tuple[float, float], button: str) -> None:
        """Press a mouse button and move; the button stays pressed."""
        self.page.mouse.move(*start)
        self.frames()
        self.page.mouse.down(button=button)
        self.frames()
        for part in (0.5, 1.0):
            self.page.mouse.move(start[0] + part * motion[0], start[1] + part * motion[1])
            self.frames()

    @property
    def frame_count(self) -> int:
        """Number of frames that the viewer has built."""
        return int(self._read("frames", 0))

    @property
    def found(self) -> dict[str, list[float]]:
        """The rectangle of each widget, by window and label."""
        found: dict[str, list[float]] = self._read("widgets", {})
        return found

    def _read(self, key: str, default: Any) -> Any:
        """Return the latest value that the viewer wrote."""
        try:
            return json.loads(self._widgets.read_text())[key]
        except FileNotFoundError:
            return default
