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
_SETTLING_FRAMES = 10
"""Frames of a new page within which the viewer raises the first window of each dock area."""
_RESTING_FRAMES = 3
"""Frames for which a widget is at the same place before it is clicked."""


class PageDriver:
    """A page in a browser; its widgets are found by window and label."""

    def __init__(self, page: Any, widgets: Path) -> None:
        """Drive a page; its viewer writes the rectangles of the widgets to the file `widgets`."""
        self.page = page
        self._widgets = widgets

    def settle(self) -> None:
        """Wait until the windows of a new page are docked, and the first ones are in front."""
        settled = self.frame_count + _SETTLING_FRAMES
        self.wait(lambda: self.frame_count >= settled, "a settled layout", 0.02)

    def screenshot(self) -> np.ndarray:
        """Return the page as RGB.  # (height, width, 3) uint8"""
        encoded = np.frombuffer(self.page.screenshot(scale="css"), dtype=np.uint8)
        return cv2.cvtColor(cv2.imdecode(encoded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)

    def move_to(self, position: tuple[float, float]) -> None:
        """Move the mouse to a position, without a tip of the widget where it was."""
        self.page.mouse.move(*position)
        self.frames(4)

    def part(self, label: str) -> np.ndarray:
        """Return a window or a widget of the page as RGB.  # (height, width, 3) uint8"""
        left, top, right, bottom = map(int, self.found[label])
        return self.screenshot()[top:bottom, left:right]

    def magenta(self) -> np.ndarray:
        """Return the magenta pixels, x and y, in any light.  # (n, 2)"""
        red, green, blue = np.moveaxis(self.screenshot().astype(int), 2, 0)
        rows, columns = np.nonzero((red > green + 60) & (blue > green + 60))
        return np.stack([columns, rows], axis=1)

    def wait(self, condition: Callable[[], bool], what: str, period_s: float = _PERIOD_S) -> None:
        """Wait until a condition holds."""
        deadline, first = time.monotonic() + TIMEOUT_S, self.frame_count
        while not condition():
            if time.monotonic() > deadline:
                frames = self.frame_count - first
                raise AssertionError(
                    f"timeout: {what}; {frames} frames of the viewer, with {', '.join(self.found)}"
                )
            self.page.wait_for_timeout(1000.0 * period_s)

    def scroll_to(self, label: str) -> None:
        """Scroll to the widget ``window/label`` within the next frames, if it is built."""
        self._request("reveal", label)

    def middle(self, label: str) -> tuple[float, float]:
        """Scroll to the widget ``window/label`` and wait until it rests; return its middle."""
        self.scroll_to(label)
        seen: list[tuple[int, list[float]]] = []  # number of a frame, rectangle in it

        def rests() -> bool:
            latest = self._latest
            rectangle = latest["widgets"].get(label)
            if rectangle is None or (seen and seen[0][1] != rectangle):
                seen.clear()
            if rectangle is not None and not seen:
                seen.append((latest["frames"], rectangle))
            return bool(seen) and latest["frames"] >= seen[0][0] + _RESTING_FRAMES

        self.wait(rests, f"{label} at rest", 0.02)
        left, top, right, bottom = seen[0][1]
        return (left + right) / 2.0, (top + bottom) / 2.0

    def forget(self) -> None:
        """Drop the widgets until the viewer writes them again."""
        self._widgets.unlink(missing_ok=True)

    def front(self, window: str) -> None:
        """Bring a window to the front of its dock area."""
        self._request("front", window)

    def shows(self, label: str) -> bool:
        """Bring the window of ``window/label`` to the front, and return whether it has the widget.

        It scrolls to the widget.
        """
        self.front(label.partition("/")[0])
        self.scroll_to(label)
        self.frames(4)
        return label in self.found

    def frames(self, count: int = 2) -> None:
        """Wait until the viewer has read all input, and then for frames of it.

        It builds no more than two before the page draws.
        """
        self.page.wait_for_function("heldInput.isRead()", timeout=1e3 * TIMEOUT_S)
        first = self.frame_count
        self.wait(lambda: self.frame_count >= first + count, "frames of the viewer", 0.02)

    def press(self, position: tuple[float, float]) -> None:
        """Click at a position."""
        self.page.mouse.move(*position)
        self.page.mouse.down()
        self.frames()
        self.page.mouse.up()
        self.frames()

    def click(self, label: str) -> None:
        """Click a widget."""
        self.press(self.middle(label))

    def type(self, label: str, text: str, *, is_slider: bool = False) -> None:
        """Replace the text of a field, or the number of a slider, and press return."""
        place = self.middle(label)
        if is_slider:
            self.page.keyboard.down("Control")  # a slider becomes a field
            self.frames()
        self.press(place)
        self.page.keyboard.down("Control")
        self.key("a")  # selects the former text
        self.page.keyboard.up("Control")
        self.frames()
        self.page.keyboard.type(text)
        self.frames(2 + len(text))  # Dear ImGui may take one character per frame
        self.key("Enter")

    def drag(self, start: tuple[float, float], motion: tuple[float, float], button: str) -> None:
        """Press a mouse button and move; the button stays pressed."""
        self.page.mouse.move(*start)
        self.frames()
        self.page.mouse.down(button=button)
        self.frames()
        for part in (0.5, 1.0):
            self.page.mouse.move(start[0] + part * motion[0], start[1] + part * motion[1])
            self.frames()

    def key(self, name: str) -> None:
        """Press and release a key."""
        self.page.keyboard.down(name)
        self.frames()
        self.page.keyboard.up(name)
        self.frames()

    @property
    def frame_count(self) -> int:
        """Number of frames that the viewer has built."""
        return int(self._latest["frames"])

    @property
    def found(self) -> dict[str, list[float]]:
        """The rectangle of each window by title, and of each visible widget by window and label."""
        found: dict[str, list[float]] = self._latest["widgets"]
        return found

    @property
    def texts(self) -> list[str]:
        """The visible texts, each as ``window/text``."""
        texts: list[str] = self._latest["texts"]
        return texts

    @property
    def _latest(self) -> dict[str, Any]:
        """What the viewer wrote last."""
        try:
            latest: dict[str, Any] = json.loads(self._widgets.read_text())
        except FileNotFoundError:
            return {"frames": 0, "widgets": {}, "texts": []}
        return latest

    def _request(self, what: str, name: str) -> None:
        draft = self._widgets.with_suffix(f".draft_of_{what}")
        draft.write_text(name)
        draft.replace(self._widgets.with_suffix(f".{what}"))
