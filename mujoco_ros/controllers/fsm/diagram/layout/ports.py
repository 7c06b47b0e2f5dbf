"""Where arrows leave and enter boxes, and which way they go in between."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from mujoco_ros.controllers.fsm.diagram.layout.parts import DiagramBox, DiagramLink, Measure

ENTRY = 14.0
"""Room for an arrow that enters [px]."""
_ABOVE = 6.0
"""Room between the texts of two arrows [px]."""


class Side(Enum):
    """A side of a box, or of the picture."""

    LEFT = "left"
    RIGHT = "right"
    TOP = "top"
    BOTTOM = "bottom"


class Group(NamedTuple):
    """Arrows that share the way to their goal."""

    goal: str
    kind: str
    side: Side


@dataclass(slots=True)
class Ports:
    """What leaves and enters one side of a box."""

    entries: list[Group] = field(default_factory=list)
    exits: list[DiagramLink] = field(default_factory=list)

    def height(self, measure: Measure) -> float:
        """Return how much room they take."""
        return len(self.entries) * ENTRY + sum(slot(link, measure) for link in self.exits)


def slot(link: DiagramLink, measure: Measure) -> float:
    """Return how much room an arrow takes that leaves, with its texts above it."""
    return max(len(link.lines) * measure.line + _ABOVE, ENTRY)


@dataclass(kw_only=True, slots=True)
class PortPlan:
    """How the arrows go.

    Attributes:
        rows: The main boxes, row by row.
        aside: The boxes beside them, from the top.
        direct: Arrows that lead just one row down, or one box down in the column.
        lanes: All others, by the way that they share.
        ports: Those of `lanes`, by box and side.
    """

    rows: Sequence[Sequence[str]]
    aside: Sequence[str]
    direct: list[DiagramLink] = field(default_factory=list)
    lanes: dict[Group, list[DiagramLink]] = field(default_factory=lambda: defaultdict(list))
    ports: dict[tuple[str, Side], Ports] = field(default_factory=lambda: defaultdict(Ports))

    def edge(self, name: str, side: Side, instead: Side) -> Side:
        """Return the side at which a box has to do with a lane; `instead` if others are between."""
        if name in self.aside:
            return Side.LEFT
        row = next(row for row in self.rows if name in row)
        return side if row[0 if side is Side.LEFT else -1] == name else instead


def plan(
    boxes: Mapping[str, DiagramBox], links: Sequence[DiagramLink], rows: Sequence[Sequence[str]]
) -> PortPlan:
    """Decide which way each arrow goes."""
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
    """Return what stands aside, each about where the arrows to it come from."""
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
            height[link.start] = height[link.goal] - 0.01  # right above what it leads to
    return sorted(near, key=height.__getitem__)
