"""What a layout is given, and what it returns. Lengths are pixels, y points down."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Point(NamedTuple):
    """A place in a picture."""

    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramBox:
    """A state.

    Attributes:
        name: Which.
        width: How wide it is.
        height: How high at least; it grows with the arrows at its sides.
        aside: Whether it stands in a column beside the others, as states of failure do.
    """

    name: str
    width: float
    height: float
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLink:
    """An arrow.

    Attributes:
        start: Box it starts from.
        goal: Box it leads to.
        lines: What is written on it.
        kind: Those of one kind to one goal share the way there.
        aside: Whether it keeps to the right, as what follows failures does.
    """

    start: str
    goal: str
    lines: tuple[str, ...] = ()
    kind: str = ""
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """How large things are.

    Attributes:
        width: Returns how wide a text on an arrow is.
        line: How high a line of it is.
        head: How long the head of an arrow is.
        gap: How far boxes of a row are apart, and the first lane from a box without arrows there.
        clear: How much room is above and below what runs between two rows.
    """

    width: Callable[[str], float]
    line: float = 12.0
    head: float = 8.0
    gap: float = 28.0
    clear: float = 14.0

    def widest(self, lines: tuple[str, ...]) -> float:
        """Return how wide some lines are."""
        return max(map(self.width, lines), default=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxPlacement:
    """Where a box is: its upper left corner, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """Its middle."""
        return Point(self.x + 0.5 * self.width, self.y + 0.5 * self.height)


class Text(NamedTuple):
    """A line of text: where its baseline starts, or ends if it `ends_here`."""

    at: Point
    text: str
    ends_here: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """Where an arrow goes: corner by corner, at right angles; and what is written on it."""

    link: DiagramLink
    points: tuple[Point, ...]
    texts: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DiagramLayout:
    """A picture.

    Attributes:
        width: Of all of it.
        height: Of all of it.
        places: Where the boxes are, by name.
        routes: Where the arrows go.
    """

    width: float
    height: float
    places: Mapping[str, BoxPlacement]
    routes: tuple[Route, ...]
