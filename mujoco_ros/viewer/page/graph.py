"""The graph of a state machine as an element of the page."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from unicodedata import east_asian_width

from mujoco_ros.viewer.clients import ControllerInfo, TransitionInfo
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.state_layout import DiagramLayout, Route, lay_out_states

_CHARACTER, _PADDING, _HEIGHT = 7.3, 18.0, 26.0  # of a box [px]; 12 px letters of equal width
_GAP, _HEAD, _MARGIN = 18.0, 8.0, 4.0  # between boxes, of arrows, and around the graph [px]
_LONGEST = 40  # characters of a name


class StateGraph(LiveElement):
    """The graph of a controller, which keeps its active state in view."""

    def show(self, controller: ControllerInfo, visited: Sequence[str]) -> None:
        """Show the active state, what was `visited`, and the available transitions."""
        available = [
            (each.start, each.goal)
            for each in controller.transitions
            if each.start == controller.state and each.label in controller.available
        ]
        look = state_tone(controller)
        self.set(active=controller.state, look=look, visited=list(visited), available=available)


def state_tone(controller: ControllerInfo) -> str:
    """Return the tone of the active state: an error, a state with a reason, or another one."""
    if controller.is_stopped:
        return "bad"
    return "warning" if controller.reason else "good"


def state_graph(controller: ControllerInfo) -> StateGraph | None:
    """Create the graph of a controller; None while no state is known."""
    states = controller.states or ((controller.state,) if controller.state else ())
    if not states:
        return None
    options = _options(tuple(states), controller.transitions)
    state = {"active": "", "look": "", "visited": [], "available": []}
    named = {**options, "name": f"States of {controller.name}"}
    graph = StateGraph(current_session().feed, "graph", tag="div", options=named, state=state)
    return graph.classes("graph")


@lru_cache(maxsize=16)
def _options(states: tuple[str, ...], transitions: tuple[TransitionInfo, ...]) -> dict[str, Any]:
    """Return what never changes of a graph; equal graphs are laid out once."""
    layout = _lay_out(states, transitions)
    labels = defaultdict(list)
    for each in transitions:
        labels[each.start, each.goal].append(each.label)
    return {
        "width": round(layout.width + 2.0 * _MARGIN, 1),
        "height": round(layout.height + 2.0 * _MARGIN, 1),
        "boxes": [
            (box.name, _label(box.name), *_rounded(box.x + _MARGIN, box.y + _MARGIN), box.width)
            for box in layout.places.values()
        ],
        "links": [
            (
                route.link.start,
                route.link.goal,
                _curve(route),
                _head(route),
                f"{route.link.start} → {route.link.goal}: "
                + ", ".join(labels[route.link.start, route.link.goal]),
            )
            for route in layout.routes
        ],
    }


def _lay_out(states: Sequence[str], transitions: Sequence[TransitionInfo]) -> DiagramLayout:
    pairs = [(each.start, each.goal) for each in transitions]
    return lay_out_states(states, pairs, _size, gap=_GAP, head=_HEAD)


def _size(state: str) -> tuple[float, float]:
    cells = sum(2 if east_asian_width(each) in "WF" else 1 for each in _label(state))
    return round(cells * _CHARACTER + _PADDING, 1), _HEIGHT


def _label(state: str) -> str:
    return state if len(state) <= _LONGEST else f"{state[: _LONGEST - 1]}…"


def _rounded(*numbers: float) -> tuple[float, ...]:
    return tuple(round(number, 1) for number in numbers)


def _curve(route: Route) -> str:
    """Return the path of an arrow, in the notation of SVG."""
    first, *rest = (
        "{:g},{:g}".format(*_rounded(x + _MARGIN, y + _MARGIN)) for x, y in route.points
    )
    return f"M{first}C{' '.join(rest)}"


def _head(route: Route) -> str:
    """Return the corners of an arrow head, in the notation of SVG."""
    foot, tip = route.points[-1], route.tip
    dx, dy = 0.4 * (tip.x - foot.x), 0.4 * (tip.y - foot.y)
    corners = (tip.x, tip.y), (foot.x - dy, foot.y + dx), (foot.x + dy, foot.y - dx)
    return " ".join("{:g},{:g}".format(*_rounded(x + _MARGIN, y + _MARGIN)) for x, y in corners)
