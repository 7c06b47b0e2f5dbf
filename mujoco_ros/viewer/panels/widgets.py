"""Dear ImGui's blocks, which close what they opened whatever happens inside, and a few widgets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot

from mujoco_ros.viewer.link import Request

Colour = tuple[float, float, float, float]

GOOD: Colour = (0.20, 0.65, 0.32, 1.0)
WARNING: Colour = (0.87, 0.56, 0.10, 1.0)
BAD: Colour = (0.88, 0.28, 0.25, 1.0)
"""Read on a light ground as well as on a dark one."""

FILL = -1.0
"""Width of an item that takes all the room there is."""


class Column(NamedTuple):
    """A column of a table: as wide as what is in it, or its share of the room that is left."""

    label: str
    share: float = 0.0


@contextmanager
def table(
    name: str,
    columns: Sequence[Column],
    *,
    headed: bool = True,
    height: float = 0.0,
) -> Iterator[bool]:
    """Build a table; yield whether it is seen.

    Args:
        name: Its identifier in the window.
        columns: From left to right.
        headed: Whether there is a row of labels, which stays while the rest is scrolled.
        height: 0 for that of its rows, else it scrolls; negative counts from the end of the window.
    """
    flags = int(imgui.TableFlags.SizingFixedFit)
    flags |= int(imgui.TableFlags.RowBg if headed else imgui.TableFlags.NoPadOuterX)
    if headed:
        flags |= int(imgui.TableFlags.BordersInnerV) | int(imgui.TableFlags.PadOuterX)
    if height:
        flags |= int(imgui.TableFlags.ScrollY)
    is_open = imgui.BeginTable(f"##{name}", len(columns), flags, imgui.Vec2(0.0, height))
    try:
        if is_open:
            for label, share in columns:
                stretches = imgui.TableColumnFlags.WidthStretch
                kind = stretches if share else imgui.TableColumnFlags.WidthFixed
                imgui.TableSetupColumn(label, int(kind), share)
            if headed:
                imgui.TableSetupScrollFreeze(0, 1)
                imgui.TableHeadersRow()
        yield is_open
    finally:
        if is_open:
            imgui.EndTable()


def cell(text: str = "") -> None:
    """Go to the next cell, and write there in line with fields beside it."""
    imgui.TableNextColumn()
    if text:
        imgui.AlignTextToFramePadding()
        imgui.TextUnformatted(text)


def number(text: str) -> None:
    """Go to the next cell, and write there from the right."""
    imgui.TableNextColumn()
    room = imgui.GetContentRegionAvail().x - imgui.CalcTextSize(text).x
    if room > 0.0:
        imgui.SetCursorPosX(imgui.GetCursorPosX() + room)
    imgui.AlignTextToFramePadding()
    imgui.TextUnformatted(text)


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Let labels inside be others than the same labels elsewhere."""
    imgui.PushID(name)
    try:
        yield
    finally:
        imgui.PopID()


@contextmanager
def disabled(if_: bool) -> Iterator[None]:
    """Grey out what is inside, unless the condition is false."""
    imgui.BeginDisabled(if_)
    try:
        yield
    finally:
        imgui.EndDisabled()


@contextmanager
def coloured(colour: Colour, what: imgui.Col = imgui.Col.Text) -> Iterator[None]:
    """Colour the text inside, or something else of it."""
    imgui.PushStyleColor(what, imgui.Vec4(*colour))
    try:
        yield
    finally:
        imgui.PopStyleColor()


@contextmanager
def child(name: str, width: float = 0.0, height: float = 0.0) -> Iterator[bool]:
    """Build a part of the window that scrolls on its own; yield whether it is seen.

    Args:
        name: Its identifier in the window.
        width: 0 for all that is left; negative leaves so much.
        height: Likewise.
    """
    is_seen = imgui.BeginChild(f"##{name}", imgui.Vec2(width, height))
    try:
        yield is_seen
    finally:
        imgui.EndChild()


@contextmanager
def tabs(name: str) -> Iterator[bool]:
    """Build a row of tabs; yield whether it is seen."""
    is_open = imgui.BeginTabBar(f"##{name}")
    try:
        yield is_open
    finally:
        if is_open:
            imgui.EndTabBar()


@contextmanager
def tab(label: str) -> Iterator[bool]:
    """Build one tab; yield whether it is the chosen one."""
    is_open = imgui.BeginTabItem(label)
    try:
        yield is_open
    finally:
        if is_open:
            imgui.EndTabItem()


