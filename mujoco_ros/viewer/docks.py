"""Dock areas of windows: two columns, each in two parts, and a strip below the scene."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from itertools import pairwise
from typing import Any

from mujoco.studio.dear_imgui import dear_imgui as imgui

Rectangle = tuple[float, float, float, float]
"""Left, top, width and height [px]."""

MOUSE_BUTTONS = (imgui.MouseButton.Left, imgui.MouseButton.Right, imgui.MouseButton.Middle)
_ROOT = "scene and panels"
# Dear ImGui's ImGuiDockNodeFlags_DockSpace, which has no name in Python: leaves the centre empty.
_DOCK_SPACE = 1 << 10
_FLAGS = int(imgui.DockNodeFlags.PassthruCentralNode)
# New windows come to the front; after this many frames all windows exist.
_SETTLING_FRAMES = 3
# After this many frames the preferred windows are in front.
_RAISED_FRAMES = 20
_SPLITTER = 4.0  # largest gap between docked windows [px]
# Studio's page size until the page reports its own.
_DEFAULT_SIZE = (1400.0, 720.0)


class DockArea(Enum):
    """An area for windows; several windows in one area are tabs."""

    LEFT = auto()
    LEFT_BELOW = auto()
    RIGHT = auto()
    RIGHT_BELOW = auto()
    BELOW = auto()


_OUTER = (
    (DockArea.LEFT, imgui.Dir.Left, 0.22),
    (DockArea.RIGHT, imgui.Dir.Right, 0.36),
    (DockArea.BELOW, imgui.Dir.Down, 0.29),
)
"""Areas around the scene, split off in this order: side, and share of the remaining page."""

_COLUMNS = (
    (DockArea.LEFT, DockArea.LEFT_BELOW, 0.5),
    (DockArea.RIGHT, DockArea.RIGHT_BELOW, 0.42),
)
"""Columns: upper area, lower area, and share of the lower area."""


class DockLayout:
    """The dock areas of one context of Dear ImGui."""

    def __init__(self) -> None:
        # The smallest rectangle with all of the page that no docked window covers, as of the last
        # frame: left, top, right and bottom in fractions of the page, and the page's width divided
        # by its height; empty while windows settle
        self.uncovered: tuple[float, ...] = ()
        self._docked: list[Rectangle] = []  # of this frame's windows
        self._covered: list[Rectangle] = []  # of which it leaves out the windows
        self._nodes: dict[DockArea, int] = {}
        self._bounds: dict[DockArea, Rectangle] = {}
        self._to_raise: list[str] = []
        self._preferred: dict[DockArea, str] = {}
        self._front: dict[DockArea, str] = {}
        self._kept: dict[DockArea, str] = {}
        self._size = (0.0, 0.0)
        self._frames = 0
        self._is_clicked = False

    def expect_page(self) -> None:
        """Prepare for a new page; the layout is kept if the last page had the same size."""
        self._is_clicked = False

    def begin_frame(self) -> Rectangle | None:
        """Create the areas if necessary; return the rectangle of the scene, None while settling.

        A page reports its size some time after it connects, so a change of size resets the layout
        until the first mouse click.
        """
        root, size = imgui.GetID(_ROOT), imgui.GetIO().DisplaySize
        self._is_clicked |= any(imgui.IsMouseClicked(button) for button in MOUSE_BUTTONS)
        is_resized = (size.x, size.y) not in (self._size, _DEFAULT_SIZE)
        if is_resized and self._is_clicked:
            self._size = (size.x, size.y)
        elif is_resized or not imgui.DockBuilderGetNode(root):
            self._split(root, size)
        imgui.DockSpaceOverMainViewport(root, _FLAGS)
        self._frames += 1
        is_settling = self._frames <= _SETTLING_FRAMES
        self._update_uncovered((size.x, size.y), is_settling=is_settling)
        if is_settling:
            return None
        if self._is_clicked:
            self._to_raise.clear()  # another focus would end the press of a button
        elif self._to_raise:
            imgui.SetWindowFocus(self._to_raise.pop())
        return self._scene()

    def prefer_tab(self, area: DockArea, title: str) -> None:
        """Bring a window to the front of its area, unless the mouse was clicked on this page."""
        if area in self._kept:
            return
        if not self._is_clicked and self._preferred.get(area) != title:
            self._preferred[area] = title
            self._to_raise.insert(0, title)

    def settings(self) -> dict[str, Any]:
        """Return the window in front of each area, once the mouse was clicked, and kept ones."""
        front = {**self._kept, **self._front} if self._is_clicked else self._kept
        return {area.name: front[area] for area in DockArea if area in front}

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Begin with kept windows in front; no other window is preferred in their areas."""
        for area in DockArea:
            if isinstance(title := settings.get(area.name), str):
                self._kept[area] = self._preferred[area] = title

    @contextmanager
    def window(
        self, title: str, area: DockArea | None = None, *, closable: bool = False
    ) -> Iterator[tuple[bool, bool]]:
        """Build a window, docked in an area until dragged; yield whether it is visible and open.

        The first window of an area is the tab in front, unless another one is preferred.
        """
        if area in self._nodes:
            if area not in self._bounds:
                self._bounds[area] = (0.0, 0.0, 0.0, 0.0)
                self._to_raise.append(self._preferred.get(area, title))
            is_new = self._frames <= 1
            condition = imgui.Cond.Always if is_new else imgui.Cond.FirstUseEver
            imgui.SetNextWindowDockID(self._nodes[area], int(condition))
        is_visible, is_open = imgui.Begin(title, True) if closable else imgui.Begin(title)
        try:
            if imgui.IsWindowDocked():
                corner, size = imgui.GetWindowPos(), imgui.GetWindowSize()
                bounds = (corner.x, corner.y, size.x, size.y)
                self._docked.append(bounds)
                if area in self._bounds:
                    self._bounds[area] = bounds
                    if area is not None and is_visible and self._frames > _RAISED_FRAMES:
                        self._front[area] = title
            yield is_visible, is_open
        finally:
            imgui.End()

    def _split(self, root: int, size: imgui.Vec2) -> None:
        imgui.DockBuilderRemoveNode(root)
        imgui.DockBuilderAddNode(root, _FLAGS | _DOCK_SPACE)
        imgui.DockBuilderSetNodeSize(root, size)
        rest = root
        for area, side, share in _OUTER:
            self._nodes[area], rest = imgui.DockBuilderSplitNode(rest, side, share)
        for upper, lower, share in _COLUMNS:
            self._nodes[lower], self._nodes[upper] = imgui.DockBuilderSplitNode(
                self._nodes[upper], imgui.Dir.Down, share
            )
        imgui.DockBuilderFinish(root)
        self._bounds.clear()
        self._to_raise.clear()
        self._size, self._frames = (size.x, size.y), 0

    def _update_uncovered(self, page: tuple[float, float], *, is_settling: bool) -> None:
        docked, self._docked = self._docked, []
        if is_settling or min(page) <= 0.0:
            self.uncovered, self._covered = (), []
        elif docked != self._covered:
            self._covered = docked
            width, height = page
            menu = imgui.GetFrameHeight()
            x, y, *size = _uncovered((0.0, menu, width, height - menu), docked)
            right, bottom = x + size[0], y + size[1]
            self.uncovered = (x / width, y / height, right / width, bottom / height, width / height)

    def _scene(self) -> Rectangle:
        """Return the part of the page without areas, by their bounds in the last frame."""
        left, top = 0.0, imgui.GetFrameHeight()  # below the menu bar
        right, bottom = imgui.GetIO().DisplaySize.x, imgui.GetIO().DisplaySize.y
        for area, (x, y, width, _) in self._bounds.items():
            if area is DockArea.BELOW:
                bottom = y
            elif area in (DockArea.LEFT, DockArea.LEFT_BELOW):
                left = x + width
            else:
                right = x
        return left, top, right - left, bottom - top


def _uncovered(page: Rectangle, covered: Sequence[Rectangle]) -> Rectangle:
    """Return the smallest rectangle with all of `page` that is not covered; empty if all is."""
    left, top, width, height = page
    edges = [
        (x - _SPLITTER, y - _SPLITTER, x + w + _SPLITTER, y + h + _SPLITTER)
        for x, y, w, h in covered
    ]
    cells = [
        (x0, y0, x1, y1)
        for x0, x1 in pairwise(_cuts(left, left + width, [x for edge in edges for x in edge[::2]]))
        for y0, y1 in pairwise(_cuts(top, top + height, [y for edge in edges for y in edge[1::2]]))
        if not any(a <= x0 and b <= y0 and c >= x1 and d >= y1 for a, b, c, d in edges)
    ]
    if not cells:
        return left, top, 0.0, 0.0
    x0, y0 = min(cell[0] for cell in cells), min(cell[1] for cell in cells)
    return x0, y0, max(cell[2] for cell in cells) - x0, max(cell[3] for cell in cells) - y0


def _cuts(first: float, last: float, inner: Sequence[float]) -> list[float]:
    return [first, *sorted({position for position in inner if first < position < last}), last]


DOCKS = DockLayout()
"""The dock areas of the viewer."""
