"""Inputs and results of a layout, and the sides at which arrows leave boxes."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple


class Point(NamedTuple):
    """A point of the diagram."""

    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramBox:
    """A state.

    Attributes:
        name: Name of the state.
        width: Minimum width; links below and above can widen it.
        height: Minimum height; links at the sides can heighten it.
        aside: Whether it belongs to the side column, as failure states do.
    """

    name: str
    width: float
    height: float
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLink:
    """An arrow between two boxes.

    Attributes:
        start: Name of the first box.
        goal: Name of the second box.
        lines: Lines of text on the arrow.
        kind: Links of one kind to one goal share a lane.
        aside: Whether it is routed on the right, as transitions after failures are.
    """

    start: str
    goal: str
    lines: tuple[str, ...] = ()
    kind: str = ""
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """Sizes of texts, arrows and gaps.

    Attributes:
        width: Returns the width of a text on an arrow.
        line: Line height.
        head: Length of an arrow head.
        gap: Gap between two boxes of a row, and between a box and the first lane.
        clear: Clearance above and below the links between two rows.
    """

    width: Callable[[str], float]
    line: float = 12.0
    head: float = 8.0
    gap: float = 28.0
    clear: float = 14.0

    def widest(self, lines: tuple[str, ...]) -> float:
        """Return the width of the widest line."""
        return max(map(self.width, lines), default=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxPlacement:
    """Upper left corner and size of a box."""

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


class Text(NamedTuple):
    """A line of text with the start of its baseline, or the end if `ends_here`."""

    at: Point
    text: str
    ends_here: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """Corners of an arrow with right angles, and its texts."""

    link: DiagramLink
    points: tuple[Point, ...]
    texts: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLayout:
    """A complete layout with its upper left corner at 0, 0.

    Attributes:
        width: Total width.
        height: Total height.
        places: Boxes by name.
        routes: Arrows.
    """

    width: float
    height: float
    places: Mapping[str, BoxPlacement]
    routes: tuple[Route, ...]


ENTRY = 14.0
"""Space for an arrow that enters [px]."""
_ABOVE = 6.0
"""Space between the texts of two arrows [px]."""


class Side(Enum):
    """A side of a box, or of the diagram."""

    LEFT = "left"
    RIGHT = "right"
    TOP = "top"
    BOTTOM = "bottom"


class Group(NamedTuple):
    """Arrows to one goal that share a lane."""

    goal: str
    kind: str
    side: Side


@dataclass(slots=True)
class Ports:
    """The arrows that leave and enter one side of a box."""

    entries: list[Group] = field(default_factory=list)
    exits: list[DiagramLink] = field(default_factory=list)

    def height(self, measure: Measure) -> float:
        """Return the space that the arrows need."""
        return len(self.entries) * ENTRY + sum(slot(link, measure) for link in self.exits)


def slot(link: DiagramLink, measure: Measure) -> float:
    """Return the space for an arrow that leaves, with its texts above it."""
    return max(len(link.lines) * measure.line + _ABOVE, ENTRY)


@dataclass(kw_only=True, slots=True)
class PortPlan:
    """Assignment of the arrows to lanes and sides.

    Attributes:
        rows: The main boxes by row.
        aside: The boxes of the side column, from the top.
        direct: Arrows to the next row, or to the next box of the side column.
        lanes: All other arrows by group.
        ports: Ends of those arrows by box and side.
    """

    rows: Sequence[Sequence[str]]
    aside: Sequence[str]
    direct: list[DiagramLink] = field(default_factory=list)
    lanes: dict[Group, list[DiagramLink]] = field(default_factory=lambda: defaultdict(list))
    ports: dict[tuple[str, Side], Ports] = field(default_factory=lambda: defaultdict(Ports))

    def edge(self, name: str, side: Side, instead: Side) -> Side:
        """Return the side of a box that faces a lane; `instead` if other boxes are between."""
        if name in self.aside:
            return Side.LEFT
        row = next(row for row in self.rows if name in row)
        return side if row[0 if side is Side.LEFT else -1] == name else instead


def plan_ports(
    boxes: Mapping[str, DiagramBox], links: Sequence[DiagramLink], rows: Sequence[Sequence[str]]
) -> PortPlan:
    """Assign each arrow to a lane, or route it directly."""
    made = PortPlan(rows=rows, aside=_column(boxes, links, rows))
    below = {(name, goal) for upper, lower in pairwise(rows) for name in upper for goal in lower}
    below |= set(pairwise(made.aside))
    for link in links:
        if (link.start, link.goal) in below:
            below.discard((link.start, link.goal))
            made.direct.append(link)
            continue
        beside = link.aside or boxes[link.start].aside or boxes[link.goal].aside
        group = Group(link.goal, link.kind, Side.RIGHT if beside else Side.LEFT)
        if group not in made.lanes:
            entry = made.edge(link.goal, group.side, Side.TOP)
            made.ports[link.goal, entry].entries.append(group)
        made.lanes[group].append(link)
        made.ports[link.start, made.edge(link.start, group.side, Side.BOTTOM)].exits.append(link)
    return made


def _column(
    boxes: Mapping[str, DiagramBox], links: Sequence[DiagramLink], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Return the boxes of the side column, ordered by the rows of their neighbours."""
    depth = {name: number for number, row in enumerate(rows) for name in row}
    near: dict[str, list[int]] = {name: [] for name, box in boxes.items() if box.aside}
    for link in links:
        if link.goal in near and link.start in depth:
            near[link.goal].append(depth[link.start])
        if link.start in near and link.goal in depth:
            near[link.start].append(depth[link.goal])
    height = {
        name: sum(rows) / len(rows) if rows else float(len(depth)) for name, rows in near.items()
    }
    for link in links:
        if link.start in near and not near[link.start] and link.goal in near:
            height[link.start] = height[link.goal] - 0.01  # directly above its goal
    return sorted(near, key=height.__getitem__)
