"""The picture of a state machine: boxes, arrows between them, the present one lit."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.controllers.fsm.diagram.layout.layout import lay_out
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    BoxPlacement,
    DiagramBox,
    DiagramLayout,
    DiagramLink,
    Measure,
    Point,
    Route,
)
from mujoco_ros.viewer.link import ControllerInfo, Edge
from mujoco_ros.viewer.panels.widgets import GOOD, child

_PAD = 6.0
_HEAD = 7.0
_MARGIN = 3.0
_HIGHEST = 320.0
"""How high it is at most before it scrolls [px]."""
_FEWEST = 4
"""Where at least so many arrows lead, from half of the states or more, is a place aside."""


class StateGraph:
    """The picture of one state machine or another; what is present comes into sight by itself."""

    def __init__(self) -> None:
        """Have shown nothing yet."""
        self._shown = ("", "")

    def build(self, controller: ControllerInfo) -> None:
        """Build the picture; the transitions that can be taken are lit."""
        states = controller.states or ((controller.state,) if controller.state else ())
        if not states:
            return
        layout = _layout(tuple(states), tuple(controller.edges), imgui.GetFontSize())
        height = min(layout.height + 2.0 * _MARGIN, _HIGHEST)
        with child("graph", height=height) as is_seen:
            if is_seen:
                self._build(controller, layout, height)

    def _build(self, controller: ControllerInfo, layout: DiagramLayout, height: float) -> None:
        room = float(imgui.GetContentRegionAvail().x)
        corner = imgui.GetCursorScreenPos()
        origin = Point(corner.x + max(0.0, 0.5 * (room - layout.width)), corner.y + _MARGIN)
        _draw_arrows(controller, layout, origin)
        _draw_boxes(controller.state, layout, origin)
        shown, self._shown = self._shown, (controller.name, controller.state)
        if shown != self._shown and controller.state in layout.places:
            middle = layout.places[controller.state].middle.y
            imgui.SetScrollY(max(0.0, middle - 0.5 * height))
        imgui.Dummy(imgui.Vec2(layout.width, layout.height + _MARGIN))


@lru_cache(maxsize=16)
def _layout(states: tuple[str, ...], edges: tuple[Edge, ...], _font: float) -> DiagramLayout:
    """Lay a machine out; the same one at the same size of letters is not laid out again."""
    pairs = {(e.start, e.goal): None for e in edges if {e.start, e.goal} <= set(states)}
    apart = aside(states, pairs)
    boxes = [
        DiagramBox(
            name=state,
            width=imgui.CalcTextSize(state).x + 2.0 * _PAD,
            height=imgui.CalcTextSize(state).y + 2.0 * _PAD,
            aside=state in apart,
        )
        for state in states
    ]
    links = [DiagramLink(start=start, goal=goal, aside=goal in apart) for start, goal in pairs]
    measure = Measure(width=lambda _: 0.0, line=0.0, head=_HEAD, gap=16.0, clear=5.0)
    return lay_out(boxes, links, measure)


def aside(states: Sequence[str], pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the states to which most others lead, as where something fails, or none at all."""
    between = [(start, goal) for start, goal in pairs if start != goal]
    leading = Counter(goal for _, goal in between)
    linked = {state for pair in between for state in pair}
    fewest = max(_FEWEST, 0.5 * (len(states) - 1))
    return {
        state
        for state in states[1:]
        if leading[state] >= fewest or (linked and state not in linked)
    }


def _draw_arrows(controller: ControllerInfo, layout: DiagramLayout, origin: Point) -> None:
    faint = imgui.GetColorU32(imgui.Col.TextDisabled)
    lit = imgui.GetColorU32(imgui.Vec4(*GOOD))
    offered = {
        (edge.start, edge.goal)
        for edge in controller.edges
        if edge.start == controller.state and edge.label in controller.available
    }
    later = []
    for route in layout.routes:
        if (route.link.start, route.link.goal) in offered:
            later.append(route)
        else:
            _draw_arrow(route, origin, faint, 1.0)
    for route in later:
        _draw_arrow(route, origin, lit, 2.0)


def _draw_arrow(route: Route, origin: Point, colour: int, thickness: float) -> None:
    draw = imgui.GetWindowDrawList()
    points = [Point(origin.x + x, origin.y + y) for x, y in route.points]
    for one, other in pairwise(points):
        draw.AddLine(imgui.Vec2(*one), imgui.Vec2(*other), colour, thickness)
    before, tip = points[-2:]
    length = abs(tip.x - before.x) + abs(tip.y - before.y) or 1.0
    along = Point((tip.x - before.x) / length, (tip.y - before.y) / length)
    foot = Point(tip.x - _HEAD * along.x, tip.y - _HEAD * along.y)
    wing = 0.5 * _HEAD
    draw.AddTriangleFilled(
        imgui.Vec2(*tip),
        imgui.Vec2(foot.x - wing * along.y, foot.y + wing * along.x),
        imgui.Vec2(foot.x + wing * along.y, foot.y - wing * along.x),
        colour,
    )


def _draw_boxes(present: str, layout: DiagramLayout, origin: Point) -> None:
    for state, place in layout.places.items():
        _draw_box(state, place, origin, is_lit=state == present)


def _draw_box(state: str, place: BoxPlacement, origin: Point, *, is_lit: bool) -> None:
    draw = imgui.GetWindowDrawList()
    low = imgui.Vec2(origin.x + place.x, origin.y + place.y)
    high = imgui.Vec2(origin.x + place.right, origin.y + place.bottom)
    fill = imgui.Vec4(*GOOD) if is_lit else imgui.GetStyleColorVec4(imgui.Col.Button)
    draw.AddRectFilled(low, high, imgui.GetColorU32(fill), 5.0)
    ink = imgui.Vec4(1.0, 1.0, 1.0, 1.0) if is_lit else imgui.GetStyleColorVec4(imgui.Col.Text)
    size = imgui.CalcTextSize(state)
    middle = Point(origin.x + place.middle.x, origin.y + place.middle.y)
    corner = imgui.Vec2(middle.x - 0.5 * size.x, middle.y - 0.5 * size.y)
    draw.AddText(corner, imgui.GetColorU32(ink), state)
