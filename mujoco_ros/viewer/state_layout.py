"""The graph of states as SVG: boxes and arrows, placed by Graphviz."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from unicodedata import east_asian_width

_CHARACTER, _PADDING, _HEIGHT = 7.3, 18.0, 26.0  # of a box [px]; 12 px letters of equal width
_GAP, _HEAD, _MARGIN = 18.0, 8.0, 4.0  # between boxes, of arrows, and around the graph [px]
_LONGEST = 40  # characters of a name
_PIXELS_PER_INCH = 72.0
"""Graphviz has sizes in inches and positions in points; a pixel of a diagram is a point."""
_MOST_BOXES, _MOST_ARROWS = 60, 160
"""Larger graphs, which other programs may offer, would take Graphviz seconds: they are a list."""
_MIN_ASIDE = 4
"""A state with this many incoming transitions, from half of the states or more, is drawn aside."""
_WEIGHT = 10  # how much shorter and straighter arrows are that are not aside


class StateBox(NamedTuple):
    """A state, with the upper left corner of its box [px]; y points down."""

    state: str
    label: str
    x: float
    y: float
    width: float


class StateArrow(NamedTuple):
    """An arrow from a state to another one."""

    start: str
    goal: str
    curve: str  # the line, as the data of an SVG path
    head: str  # the arrow head, as the points of an SVG polygon


class StateLayout(NamedTuple):
    """A complete graph with its upper left corner at 0, 0 [px]."""

    width: float
    height: float
    boxes: list[StateBox]
    arrows: list[StateArrow]


def lay_out(states: Sequence[str], transitions: Iterable[tuple[str, str]]) -> StateLayout:
    """Return the graph of states and of the transitions between them; see `StateLayout`.

    Without the extra ``diagrams``, and of a very large graph, it is a list: all boxes below each
    other, without arrows.
    """
    pairs = [pair for pair in dict.fromkeys(transitions) if {*pair} <= {*states}]
    widths = {state: _width(_label(state)) for state in states}
    if len(widths) > _MOST_BOXES or len(pairs) > _MOST_ARROWS:
        return _listed(widths)
    try:
        from pygraphviz import AGraph
    except ImportError:
        return _listed(widths)
    numbers = {state: str(number) for number, state in enumerate(widths)}
    edges = [(numbers[start], numbers[goal], f"{start}\n{goal}") for start, goal in pairs]
    graph, aside = AGraph(directed=True, strict=False), states_aside(states, pairs)
    _set_sizes(graph)
    for state, width in widths.items():
        graph.add_node(numbers[state], width=width / _PIXELS_PER_INCH)
    for (_, goal), edge in zip(pairs, edges, strict=True):
        graph.add_edge(*edge, weight=0 if goal in aside else _WEIGHT)
    graph.layout(prog="dot")  # pygraphviz 1 replaces the graph here, with its nodes and edges
    left, bottom, right, top = _floats(graph.graph_attr["bb"])

    def point(position: str) -> tuple[float, float]:
        x, y = _floats(position)
        return x - left + _MARGIN, top - y + _MARGIN

    boxes = []
    for state, width in widths.items():
        x, y = point(graph.get_node(numbers[state]).attr["pos"])
        corner = round(x - 0.5 * width, 1), round(y - 0.5 * _HEIGHT, 1)
        boxes.append(StateBox(state, _label(state), *corner, width))
    arrows = []
    for pair, edge in zip(pairs, edges, strict=True):
        end, *course = graph.get_edge(*edge).attr["pos"].split()
        tip, points = point(end.removeprefix("e,")), [point(each) for each in course]
        curve = f"M{_svg(points[:1])}C{_svg(points[1:])}"
        arrows.append(StateArrow(*pair, curve, _head(points[-1], tip)))
    width, height = right - left + 2.0 * _MARGIN, top - bottom + 2.0 * _MARGIN
    return StateLayout(round(width, 1), round(height, 1), boxes, arrows)


def states_aside(states: Sequence[str], pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the states to draw aside, because most others lead to them; may be empty."""
    between = [(start, goal) for start, goal in pairs if start != goal]
    incoming = Counter(goal for _, goal in between)
    linked = {state for pair in between for state in pair}
    least = max(_MIN_ASIDE, 0.5 * (len(states) - 1))
    return {
        state
        for state in states[1:]
        if incoming[state] >= least or (linked and state not in linked)
    }


def _set_sizes(graph: Any) -> None:
    """Set the sizes that all boxes and arrows have."""
    graph.graph_attr.update(nodesep=_GAP / _PIXELS_PER_INCH, ranksep=_GAP / _PIXELS_PER_INCH)
    graph.node_attr.update(shape="box", fixedsize=True, label="", height=_HEIGHT / _PIXELS_PER_INCH)
    graph.edge_attr.update(arrowsize=_HEAD / 10.0)  # Graphviz's own head has a length of 10


def _listed(widths: Mapping[str, float]) -> StateLayout:
    """Return the boxes below each other."""
    widest, step = max(widths.values()), _HEIGHT + _GAP
    boxes = [
        StateBox(
            state, _label(state), _MARGIN + 0.5 * (widest - width), _MARGIN + row * step, width
        )
        for row, (state, width) in enumerate(widths.items())
    ]
    return StateLayout(widest + 2.0 * _MARGIN, boxes[-1].y + _HEIGHT + _MARGIN, boxes, [])


def _label(state: str) -> str:
    return state if len(state) <= _LONGEST else f"{state[: _LONGEST - 1]}…"


def _width(label: str) -> float:
    cells = sum(2 if east_asian_width(each) in "WF" else 1 for each in label)
    return round(cells * _CHARACTER + _PADDING, 1)


def _head(foot: tuple[float, float], tip: tuple[float, float]) -> str:
    """Return the corners of an arrow head."""
    dx, dy = 0.4 * (tip[0] - foot[0]), 0.4 * (tip[1] - foot[1])
    return _svg([tip, (foot[0] - dy, foot[1] + dx), (foot[0] + dy, foot[1] - dx)])


def _svg(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _floats(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]
