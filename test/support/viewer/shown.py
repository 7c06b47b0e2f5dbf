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

    def wait(self, condition: Callable[[], bool], what: str, period_s: float = _LOOK_S) -> None:
        """Look again and again until a condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"not seen: {what}"
            self.page.wait_for_timeout(1000.0 * period_s)

    def middle(self, label: str) -> tuple[float, float]:
        """Return the middle of the widget of that name, ``window/label``, waiting for it."""
        self.wait(lambda: label in self.found, f"{label}, but {', '.join(self.found)}")
        left, top, right, bottom = self.found[label]
        return (left + right) / 2.0, (top + bottom) / 2.0

    def forget(self) -> None:
        """Know of no widgets until the viewer tells of some again."""
        self._widgets.unlink(missing_ok=True)

    def front(self, window: str) -> None:
        """Bring a window to the front, of those that share a place."""
        draft = self._widgets.with_suffix(".draft_of_front")
        draft.write_text(window)
        draft.replace(self._widgets.with_suffix(".front"))

    def frames(self, count: int = 2) -> None:
        """Wait until the browser has drawn, and the viewer as well.

        What comes and goes between two pictures is told to nobody, and on a busy machine now the
        one is slower, now the other.
        """
        self.page.evaluate(
            """count => new Promise(done => {
                const next = () => count-- > 0 ? requestAnimationFrame(next) : done();
                next();
            })""",
            count,
        )
        told = self._told("frames", 0)
        self.wait(lambda: self._told("frames", 0) >= told + count, "frames of the viewer", 0.02)

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
        self.page.keyboard.type(text)
        self.frames()
        self.page.keyboard.down("Enter")
        self.frames()
        self.page.keyboard.up("Enter")
        self.frames()

    def drag(self, start: tuple[float, float], way: tuple[float, float], button: str) -> None:
        """Press a mouse button and move; it stays pressed."""
        self.page.mouse.move(*start)
        self.frames()
        self.page.mouse.down(button=button)
        self.frames()
        for part in (0.5, 1.0):
            self.page.mouse.move(start[0] + part * way[0], start[1] + part * way[1])
            self.frames()

    @property
    def found(self) -> dict[str, list[float]]:
        """The rectangle of each widget, by window and label."""
        found: dict[str, list[float]] = self._told("widgets", {})
        return found

    def _told(self, what: str, otherwise: Any) -> Any:
        """Return what the viewer told last, or `otherwise` if it has told nothing yet."""
        try:
            return json.loads(self._widgets.read_text())[what]
        except FileNotFoundError:
            return otherwise