def choose(label: str, present: str, choices: Sequence[str]) -> str | None:
    """Build a field with a list to choose from; return what was chosen in this frame.

    Args:
        label: Beside the field.
        present: What the field shows; need not be a choice.
        choices: What can be chosen.
    """
    shown = list(choices) if present in choices else [present, *choices]
    changed, chosen = imgui.Combo(label, shown.index(present), shown)
    return shown[chosen] if changed else None


def button(label: str, *, width: float = 0.0, enabled: bool = True, tip: str = "") -> bool:
    """Build a button; return whether it was pressed in this frame."""
    with disabled(not enabled):
        pressed = imgui.Button(label, imgui.Vec2(width, 0.0))
    if tip:
        imgui.SetItemTooltip(tip)
    return bool(pressed)


def text(words: str, colour: Colour | None = None) -> None:
    """Write, over as many lines as it takes."""
    with coloured(colour) if colour else nullcontext():
        imgui.PushTextWrapPos(0.0)
        try:
            imgui.TextUnformatted(words)
        finally:
            imgui.PopTextWrapPos()


def bar(value: float, limit: float, label: str) -> None:
    """Build a bar from the middle to either side, red where the limit is reached.

    Args:
        value: How long it is, and to which side.
        limit: What is a full half; without a bar if that is not finite.
        label: Written over it.
    """
    corner, height = imgui.GetCursorScreenPos(), imgui.GetFrameHeight()
    width = max(imgui.GetContentRegionAvail().x, 1.0)
    draw = imgui.GetWindowDrawList()
    right, bottom = corner.x + width, corner.y + height
    draw.AddRectFilled(corner, imgui.Vec2(right, bottom), imgui.GetColorU32(imgui.Col.FrameBg))
    if 0.0 < limit < float("inf"):
        share = min(1.0, max(-1.0, value / limit))
        middle = corner.x + 0.5 * width
        left, end = sorted((middle, middle + 0.5 * width * share))
        full = imgui.GetColorU32(imgui.Vec4(*BAD))
        colour = full if abs(share) > 0.99 else imgui.GetColorU32(imgui.Col.PlotHistogram)
        draw.AddRectFilled(imgui.Vec2(left, corner.y + 2.0), imgui.Vec2(end, bottom - 2.0), colour)
    size = imgui.CalcTextSize(label)
    start = imgui.Vec2(right - size.x - 4.0, corner.y + 0.5 * (height - size.y))
    draw.AddText(start, imgui.GetColorU32(imgui.Col.Text), label)
    imgui.Dummy(imgui.Vec2(width, height))


def share(parts: int) -> float:
    """Return the width of each of so many items in a row that fill what is left of it."""
    gaps = (parts - 1) * imgui.GetStyle().ItemSpacing.x
    return max(float(imgui.GetContentRegionAvail().x - gaps) / parts, 1.0)


def answer(request: Request) -> None:
    """Write what was asked for, and what became of it."""
    text(request.line, BAD if request.ok is False else None)


def room_for(label: str) -> bool:
    """Whether a button or a box of that label fits in the row behind the item before."""
    style = imgui.GetStyle()
    width = imgui.CalcTextSize(label).x + 2.0 * style.FramePadding.x
    end = imgui.GetWindowPos().x + imgui.GetWindowWidth() - style.WindowPadding.x
    return bool(imgui.GetItemRectMax().x + style.ItemSpacing.x + width <= end)


def rows(count: int) -> Iterator[int]:
    """Yield the numbers of those rows of a long table that are seen."""
    clipper = imgui.ListClipper()
    clipper.Begin(count)
    while clipper.Step():
        yield from range(clipper.DisplayStart, clipper.DisplayEnd)


@contextmanager
def popup(name: str) -> Iterator[bool]:
    """Build what was opened by that name, until somebody clicks beside it; yield whether it is."""
    is_open = imgui.BeginPopup(name)
    try:
        yield is_open
    finally:
        if is_open:
            imgui.EndPopup()


@contextmanager
def tree(label: str) -> Iterator[bool]:
    """Build something that folds; yield whether it is unfolded."""
    is_open = imgui.TreeNode(label)
    try:
        yield is_open
    finally:
        if is_open:
            imgui.TreePop()


@contextmanager
def plot(name: str, width: float, height: float, flags: int = 0) -> Iterator[bool]:
    """Build a plot; yield whether it is seen."""
    is_open = implot.BeginPlot(name, imgui.Vec2(width, height), flags)
    try:
        yield is_open
    finally:
        if is_open:
            implot.EndPlot()
