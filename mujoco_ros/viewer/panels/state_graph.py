"""The picture of a state machine: boxes on an ellipse, arrows between them, the present one lit."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.link import ControllerInfo
from mujoco_ros.viewer.panels.widgets import GOOD

_HEIGHT = 170.0
_PAD = 6.0
_ASIDE = 5.0
"""So far [pixels] arrows go beside the line between two boxes, so that there and back are two."""
_HEAD = 7.0


class Point(NamedTuple):
    """A place in a picture [pixels]; y points down."""

    x: float
    y: float


class Arrow(NamedTuple):
    """From the rim of one box to that of another; `side` is a unit vector across."""

    tail: Point
    head: Point
    along: Point
    side: Point


def on_ellipse(count: int, middle: Point, width: float, height: float) -> list[Point]:
    """Return places for so many boxes, clockwise from the top."""
    if count == 1:
        return [middle]
    turns = [2.0 * math.pi * index / count for index in range(count)]
    return [
        Point(
            middle.x + 0.5 * width * math.sin(turn),
            middle.y - 0.5 * height * math.cos(turn),
        )
        for turn in turns
    ]


def arrow(start: Point, start_size: Point, goal: Point, goal_size: Point) -> Arrow | None:
    """Return the arrow between two boxes by middles and sizes; None if they are in one place."""
    dx, dy = goal.x - start.x, goal.y - start.y
    length = math.hypot(dx, dy)
    if length == 0.0:
        return None
    along, side = Point(dx / length, dy / length), Point(-dy / length, dx / length)
    out, into = _rim(along, start_size), _rim(along, goal_size)
    tail = Point(
        start.x + along.x * out + side.x * _ASIDE, start.y + along.y * out + side.y * _ASIDE
    )
    head = Point(
        goal.x - along.x * into + side.x * _ASIDE, goal.y - along.y * into + side.y * _ASIDE
    )
    return Arrow(tail, head, along, side)


def _rim(along: Point, size: Point) -> float:
    """Return how far it is from the middle of a box to its rim."""
    ways = [0.5 * extent / abs(share) for share, extent in zip(along, size, strict=True) if share]
    return min(ways)


def build_state_graph(controller: ControllerInfo) -> None:
    """Build the picture, as wide as the window; the transitions that can be taken are lit."""
    states = controller.states or ((controller.state,) if controller.state else ())
    if not states:
        return
    corner, width = imgui.GetCursorScreenPos(), max(float(imgui.GetContentRegionAvail().x), 1.0)
    sizes = [_box(state) for state in states]
    middle = Point(corner.x + 0.5 * width, corner.y + 0.5 * _HEIGHT)
    room = width - max(size.x for size in sizes) - 2.0
    places = on_ellipse(len(states), middle, max(room, 0.0), _HEIGHT - sizes[0].y - 2.0)
    boxes = dict(zip(states, zip(places, sizes, strict=True), strict=True))
    _draw_arrows(controller, boxes)
    _draw_boxes(states, controller.state, boxes)
    imgui.Dummy(imgui.Vec2(width, _HEIGHT))


def _box(state: str) -> Point:
    size = imgui.CalcTextSize(state)
    return Point(size.x + 2.0 * _PAD, size.y + 2.0 * _PAD)


def _draw_arrows(controller: ControllerInfo, boxes: dict[str, tuple[Point, Point]]) -> None:
    draw = imgui.GetWindowDrawList()
    faint = imgui.GetColorU32(imgui.Col.TextDisabled)
    lit = imgui.GetColorU32(imgui.Vec4(*GOOD))
    for edge in controller.edges:
        if edge.start not in boxes or edge.goal not in boxes:
            continue
        drawn = arrow(*boxes[edge.start], *boxes[edge.goal])
        if drawn is None:
            continue
        offered = edge.start == controller.state and edge.label in controller.available
        colour = lit if offered else faint
        tail, head, along, side = drawn
        draw.AddLine(imgui.Vec2(*tail), imgui.Vec2(*head), colour, 2.0 if offered else 1.0)
        foot = Point(head.x - _HEAD * along.x, head.y - _HEAD * along.y)
        wing = 0.5 * _HEAD
        draw.AddTriangleFilled(
            imgui.Vec2(*head),
            imgui.Vec2(foot.x + wing * side.x, foot.y + wing * side.y),
            imgui.Vec2(foot.x - wing * side.x, foot.y - wing * side.y),
            colour,
        )


def _draw_boxes(states: Sequence[str], present: str, boxes: dict[str, tuple[Point, Point]]) -> None:
    draw = imgui.GetWindowDrawList()
    for state in states:
        place, size = boxes[state]
        is_lit = state == present
        low = imgui.Vec2(place.x - 0.5 * size.x, place.y - 0.5 * size.y)
        high = imgui.Vec2(place.x + 0.5 * size.x, place.y + 0.5 * size.y)
        fill = imgui.Vec4(*GOOD) if is_lit else imgui.GetStyleColorVec4(imgui.Col.Button)
        draw.AddRectFilled(low, high, imgui.GetColorU32(fill), 5.0)
        ink = imgui.Vec4(1.0, 1.0, 1.0, 1.0) if is_lit else imgui.GetStyleColorVec4(imgui.Col.Text)
        corner = imgui.Vec2(low.x + _PAD, low.y + _PAD)
        draw.AddText(corner, imgui.GetColorU32(ink), state)
