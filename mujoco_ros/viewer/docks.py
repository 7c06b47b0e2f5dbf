"""Where windows are: a column on either side, each in two parts, and a strip below the scene."""

from enum import Enum

from mujoco.studio.dear_imgui import dear_imgui as imgui

Rectangle = tuple[float, float, float, float]
"""Left, top, width and height [px]."""

_ROOT = "scene and panels"
# Dear ImGui's ImGuiDockNodeFlags_DockSpace, which has no name in Python: keeps the middle free.
_DOCK_SPACE = 1 << 10
_FLAGS = int(imgui.DockNodeFlags.PassthruCentralNode)
# Windows that appear come to the front; in so many frames, all of them have.
_SETTLING_FRAMES = 3
# What Studio takes for the size of a page that has not told its own yet.
_UNTOLD = (1400.0, 720.0)
_BUTTONS = (imgui.MouseButton.Left, imgui.MouseButton.Right, imgui.MouseButton.Middle)


class DockPlace(Enum):
    """A place for windows; several in one are tabs."""

    LEFT = "left"
    LEFT_BELOW = "left below"
    RIGHT = "right"
    RIGHT_BELOW = "right below"
    BELOW = "below"


_AROUND = (
    (DockPlace.LEFT, imgui.Dir.Left, 0.22),
    (DockPlace.RIGHT, imgui.Dir.Right, 0.36),
    (DockPlace.BELOW, imgui.Dir.Down, 0.29),
)
"""What is split off from around the scene, on which side, and its share of what is left."""

_IN_TWO = (
    (DockPlace.LEFT, DockPlace.LEFT_BELOW, 0.5),
    (DockPlace.RIGHT, DockPlace.RIGHT_BELOW, 0.42),
)
"""Columns that are split: the upper part, the lower one, and the share of that."""


class Docks:
    """The places of the windows of one context of Dear ImGui."""

    def __init__(self) -> None:
        self._nodes: dict[DockPlace, int] = {}
        self._borders: dict[DockPlace, Rectangle] = {}
        self._behind: list[str] = []  # what is still to be brought to the front
        self._leads: dict[DockPlace, str] = {}
        self._size = (0.0, 0.0)
        self._frames = 0
        self._is_touched = False

    def expect_page(self) -> None:
        """Prepare for a page; windows stay where they are if it has the size of the last one."""
        self._is_touched = False

    def lay_out(self) -> Rectangle | None:
        """Begin a frame: make the places if need be; return the rectangle of the scene.

        It is None as long as windows are coming. A page tells its size some time after it came;
        once somebody has clicked on it, windows stay where they are, whatever its size.
        """
        root, size = imgui.GetID(_ROOT), imgui.GetIO().DisplaySize
        self._is_touched |= any(imgui.IsMouseClicked(button) for button in _BUTTONS)
        is_other = (size.x, size.y) not in (self._size, _UNTOLD)
        if is_other and self._is_touched:
            self._size = (size.x, size.y)
        elif is_other or not imgui.DockBuilderGetNode(root):
            self._split(root, size)
        imgui.DockSpaceOverMainViewport(root, _FLAGS)
        self._frames += 1
        if self._frames <= _SETTLING_FRAMES:
            return None
        if self._behind:
            imgui.SetWindowFocus(self._behind.pop())
        return self._scene()

    def place(self, place: DockPlace, title: str) -> None:
        """Have the window that begins next, of that title, be there, until it is dragged away.

        The first window of a place is the tab in front, unless another leads.
        """
        if place not in self._nodes:
            return
        if place not in self._borders:
            self._borders[place] = (0.0, 0.0, 0.0, 0.0)
            self._behind.append(self._leads.get(place, title))
        is_new = self._frames <= 1
        condition = imgui.Cond.Always if is_new else imgui.Cond.FirstUseEver
        imgui.SetNextWindowDockID(self._nodes[place], int(condition))

    def lead(self, place: DockPlace, title: str) -> None:
        """Have the window of that title be the tab in front, until somebody has clicked."""
        if not self._is_touched and self._leads.get(place) != title:
            self._leads[place] = title
            self._behind.insert(0, title)

    def border(self, place: DockPlace) -> None:
        """Take notice of where the window is that has begun at a place."""
        if place in self._borders and imgui.IsWindowDocked():
            corner, size = imgui.GetWindowPos(), imgui.GetWindowSize()
            self._borders[place] = (corner.x, corner.y, size.x, size.y)

    def _split(self, root: int, size: imgui.Vec2) -> None:
        imgui.DockBuilderRemoveNode(root)
        imgui.DockBuilderAddNode(root, _FLAGS | _DOCK_SPACE)
        imgui.DockBuilderSetNodeSize(root, size)
        rest = root
        for place, side, share in _AROUND:
            self._nodes[place], rest = imgui.DockBuilderSplitNode(rest, side, share)
        for upper, lower, share in _IN_TWO:
            self._nodes[lower], self._nodes[upper] = imgui.DockBuilderSplitNode(
                self._nodes[upper], imgui.Dir.Down, share
            )
        imgui.DockBuilderFinish(root)
        self._borders.clear()
        self._behind.clear()
        self._size, self._frames = (size.x, size.y), 0

    def _scene(self) -> Rectangle:
        """Return what the columns and the strip leave, as they were in the last frame."""
        left, top = 0.0, imgui.GetFrameHeight()  # below the bar with the menus
        right, bottom = imgui.GetIO().DisplaySize.x, imgui.GetIO().DisplaySize.y
        for place, (x, y, wide, _) in self._borders.items():
            if place is DockPlace.BELOW:
                bottom = y
            elif place in (DockPlace.LEFT, DockPlace.LEFT_BELOW):
                left = x + wide
            else:
                right = x
        return left, top, right - left, bottom - top


_docks = Docks()
expect_page, lay_out = _docks.expect_page, _docks.lay_out
place, lead, border = _docks.place, _docks.lead, _docks.border
