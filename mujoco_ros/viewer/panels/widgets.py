"""Blocks of Dear ImGui as context managers, widgets that several panels use, and formats."""

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import AbstractContextManager as Block
from contextlib import contextmanager, nullcontext
from datetime import datetime
from typing import Any

import numpy as np
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.model.pose import PoseConfig, quaternion_wxyz, rpy_of
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.style import BAD, COORDINATE_GAP, Colour, packed, vec4

_LATEST_SIMULATED_S = 1e8  # larger time stamps are on the system clock, which counts from 1970


def format_stamp(time: float) -> str:
    """Return a simulated time in seconds, and a system time as the local time of day."""
    if time < _LATEST_SIMULATED_S:
        return f"{time:.2f} s"
    return datetime.fromtimestamp(time).astimezone().strftime("%H:%M:%S")


def format_speed(factor: float) -> str:
    """Return a real-time factor; 0 is as fast as possible."""
    return f"{factor:g}x" if factor > 0.0 else "as fast as possible"


def format_decimals(value: float, digits: int) -> str:
    """Return a number with a fixed number of decimals, and zero without a sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


Column = tuple[str, float]
"""Label, and share of the remaining width; 0 fits the contents."""


@contextmanager
def table(
    name: str, columns: Sequence[Column], *, headed: bool = True, height: float = 0.0
) -> Iterator[bool]:
    """Build a table; yield whether it is visible.

    A row of labels does not scroll. With a height the rows scroll; a negative one counts from the
    end of the window.
    """
    flags = int(imgui.TableFlags.SizingFixedFit)
    flags |= int(imgui.TableFlags.RowBg if headed else imgui.TableFlags.NoPadOuterX)
    if headed:
        flags |= int(imgui.TableFlags.BordersInnerV) | int(imgui.TableFlags.PadOuterX)
    if height:
        flags |= int(imgui.TableFlags.ScrollY)
    begun = imgui.BeginTable(f"##{name}", len(columns), flags, imgui.Vec2(0.0, height))
    with _block(begun, imgui.EndTable) as is_open:
        for label, share in columns if is_open else ():
            kinds = imgui.TableColumnFlags
            kind = kinds.WidthStretch if share else kinds.WidthFixed
            imgui.TableSetupColumn(label, int(kind), share)
        if is_open and headed:
            imgui.TableSetupScrollFreeze(0, 1)
            imgui.TableHeadersRow()
        yield is_open


def tabs(name: str) -> Block[bool]:
    """Build a row of tabs; yield whether it is visible."""
    return _block(imgui.BeginTabBar(f"##{name}"), imgui.EndTabBar)


def tab(label: str) -> Block[bool]:
    """Build one tab; yield whether it is selected."""
    return _block(imgui.BeginTabItem(label), imgui.EndTabItem)


@contextmanager
def popup(name: str) -> Iterator[bool]:
    """Build a popup, closed by a click outside and by Escape; yield whether it is open."""
    with _block(imgui.BeginPopup(name), imgui.EndPopup) as is_open:
        if is_open and is_escape_pressed():
            imgui.CloseCurrentPopup()
        yield is_open


def is_escape_pressed() -> bool:
    """Return whether Escape is pressed, and no text field takes it."""
    is_taken = imgui.GetIO().WantCaptureKeyboard
    return not is_taken and bool(imgui.IsKeyChordPressed(imgui.Key.Escape))


def tree(label: str) -> Block[bool]:
    """Build a tree node; yield whether it is open."""
    return _block(imgui.TreeNode(label), imgui.TreePop)


def plot(name: str, width: float, height: float, flags: int = 0) -> Block[bool]:
    """Build a plot; yield whether it is visible."""
    return _block(implot.BeginPlot(name, imgui.Vec2(width, height), flags), implot.EndPlot)


def child(name: str, width: float = 0.0, height: float = 0.0) -> Block[bool]:
    """Build a separately scrolling area, size 0 fills; yield whether it is visible."""
    return _block(
        imgui.BeginChild(f"##{name}", imgui.Vec2(width, height)), imgui.EndChild, always=True
    )


def group() -> Block[None]:
    """Build items that form one item of a row."""
    return _block(imgui.BeginGroup(), imgui.EndGroup, always=True)


def scope(name: str) -> Block[None]:
    """Distinguish the labels inside from equal labels elsewhere in the window."""
    return _block(imgui.PushID(name), imgui.PopID, always=True)


def indented() -> Block[None]:
    """Build the items inside further to the right."""
    return _block(imgui.Indent(), imgui.Unindent, always=True)


def disabled(condition: bool) -> Block[None]:
    """Disable the widgets inside if the condition holds."""
    return _block(imgui.BeginDisabled(condition), imgui.EndDisabled, always=True)


def coloured(colour: Colour) -> Block[None]:
    """Colour the text inside."""
    return _block(
        imgui.PushStyleColor(imgui.Col.Text, vec4(colour)), imgui.PopStyleColor, always=True
    )


@contextmanager
def _block(begun: Any, end: Callable[[], object], *, always: bool = False) -> Iterator[Any]:
    """Yield `begun`; a block that is not open has no end, except those that `always` have one."""
    try:
        yield begun
    finally:
        if begun or always:
            end()


def cell(text: str = "") -> None:
    """Go to the next cell and write text, aligned with fields in the row."""
    imgui.TableNextColumn()
    if text:
        imgui.AlignTextToFramePadding()
        imgui.TextUnformatted(text)


def number_cell(text: str) -> None:
    """Go to the next cell and write text, aligned to the right."""
    imgui.TableNextColumn()
    room = imgui.GetContentRegionAvail().x - imgui.CalcTextSize(text).x
    if room > 0.0:
        imgui.SetCursorPosX(imgui.GetCursorPosX() + room)
    imgui.AlignTextToFramePadding()
    imgui.TextUnformatted(text)


def visible_rows(count: int) -> Iterator[int]:
    """Yield the indices of the visible rows of a long table."""
    clipper = imgui.ListClipper()
    clipper.Begin(count)
    while clipper.Step():
        yield from range(clipper.DisplayStart, clipper.DisplayEnd)


def combo(label: str, present: str, choices: Sequence[str]) -> str | None:
    """Build a drop-down list that shows `present`; return the item selected in this frame."""
    items = list(choices) if present in choices else [present, *choices]
    changed, index = imgui.Combo(label, items.index(present), items)
    return items[index] if changed else None


def button(label: str, *, width: float = 0.0, enabled: bool = True, tip: str = "") -> bool:
    """Build a button; return whether it was pressed in this frame."""
    with disabled(not enabled):
        pressed = imgui.Button(label, imgui.Vec2(width, 0.0))
    if tip:
        imgui.SetItemTooltip(tip)
    return bool(pressed)


def number_row(
    names: Sequence[str], values: Sequence[float], caption: str = "", tips: Sequence[str] = ()
) -> tuple[tuple[float, ...], bool]:
    """Build a row of equal fields and a caption; return the numbers, and if an edit is done."""
    numbers, is_done = [float(value) for value in values], False
    room = imgui.GetContentRegionAvail().x - (len(names) - 1) * COORDINATE_GAP
    if caption:
        room -= imgui.CalcTextSize(caption).x + COORDINATE_GAP
    for index, name in enumerate(names):
        if index:
            imgui.SameLine(0.0, COORDINATE_GAP)
        imgui.SetNextItemWidth(max(room / len(names), 1.0))
        _, numbers[index] = imgui.InputDouble(name, numbers[index], 0.0, 0.0, "%.5g")
        is_done |= bool(imgui.IsItemDeactivatedAfterEdit())
        if tips:
            imgui.SetItemTooltip(tips[index])
    if caption:
        imgui.SameLine(0.0, COORDINATE_GAP)
        imgui.TextUnformatted(caption)
    return tuple(numbers), is_done


def drag_position(position: MutableSequence[float] | np.ndarray, metres_per_pixel: float) -> None:
    """Build a row of coordinates, which the mouse drags."""
    width = (imgui.GetContentRegionAvail().x - 2 * COORDINATE_GAP) / 3
    for axis, letter in enumerate("xyz"):
        if axis:
            imgui.SameLine(0.0, COORDINATE_GAP)
        imgui.SetNextItemWidth(width)
        label, shown, speed = f"##{letter}", f"{letter} %.3f", metres_per_pixel
        _, position[axis] = imgui.DragFloat(label, position[axis], speed, 0.0, 0.0, shown)


def text(words: str, colour: Colour | None = None) -> None:
    """Write text and wrap it at the edge of the window."""
    with coloured(colour) if colour else nullcontext():
        imgui.PushTextWrapPos(0.0)
        try:
            imgui.TextUnformatted(words)
        finally:
            imgui.PopTextWrapPos()


def request_result(request: Request) -> None:
    """Write a request, its result, and the command that does the same, with a button to copy it."""
    text(request.summary, BAD if request.ok is False else None)
    if request.command:
        if imgui.SmallButton("Copy"):
            imgui.SetClipboardText(request.command)
        imgui.SetItemTooltip("Copy the command that does the same")
        imgui.SameLine()
        with disabled(True):
            text(request.command)


def bar(value: float, limit: float, label: str) -> None:
    """Build a bar from the middle to either side, red at `limit`; no bar without a limit."""
    corner, height = imgui.GetCursorScreenPos(), imgui.GetFrameHeight()
    width = max(imgui.GetContentRegionAvail().x, 1.0)
    draw = imgui.GetWindowDrawList()
    right, bottom = corner.x + width, corner.y + height
    draw.AddRectFilled(corner, imgui.Vec2(right, bottom), imgui.GetColorU32(imgui.Col.FrameBg))
    if 0.0 < limit < float("inf"):
        share = min(1.0, max(-1.0, value / limit))
        middle = corner.x + 0.5 * width
        left, end = sorted((middle, middle + 0.5 * width * share))
        is_full = abs(share) > 0.99
        colour = packed(BAD) if is_full else imgui.GetColorU32(imgui.Col.PlotHistogram)
        draw.AddRectFilled(imgui.Vec2(left, corner.y + 2.0), imgui.Vec2(end, bottom - 2.0), colour)
    size = imgui.CalcTextSize(label)
    start = imgui.Vec2(right - size.x - 4.0, corner.y + 0.5 * (height - size.y))
    draw.AddText(start, imgui.GetColorU32(imgui.Col.Text), label)
    imgui.Dummy(imgui.Vec2(width, height))


def equal_width(count: int) -> float:
    """Return the width of each of `count` equal items that fill the row."""
    gaps = (count - 1) * imgui.GetStyle().ItemSpacing.x
    return max(float(imgui.GetContentRegionAvail().x - gaps) / count, 1.0)


def fits_in_row(label: str) -> bool:
    """Return whether a button with that label fits into the row after the last item."""
    style = imgui.GetStyle()
    width = imgui.CalcTextSize(label).x + 2.0 * style.FramePadding.x
    end = imgui.GetWindowPos().x + imgui.GetWindowWidth() - style.WindowPadding.x
    return bool(imgui.GetItemRectMax().x + style.ItemSpacing.x + width <= end)


_SMALLEST_NORM = 1e-6
_ROWS = (("xyz [m]", ("x", "y", "z")), ("rpy [deg]", ("roll", "pitch", "yaw")))
"""Caption of each row, and the names of its numbers."""

Numbers = tuple[float, ...]


class PoseFields:
    """Builds the fields of a pose; the angles stay as entered: several are the same orientation."""

    def __init__(self) -> None:
        self._entered: tuple[Numbers, Numbers] = ((), ())  # quaternion, and its angles [deg]

    def build(self, name: str, pose: Sequence[float]) -> tuple[Numbers, bool]:
        """Build position and quaternion (xyzw); return both, and whether an edit is done."""
        quat = tuple(pose[3:])
        shown = self._angles(quat)
        (position, is_moved), (angles, is_turned) = (
            number_row([f"##{name}.{axis}" for axis in names], values, caption, names)
            for (caption, names), values in zip(_ROWS, (pose[:3], shown), strict=True)
        )
        if angles != shown:
            roll, pitch, yaw = np.radians(angles)
            w, x, y, z = map(float, quaternion_wxyz(PoseConfig(rpy=(roll, pitch, yaw))))
            quat = (x, y, z, w)
            self._entered = quat, angles
        return (*position, *quat), is_moved or is_turned

    def _angles(self, quat: Numbers) -> Numbers:
        """Return roll, pitch and yaw of a quaternion (xyzw) [deg]."""
        entered, angles = self._entered
        if entered == quat:
            return angles
        x, y, z, w = quat
        if not _SMALLEST_NORM < float(np.linalg.norm(quat)) < np.inf:
            return (0.0, 0.0, 0.0)
        return tuple(map(float, np.degrees(rpy_of(np.array([w, x, y, z])))))
