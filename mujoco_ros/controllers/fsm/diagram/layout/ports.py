"""The sides at which arrows leave and enter boxes, and the lanes that they share."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from mujoco_ros.controllers.fsm.diagram.layout.parts import DiagramBox, DiagramLink, Measure

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
