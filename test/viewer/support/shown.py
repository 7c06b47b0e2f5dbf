"""The page of a running simulator, for tests that look at it and click on it."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

PATIENCE_S = 120.0
_LOOK_S = 0.2


class Shown:
    """A page in a browser, whose widgets are found by window and label."""

    def __init__(self, page: Any, widgets: Path) -> None:
        """Look at a page; its viewer writes to the file `widgets` where they are."""
        self.page = page
        self._widgets = widgets

    def look(self) -> np.ndarray:
        """Return what is seen.  # (height, width, 3) uint8, red first"""
        encoded = np.frombuffer(self.page.screenshot(scale="css"), dtype=np.uint8)
        return cv2.cvtColor(cv2.imdecode(encoded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)

    def magenta(self) -> np.ndarray:
        """Return the pixels that are of that colour, in whatever light, x and y.  # (n, 2)"""
        red, green, blue = np.moveaxis(self.look().astype(int), 2, 0)
        rows, columns = np.nonzero((red > green + 60) & (blue > green + 60))
        return np.stack([columns, rows], axis=1)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Look again and again until a condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"not seen: {what}"
            self.page.wait_for_timeout(1000.0 * _LOOK_S)

    def middle(self, label: str) -> tuple[float, float]:
        """Return the middle of the widget of that name, ``window/label``, waiting for it."""
        self.wait(lambda: label in self._found(), f"{label}, but {', '.join(self._found())}")
        left, top, right, bottom = self._found()[label]
        return (left + right) / 2.0, (top + bottom) / 2.0

    def front(self, window: str) -> None:
        """Bring a window to the front, of those that share a place."""
        draft = self._widgets.with_suffix(".draft_of_front")
        draft.write_text(window)
        draft.replace(self._widgets.with_suffix(".front"))

    def frames(self, count: int = 3) -> None:
        """Wait until the browser has drawn: what comes and goes between, it does not tell."""
        self.page.evaluate(
            """count => new Promise(done => {
                const next = () => count-- > 0 ? requestAnimationFrame(next) : done();
                next();
            })""",
            count,
        )

    def press(self, place: tuple[float, float]) -> None:
        """Click there."""
        self.page.mouse.move(*place)
        self.frames()
        self.page.mouse.down()
        self.frames()
        self.page.mouse.up()
        self.frames()

    def click(self, label: str) -> None:
        """Click a widget."""
        self.press(self.middle(label))

    def type(self, label: str, text: str) -> None:
        """Write into a field in place of what is there, and press return."""
        self.press(self.middle(label))
        for key in (*text, "Enter"):
            self.page.keyboard.down(key)
            self.frames()
            self.page.keyboard.up(key)
            self.frames()

    def drag(self, start: tuple[float, float], way: tuple[float, float], button: str) -> None:
        """Press a mouse button and move; it stays pressed."""
        self.page.mouse.move(*start)
        self.frames()
        self.page.mouse.down(button=button)
        self.frames()
        for part in np.linspace(0.0, 1.0, 5):
            self.page.mouse.move(start[0] + part * way[0], start[1] + part * way[1])
            self.frames(2)

    def _found(self) -> dict[str, list[float]]:
        if not self._widgets.exists():
            return {}
        found: dict[str, list[float]] = json.loads(self._widgets.read_text())
        return found
