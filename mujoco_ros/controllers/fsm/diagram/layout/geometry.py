"""Positions of boxes, with space for their arrows between the rows and beside them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    ENTRY,
    BoxPlacement,
    DiagramBox,
    DiagramLink,
    Group,
    Measure,
    PortPlan,
    Ports,
    Side,
    slot,
)

PAD = 6.0
"""Space between a text and its neighbours [px]."""
_LANE = 11.0
_RIM = 8.0
"""Space above and below the arrows at the side of a box [px]."""
_MIN_SEPARATION = 6.0
"""Distance between parallel arrows of different groups [px]."""
_MAX_SHIFT = 40.0


@dataclass(slots=True)
class Channel:
    """The horizontal arrows between two rows.

    Attributes:
        tracks: Heights of arrows that leave downwards, of boxes above whose arrows fan out, and of
            groups that enter from above.
        over: Baseline of the first text of a box above.
        under: Baseline of the first text of a box below.
    """

    tracks: dict[DiagramLink | str | Group, float] = field(default_factory=dict)
    over: float = 0.0
    under: float = 0.0


class DiagramGeometry:
    """Positions of boxes, channels and lanes.

    Attributes:
        plan: Assignment of the arrows to lanes and sides.
        measure: Sizes of texts.
        places: Boxes by name.
        channels: The channel above each row, and the one below the last.
        lanes: Horizontal position of each group's lane.
    """

    def __init__(self, boxes: Mapping[str, DiagramBox], plan: PortPlan, measure: Measure) -> None:
        self.plan = plan
        self.measure = measure
        self.places: dict[str, BoxPlacement] = {}
        self.channels = [Channel() for _ in range(len(plan.rows) + 1)]
        self.lanes: dict[Group, float] = {}
        self._row = {name: number for number, row in enumerate(plan.rows) for name in row}
        self._boxes = {name: self._grown(box) for name, box in boxes.items()}
        self._columns = self._place_columns()
        self._place_rows()
        self._place_aside()

    def below(self, name: str) -> Channel:
        """Return the channel below a main box."""
        return self.channels[self._row[name] + 1]

    def above(self, name: str) -> Channel:
        """Return the channel above a main box."""
        return self.channels[self._row[name]]

    def ports(self, name: str, side: Side) -> Ports:
        """Return the arrows that leave and enter a side of a box."""
        return self.plan.ports.get((name, side), Ports())

    def is_fan(self, name: str) -> bool:
        """Return whether several arrows lead down from a box; their texts are at their goals."""
        return sum(link.start == name for link in self.plan.direct) > 1

    def labels_above(self, name: str) -> list[DiagramLink]:
        """Return the arrows whose texts are directly above a box."""
        return [link for link in self.plan.direct if link.goal == name and self.is_fan(link.start)]

    def is_straight(self, link: DiagramLink) -> bool:
        """Return whether a direct arrow is a vertical line."""
        if link.start not in self._row:
            return True
        return abs(self._middle(link.start) - self._middle(link.goal)) < 1.0

    def _middle(self, name: str) -> float:
        return self._columns[name] + 0.5 * self._boxes[name].width

    def _grown(self, box: DiagramBox) -> DiagramBox:
        """Return a box that is large enough for its arrows."""
        sides = (
            self.ports(box.name, side).height(self.measure) for side in (Side.LEFT, Side.RIGHT)
        )
        needed = max(sides)
        below = len(self.ports(box.name, Side.BOTTOM).exits) + 1
        above = len(self.ports(box.name, Side.TOP).entries) + 1
        return replace(
            box,
            height=max(box.height, needed + 2.0 * _RIM if needed else 0.0),
            width=max(box.width, 2.0 * ENTRY * max(below, above)),
        )

    def _place_columns(self) -> dict[str, float]:
        """Return the left edges of the main boxes; each row is centred at 0."""
        beside: dict[str, float] = defaultdict(float)
        for link in self.plan.direct:
            name = link.goal if self.is_fan(link.start) else link.start
            beside[name] = max(beside[name], self.measure.widest(link.lines) + 2.0 * PAD)
        columns = {}
        for row in self.plan.rows:
            x, widths = 0.0, [self._boxes[name].width for name in row]
            for name, width in zip(row, widths, strict=True):
                columns[name] = x
                x += width + max(self.measure.gap, beside[name] - 0.5 * width + PAD)
            shift = 0.5 * (columns[row[-1]] + widths[-1])
            for name in row:
                columns[name] -= shift
        return columns

    def _place_rows(self) -> None:
        y = 0.0
        for number, row in enumerate(self.plan.rows):
            y = self._place_channel(number, y)
            height = max(self._boxes[name].height for name in row)
            for name in row:
                box = self._boxes[name]
                self.places[name] = BoxPlacement(
                    x=self._columns[name],
                    y=y + 0.5 * (height - box.height),
                    width=box.width,
                    height=box.height,
                )
            y += height
        self._place_channel(len(self.plan.rows), y)

    def _place_channel(self, number: int, y: float) -> float:
        """Place the channel above a row, from `y` on; return the top of the row."""
        channel = self.channels[number]
        upper = self.plan.rows[number - 1] if number else ()
        lower = self.plan.rows[number] if number < len(self.plan.rows) else ()
        direct = [link for link in self.plan.direct if link.start in upper]
        y += self.measure.clear if number else 0.0
        for link in self._exits(upper):
            y += slot(link, self.measure)
            channel.tracks[link] = y
        single = [len(link.lines) for link in direct if not self.is_fan(link.start)]
        fanned = [sum(len(x.lines) for x in self.labels_above(name)) for name in lower]
        line = self.measure.line
        channel.over = y + line
        y += max(single, default=0) * line
        for name in dict.fromkeys(link.start for link in direct if not self.is_straight(link)):
            y += 0.5 * _LANE
            channel.tracks[name] = y
            y += 0.5 * _LANE
        channel.under = y + line
        y += max(fanned, default=0) * line
        for name in lower:
            for group in self.ports(name, Side.TOP).entries:
                y += _LANE
                channel.tracks[group] = y
        return y + self.measure.clear + self.measure.head if lower else y

    def _exits(self, row: Iterable[str]) -> list[DiagramLink]:
        """Return the arrows that leave downwards; those nearest to their lanes are uppermost."""
        names = list(row)
        left = [link for name in names for link in self.ports(name, Side.BOTTOM).exits]
        right = [link for name in names[::-1] for link in self.ports(name, Side.BOTTOM).exits]
        return [x for x in left if self.side(x) is Side.LEFT] + [
            x for x in right if self.side(x) is Side.RIGHT
        ]

    def group(self, link: DiagramLink) -> Group:
        """Return the group of an arrow."""
        return next(group for group, links in self.plan.lanes.items() if link in links)

    def side(self, link: DiagramLink) -> Side:
        """Return the side of an arrow's lane."""
        return self.group(link).side

    def stub(self, link: DiagramLink) -> float:
        """Return the horizontal position at which an arrow leaves its box downwards."""
        place, side = self.places[link.start], self.side(link)
        exits = [x for x in self.ports(link.start, Side.BOTTOM).exits if self.side(x) is side]
        offset = ENTRY * (0.7 + exits.index(link))
        return place.x + offset if side is Side.LEFT else place.right - offset

    def heights(self, name: str, side: Side) -> dict[DiagramLink | Group, float]:
        """Return the heights at which arrows leave and enter the left or right side of a box."""
        ports, place = self.ports(name, side), self.places[name]
        y = place.middle.y - 0.5 * ports.height(self.measure)
        found: dict[DiagramLink | Group, float] = {}
        for group in ports.entries:
            y += ENTRY
            found[group] = y - 0.5 * ENTRY
        for link in ports.exits:
            y += slot(link, self.measure)
            found[link] = y - 0.4 * PAD
        return found

    def _place_aside(self) -> None:
        """Place the lanes and the side column, which depend on each other."""
        self._stack(max((place.bottom for place in self.places.values()), default=0.0))
        right = max(place.right for name, place in self.places.items() if name in self._row)
        left = min(place.x for name, place in self.places.items() if name in self._row)
        near_left, near_right = left - self.measure.gap, right + self.measure.gap
        for link in (link for links in self.plan.lanes.values() for link in links):
            if link.start not in self._row:
                continue
            room = self.measure.widest(link.lines) + 2.0 * PAD
            at_edge = link in self.ports(link.start, self.side(link)).exits
            place = self.places[link.start]
            if self.side(link) is Side.LEFT:
                near_left = min(near_left, (place.x if at_edge else self.stub(link)) - room)
            else:
                near_right = max(near_right, (place.right if at_edge else self.stub(link)) + room)
        for link in self.plan.direct:
            if link.start in self._row:
                at = link.goal if self.is_fan(link.start) else link.start
                reach = self._middle(at) + self.measure.widest(link.lines) + 3.0 * PAD
                near_right = max(near_right, reach)
        self._place_lanes(Side.LEFT, near_left, -_LANE)
        end = self._place_lanes(Side.RIGHT, near_right, _LANE)
        exits = [x for name in self.plan.aside for x in self.ports(name, Side.LEFT).exits]
        room = max((self.measure.widest(link.lines) + 2.0 * PAD for link in exits), default=0.0)
        x = end + max(self.measure.gap, room)
        width = max((self._boxes[name].width for name in self.plan.aside), default=0.0)
        for name in self.plan.aside:
            place = self.places[name]
            self.places[name] = replace(place, x=x + 0.5 * (width - place.width))

    def _stack(self, floor: float) -> None:
        """Place the boxes of the side column below one another, level with their arrows."""
        gaps = dict.fromkeys(self.plan.aside, self.measure.gap)
        for link in self.plan.direct:
            if link.start in gaps:
                gaps[link.start] = 2.5 * self.measure.clear + self.measure.line * len(link.lines)
        preferred = self._preferred_tops(gaps)
        y, tops = 0.0, {}
        for name in self.plan.aside:
            tops[name] = y = max(y, preferred[name])
            y += self._boxes[name].height + gaps[name]
        excess = max(0.0, y - self.measure.gap - floor)
        shift = min([excess, *tops.values()], default=0.0)
        moved = 0.0
        for name, top in tops.items():
            box = self._boxes[name]
            place = BoxPlacement(x=0.0, y=top - shift + moved, width=box.width, height=box.height)
            self.places[name] = place
            while self._clashes(name) and self.places[name].y < place.y + _MAX_SHIFT:
                self.places[name] = replace(place, y=self.places[name].y + 1.0)
            moved += self.places[name].y - place.y

    def _preferred_tops(self, gaps: Mapping[str, float]) -> dict[str, float]:
        """Return the best tops of the side boxes: level with their arrows, or above the next."""
        near: dict[str, list[float]] = defaultdict(list)
        for group, height in self._main_ends():
            for link in self.plan.lanes[group]:
                for name in {link.start, group.goal} & set(self.plan.aside):
                    near[name].append(height)
        tops: dict[str, float] = {}
        below = ""
        for name in reversed(self.plan.aside):
            height = self._boxes[name].height
            if near[name]:
                tops[name] = sum(near[name]) / len(near[name]) - 0.5 * height
            else:
                tops[name] = tops[below] - height - gaps[name] if below else 0.0
            below = name
        return tops

    def _main_ends(self) -> Iterator[tuple[Group, float]]:
        """Yield the heights at which arrows of the lanes on the right leave and enter the rows."""
        for group, links in self.plan.lanes.items():
            if group.side is Side.RIGHT:
                yield from ((group, self.exit(link)) for link in links if link.start in self._row)
                if group.goal in self._row:
                    yield group, self.entry(group)

    def _clashes(self, name: str) -> bool:
        """Return whether an arrow at a side box is level with one of another group."""
        ends = list(self._main_ends())
        for port, height in self.heights(name, Side.LEFT).items():
            mine = port if isinstance(port, Group) else self.group(port)
            if any(mine != other and abs(height - end) < _MIN_SEPARATION for other, end in ends):
                return True
        return False

    def _place_lanes(self, side: Side, x: float, step: float) -> float:
        """Place the lanes of one side, the shortest nearest to the boxes; return the last one."""
        spans = {g: self._span(g) for g in self.plan.lanes if g.side is side}
        taken: list[list[tuple[float, float]]] = []
        for group in sorted(spans, key=lambda g: spans[g][1] - spans[g][0]):
            low, high = spans[group]
            free = (
                number
                for number, others in enumerate(taken)
                if all(high < from_ or to < low for from_, to in others)
            )
            lane = next(free, len(taken))
            if lane == len(taken):
                taken.append([])
            taken[lane].append((low - _LANE, high + _LANE))
            self.lanes[group] = x + lane * step
        return x + max(len(taken) - 1, 0) * step

    def _span(self, group: Group) -> tuple[float, float]:
        ends = [self.entry(group), *map(self.exit, self.plan.lanes[group])]
        return min(ends), max(ends)

    def entry(self, group: Group) -> float:
        """Return the height at which a group leaves its lane."""
        side = self.plan.edge(group.goal, group.side, Side.TOP)
        if side is Side.TOP:
            return self.above(group.goal).tracks[group]
        return self.heights(group.goal, side)[group]

    def exit(self, link: DiagramLink) -> float:
        """Return the height at which an arrow reaches its lane."""
        side = self.plan.edge(link.start, self.side(link), Side.BOTTOM)
        if side is Side.BOTTOM:
            return self.below(link.start).tracks[link]
        return self.heights(link.start, side)[link]
