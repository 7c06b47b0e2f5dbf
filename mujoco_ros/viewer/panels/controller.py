"""The panel "Controller": state machines of controllers with lifecycle services."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.clients import ControllerClient, ControllerInfo, Request, TransitionInfo
from mujoco_ros.viewer.docks import DOCKS, DockArea
from mujoco_ros.viewer.message_shapes import printable
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import child, format_stamp
from mujoco_ros.viewer.state_layout import (
    DiagramBox,
    DiagramLayout,
    Point,
    Route,
    lay_out_states,
)
from mujoco_ros.viewer.style import BAD, FILL

_SEGMENTS = 6  # lines of a curve


class StateGraph:
    """The graph of a state machine; it scrolls to the active state when that changes."""

    def __init__(self) -> None:
        self._shown = ("", "")

    def build(self, controller: ControllerInfo) -> None:
        """Build the graph; the available transitions are highlighted."""
        states = controller.states or ((controller.state,) if controller.state else ())
        if not states:
            return
        layout = _layout(tuple(states), controller.transitions, imgui.GetFontSize())
        height = min(layout.height + 2.0 * style.GRAPH_MARGIN, style.MAX_GRAPH_HEIGHT)
        with child("graph", height=height) as is_visible:
            if is_visible:
                self._build(controller, layout, height)

    def _build(self, controller: ControllerInfo, layout: DiagramLayout, height: float) -> None:
        room = float(imgui.GetContentRegionAvail().x)
        corner = imgui.GetCursorScreenPos()
        origin = Point(
            corner.x + max(0.0, 0.5 * (room - layout.width)), corner.y + style.GRAPH_MARGIN
        )
        _draw_arrows(controller, layout, origin)
        for state, place in layout.places.items():
            active = style.BAD if controller.is_stopped else style.GOOD
            _draw_box(state, place, origin, active if state == controller.state else None)
        shown, self._shown = self._shown, (controller.name, controller.state)
        if shown != self._shown and controller.state in layout.places:
            middle = layout.places[controller.state].middle.y
            imgui.SetScrollY(max(0.0, middle - 0.5 * height))
        imgui.Dummy(imgui.Vec2(layout.width, layout.height + style.GRAPH_MARGIN))


@lru_cache(maxsize=16)
def _layout(
    states: tuple[str, ...], transitions: tuple[TransitionInfo, ...], _font_size: float
) -> DiagramLayout:
    """Return the layout of a graph; equal graphs of equal font size are laid out once."""

    def size(state: str) -> tuple[float, float]:
        padding = 2.0 * style.STATE_PADDING
        return imgui.CalcTextSize(state).x + padding, imgui.CalcTextSize(state).y + padding

    pairs = [(each.start, each.goal) for each in transitions]
    return lay_out_states(states, pairs, size, gap=18.0, head=style.ARROW_HEAD)


def _draw_arrows(controller: ControllerInfo, layout: DiagramLayout, origin: Point) -> None:
    """Draw the arrows, the available transitions over all others."""
    available = {
        (each.start, each.goal)
        for each in controller.transitions
        if each.start == controller.state and each.label in controller.available
    }
    faint, highlight = imgui.GetColorU32(imgui.Col.TextDisabled), style.packed(style.GOOD)
    drawn = [(route, (route.link.start, route.link.goal) in available) for route in layout.routes]
    for route, is_available in sorted(drawn, key=itemgetter(1)):
        _draw_arrow(route, origin, *((highlight, 2.0) if is_available else (faint, 1.0)))


def _draw_arrow(route: Route, origin: Point, colour: int, thickness: float) -> None:
    draw = imgui.GetWindowDrawList()
    for start, end in pairwise(_curve(route.points)):
        low = imgui.Vec2(origin.x + start.x, origin.y + start.y)
        high = imgui.Vec2(origin.x + end.x, origin.y + end.y)
        draw.AddLine(low, high, colour, thickness)
    foot, tip = route.points[-1], route.tip
    dx, dy = 0.5 * (tip.x - foot.x), 0.5 * (tip.y - foot.y)
    draw.AddTriangleFilled(
        imgui.Vec2(origin.x + tip.x, origin.y + tip.y),
        imgui.Vec2(origin.x + foot.x - dy, origin.y + foot.y + dx),
        imgui.Vec2(origin.x + foot.x + dy, origin.y + foot.y - dx),
        colour,
    )


def _curve(points: Sequence[Point]) -> Iterator[Point]:
    """Yield points of cubic Bézier curves; the drawing of Dear ImGui has only lines."""
    yield points[0]
    for first in range(0, len(points) - 3, 3):
        controls = points[first : first + 4]
        for step in range(1, _SEGMENTS + 1):
            part = step / _SEGMENTS
            rest = 1.0 - part
            shares = rest**3, 3.0 * rest**2 * part, 3.0 * rest * part**2, part**3
            yield Point(
                sum(share * control.x for share, control in zip(shares, controls, strict=True)),
                sum(share * control.y for share, control in zip(shares, controls, strict=True)),
            )


def _draw_box(state: str, place: DiagramBox, origin: Point, active: style.Colour | None) -> None:
    draw, theme = imgui.GetWindowDrawList(), imgui.GetStyleColorVec4
    low = imgui.Vec2(origin.x + place.x, origin.y + place.y)
    high = imgui.Vec2(origin.x + place.right, origin.y + place.bottom)
    fill = style.vec4(active) if active else theme(imgui.Col.Button)
    draw.AddRectFilled(low, high, imgui.GetColorU32(fill), 5.0)
    ink = style.vec4(style.WHITE) if active else theme(imgui.Col.Text)
    size = imgui.CalcTextSize(state)
    middle = Point(origin.x + place.middle.x, origin.y + place.middle.y)
    corner = imgui.Vec2(middle.x - 0.5 * size.x, middle.y - 0.5 * size.y)
    draw.AddText(corner, imgui.GetColorU32(ink), state)


_EVENTS = (("Time", 0.0), ("Transition", 1.0), ("From", 1.0), ("To", 1.0))


class ControllerPanel(Panel):
    """The graph, transitions and events of nodes that have the lifecycle_msgs services."""

    title = "Controller"
    area = DockArea.RIGHT_BELOW

    def __init__(self, state: SharedState, controllers: ControllerClient) -> None:
        super().__init__(state)
        self._controllers = controllers
        self._selected = ""
        self._request: Request | None = None
        self._graph = StateGraph()

    def update(self) -> None:
        if self._controllers.known:
            DOCKS.prefer_tab(self.area, self.title)

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        if self._controllers.known:
            yield from super().windows()

    def build(self) -> None:
        controllers = self._controllers.known
        if self._selected not in controllers:
            self._selected = min(controllers)
        if len(controllers) > 1:
            imgui.SetNextItemWidth(FILL)
            selected = widgets.combo("##controller", self._selected, sorted(controllers))
            self._selected = selected or self._selected
        controller = controllers[self._selected]
        colour = BAD if controller.is_stopped else None
        widgets.text(f"{controller.name} is {controller.state or 'in an unknown state'}", colour)
        if controller.reason:
            widgets.text(printable(controller.reason, keep="\n"), colour)
        self._build_transitions(controller)
        if self._request is not None:
            widgets.request_result(self._request)
        self._graph.build(controller)
        self._build_events(controller)

    def _build_transitions(self, controller: ControllerInfo) -> None:
        """Build a button per transition that is available; the others are folded away."""
        labels = [*(each.label for each in controller.transitions), *controller.available]
        available = [label for label in dict.fromkeys(labels) if label in controller.available]
        for index, label in enumerate(available):
            if index and widgets.fits_in_row(label):
                imgui.SameLine()
            if widgets.button(label):
                self._request = self._controllers.change_state(controller.name, label)
        others = [label for label in dict.fromkeys(labels) if label not in controller.available]
        if others:
            # The number is no part of the identifier, else the node would close when it changes.
            with widgets.tree(f"{len(others)} not available now###others") as is_open:
                if is_open:
                    widgets.text(", ".join(others))

    def _build_events(self, controller: ControllerInfo) -> None:
        if not controller.events:
            return
        with widgets.table("events", _EVENTS, height=FILL) as is_open:
            for time, transition in reversed(controller.events) if is_open else ():
                imgui.TableNextRow()
                widgets.number_cell(format_stamp(time))
                widgets.cell(transition.label)
                widgets.cell(transition.start)
                widgets.cell(transition.goal)
