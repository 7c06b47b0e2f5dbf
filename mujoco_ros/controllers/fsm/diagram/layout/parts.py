"""Inputs and results of a layout. Lengths are pixels, y points down."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
