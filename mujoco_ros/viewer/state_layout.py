"""Positions of the boxes and arrows of a graph of states, computed by Graphviz."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

_PIXELS_PER_INCH = 72.0
"""Graphviz has sizes in inches and positions in points; a pixel of a diagram is a point."""
_MOST_BOXES, _MOST_LINKS = 60, 160
"""Larger graphs, which other programs may offer, would take Graphviz seconds: they are a list."""
_MIN_ASIDE = 4
"""A state with this many incoming transitions, from half of the states or more, is drawn aside."""
_WEIGHT = 10  # how much shorter and straighter arrows are that are not aside


class Point(NamedTuple):
    """A point of the diagram [px]; y points down."""

    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramBox:
    """A state, with the size of its box, and its upper left corner in a layout [px]."""

    name: str
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """Centre."""
        return Point(self.x + 0.5 * self.width, self.y + 0.5 * self.height)


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLink:
    """An arrow between two boxes, by name; one that is `aside` may be long and bent."""

    start: str
    goal: str
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The course of an arrow: its start, then three control points for each cubic Bézier curve.

    The arrow head is from the end of the curve to `tip`.
    """

    link: DiagramLink
    points: tuple[Point, ...]
    tip: Point


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLayout:
    """A complete layout with its upper left corner at 0, 0 [px]."""

    width: float
    height: float
    places: Mapping[str, DiagramBox]
    routes: tuple[Route, ...]


def lay_out(
    boxes: Sequence[DiagramBox], links: Sequence[DiagramLink], *, gap: float, head: float
) -> DiagramLayout:
    """Return positions of boxes, one or more, and arrows; rows and boxes are `gap` apart [px].

    Without the extra ``diagrams``, and of a very large graph, it is a list: all boxes below each
    other, without arrows. `head` is the length of arrow heads.
    """
    if len(boxes) > _MOST_BOXES or len(links) > _MOST_LINKS:
        return _column(boxes, gap)
    try:
        from pygraphviz import AGraph
    except ImportError:
        return _column(boxes, gap)
    graph = AGraph(directed=True, strict=False)
    graph.graph_attr.update(nodesep=gap / _PIXELS_PER_INCH, ranksep=gap / _PIXELS_PER_INCH)
    graph.node_attr.update(shape="box", fixedsize=True, label="")
    graph.edge_attr.update(arrowsize=head / 10.0)  # Graphviz's own head has a length of 10
    numbers = {box.name: str(number) for number, box in enumerate(boxes)}
    for box in boxes:
        width, height = box.width / _PIXELS_PER_INCH, box.height / _PIXELS_PER_INCH
        graph.add_node(numbers[box.name], width=width, height=height)
    ends = [(numbers[link.start], numbers[link.goal], str(key)) for key, link in enumerate(links)]
    for link, edge in zip(links, ends, strict=True):
        graph.add_edge(*edge, weight=0 if link.aside else _WEIGHT)
    graph.layout(prog="dot")  # pygraphviz 1 replaces the graph here, with its nodes and edges
    left, bottom, right, top = _floats(graph.graph_attr["bb"])

    def point(position: str) -> Point:
        x, y = _floats(position)
        return Point(x - left, top - y)

    places, routes = {}, []
    for box in boxes:
        x, y = point(graph.get_node(numbers[box.name]).attr["pos"])
        places[box.name] = replace(box, x=x - 0.5 * box.width, y=y - 0.5 * box.height)
    for link, edge in zip(links, ends, strict=True):
        end, *curve = graph.get_edge(*edge).attr["pos"].split()
        points = tuple(map(point, curve))
        routes.append(Route(link=link, points=points, tip=point(end.removeprefix("e,"))))
    return DiagramLayout(
        width=right - left, height=top - bottom, places=places, routes=tuple(routes)
    )


def lay_out_states(
    states: Sequence[str],
    transitions: Iterable[tuple[str, str]],
    size: Callable[[str], tuple[float, float]],
    *,
    gap: float,
    head: float,
) -> DiagramLayout:
    """Return the layout of states and of the transitions between them; see `lay_out`.

    `size` returns width and height of the box of a state [px].
    """
    pairs = [pair for pair in dict.fromkeys(transitions) if {*pair} <= {*states}]
    aside = states_aside(states, pairs)
    sizes = {state: size(state) for state in states}
    boxes = [DiagramBox(name=state, width=w, height=h) for state, (w, h) in sizes.items()]
    links = [DiagramLink(start=start, goal=goal, aside=goal in aside) for start, goal in pairs]
    return lay_out(boxes, links, gap=gap, head=head)


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


def _floats(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _column(boxes: Sequence[DiagramBox], gap: float) -> DiagramLayout:
    """Return the boxes below each other."""
    width, y, places = max(box.width for box in boxes), 0.0, {}
    for box in boxes:
        places[box.name] = replace(box, x=0.5 * (width - box.width), y=y)
        y += box.height + gap
    return DiagramLayout(width=width, height=y - gap, places=places, routes=())
