"""Positions of the boxes and arrows of a state diagram, computed by Graphviz's dot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mujoco_ros.model.errors import UserInputError

_PIXELS_PER_INCH = 72.0
"""Graphviz has sizes in inches and positions in points; a pixel of a diagram is a point."""
_WEIGHT = 10
"""How much shorter and straighter arrows are that are not aside."""


class Point(NamedTuple):
    """A point of the diagram [px]; y points down."""

    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramBox:
    """A state, with the size of its box [px]."""

    name: str
    width: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLink:
    """An arrow between two boxes.

    Attributes:
        start: Name of the first box.
        goal: Name of the second box.
        lines: Lines of text beside the arrow.
        kind: Arrows of one kind look alike.
        aside: Whether it may be long and bent, as arrows after failures are.
    """

    start: str
    goal: str
    lines: tuple[str, ...] = ()
    kind: str = ""
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """Sizes of texts, arrows and gaps [px].

    Attributes:
        width: Returns the width of a text beside an arrow.
        line: Line height.
        head: Length of an arrow head.
        gap: Gap between two boxes of a row.
        clear: Gap between two rows.
    """

    width: Callable[[str], float]
    line: float = 12.0
    head: float = 8.0
    gap: float = 28.0
    clear: float = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxPlacement:
    """Upper left corner and size of a box [px]."""

    x: float
    y: float
    width: float
    height: float

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
class Route:
    """The course of an arrow.

    Attributes:
        link: The arrow.
        points: Its start, then three control points for each cubic Bézier curve.
        tip: Where the arrow head ends; the curve ends at its foot.
        text: Upper left corner of the lines of text.
    """

    link: DiagramLink
    points: tuple[Point, ...]
    tip: Point
    text: Point


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLayout:
    """A complete layout with its upper left corner at 0, 0.

    Attributes:
        width: Total width [px].
        height: Total height [px].
        places: Boxes by name.
        routes: Arrows.
    """

    width: float
    height: float
    places: Mapping[str, BoxPlacement]
    routes: tuple[Route, ...]


def lay_out(
    boxes: Sequence[DiagramBox], links: Sequence[DiagramLink], measure: Measure
) -> DiagramLayout:
    """Return positions of all boxes and arrows, the first box on top.

    Without the extra ``diagrams`` it is a list: all boxes below each other, without arrows.

    Raises:
        UserInputError: Graphviz cannot arrange them.
    """
    try:
        from pygraphviz import AGraph, DotError
    except ImportError:
        return _column(boxes, measure.clear)
    graph = AGraph(directed=True, strict=False)
    graph.graph_attr["nodesep"] = measure.gap / _PIXELS_PER_INCH
    graph.graph_attr["ranksep"] = measure.clear / _PIXELS_PER_INCH
    numbers = {box.name: str(number) for number, box in enumerate(boxes)}
    for box in boxes:
        size = {"width": box.width / _PIXELS_PER_INCH, "height": box.height / _PIXELS_PER_INCH}
        graph.add_node(numbers[box.name], shape="box", fixedsize=True, label="", **size)
    for number, link in enumerate(links):
        start, goal = numbers[link.start], numbers[link.goal]
        graph.add_edge(
            *(start, goal, str(number)),
            label=_space(link.lines, measure),
            arrowsize=measure.head / 10.0,  # Graphviz's own head has a length of 10
            weight=0 if link.aside else _WEIGHT,
        )
    try:
        graph.layout(prog="dot")
    except (DotError, OSError) as error:
        raise UserInputError(f"the diagram cannot be arranged: {error}") from error
    return _read(graph, boxes, links, measure)


def _space(lines: Sequence[str], measure: Measure) -> str:
    """Return a label that keeps room for lines of text, which the caller draws."""
    width, height = measure.width(max(lines, key=measure.width, default="")), len(lines)
    return (
        f'<<TABLE BORDER="0" FIXEDSIZE="TRUE" WIDTH="{width + 8.0:.0f}" '
        f'HEIGHT="{height * measure.line + 2.0:.0f}"><TR><TD></TD></TR></TABLE>>'
        if width and height
        else ""
    )


def _read(
    graph: Any, boxes: Sequence[DiagramBox], links: Sequence[DiagramLink], measure: Measure
) -> DiagramLayout:
    """Return the positions that Graphviz has written, with y downwards."""
    left, bottom, right, top = _floats(graph.graph_attr["bb"])

    def point(position: str) -> Point:
        x, y = _floats(position)
        return Point(x - left, top - y)

    places, routes = {}, []
    for number, box in enumerate(boxes):
        x, y = point(graph.get_node(str(number)).attr["pos"])
        places[box.name] = BoxPlacement(
            x=x - 0.5 * box.width, y=y - 0.5 * box.height, width=box.width, height=box.height
        )
    numbers = {box.name: str(number) for number, box in enumerate(boxes)}
    for number, link in enumerate(links):
        edge = graph.get_edge(numbers[link.start], numbers[link.goal], str(number))
        end, *curve = edge.attr["pos"].split()
        text = Point(0.0, 0.0)
        if edge.attr["lp"]:
            x, y = point(edge.attr["lp"])
            width = max(map(measure.width, link.lines))
            text = Point(x - 0.5 * width, y - 0.5 * measure.line * len(link.lines))
        routes.append(
            Route(
                link=link,
                points=tuple(map(point, curve)),
                tip=point(end.removeprefix("e,")),
                text=text,
            )
        )
    return DiagramLayout(
        width=right - left, height=top - bottom, places=places, routes=tuple(routes)
    )


def _floats(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _column(boxes: Sequence[DiagramBox], gap: float) -> DiagramLayout:
    """Return the boxes below each other."""
    width, y, places = max(box.width for box in boxes), 0.0, {}
    for box in boxes:
        places[box.name] = BoxPlacement(
            x=0.5 * (width - box.width), y=y, width=box.width, height=box.height
        )
        y += box.height + gap
    return DiagramLayout(width=width, height=y - gap, places=places, routes=())
