"""The corners of arrows, and where their texts are."""

from collections.abc import Iterable, Iterator

from mujoco_ros.controllers.fsm.diagram.layout.geometry import PAD, DiagramGeometry
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    BoxPlacement,
    DiagramLink,
    Point,
    Route,
    Text,
)
from mujoco_ros.controllers.fsm.diagram.layout.ports import Group, Side

_RAISED = 4.0
"""How far texts are above the line they belong to [px]."""


def routes(sheet: DiagramGeometry) -> Iterator[Route]:
    """Yield where all arrows go."""
    for link in sheet.plan.direct:
        yield _direct(sheet, link)
    for group, links in sheet.plan.lanes.items():
        for link in links:
            yield _along_a_lane(sheet, group, link)


def _direct(sheet: DiagramGeometry, link: DiagramLink) -> Route:
    start, goal = sheet.places[link.start], sheet.places[link.goal]
    into = goal.middle.x
    out = into if sheet.is_straight(link) else start.middle.x
    if link.start in sheet.plan.aside:
        text = Point(into + PAD, start.bottom + sheet.measure.line + PAD)
    elif sheet.is_fan(link.start):
        told = sheet.told_at(link.goal)
        before = sum(len(other.lines) for other in told[: told.index(link)])
        text = Point(into + PAD, sheet.below(link.start).under + before * sheet.measure.line)
    else:
        text = Point(out + PAD, sheet.below(link.start).over)
    points = [Point(out, start.bottom)]
    if not sheet.is_straight(link):
        track = sheet.below(link.start).tracks[link.start]
        points += [Point(out, track), Point(into, track)]
    points.append(Point(into, goal.y))
    return Route(link=link, points=tuple(points), texts=tuple(_down(sheet, link, text)))


def _along_a_lane(sheet: DiagramGeometry, group: Group, link: DiagramLink) -> Route:
    lane, up, down = sheet.lanes[group], sheet.exit(link), sheet.entry(group)
    points = [*_leaving(sheet, link, up), Point(lane, up), Point(lane, down)]
    points += _entering(sheet, group, down)
    first = points[1] if points[0].y != up else points[0]
    to_left = lane < first.x
    at = Point(first.x + (-PAD if to_left else PAD), up - _RAISED)
    texts = [
        Text(Point(at.x, at.y - sheet.measure.line * above), line, to_left)
        for above, line in enumerate(reversed(link.lines))
    ]
    return Route(link=link, points=tuple(_corners(points)), texts=tuple(reversed(texts)))


def _leaving(sheet: DiagramGeometry, link: DiagramLink, height: float) -> list[Point]:
    place = sheet.places[link.start]
    side = sheet.plan.edge(link.start, sheet.side(link), Side.BOTTOM)
    if side is Side.BOTTOM:
        x = sheet.stub(link)
        return [Point(x, place.bottom), Point(x, height)]
    return [Point(_edge(place, side), height)]


def _entering(sheet: DiagramGeometry, group: Group, height: float) -> list[Point]:
    place = sheet.places[group.goal]
    side = sheet.plan.edge(group.goal, group.side, Side.TOP)
    if side is not Side.TOP:
        return [Point(_edge(place, side), height)]
    mates = [x for x in sheet.ports(group.goal, side).entries if x.side is group.side]
    offset = 14.0 * (0.7 + mates.index(group))
    x = place.x + offset if group.side is Side.LEFT else place.right - offset
    return [Point(x, height), Point(x, place.y)]


def _edge(place: BoxPlacement, side: Side) -> float:
    return place.x if side is Side.LEFT else place.right


def _down(sheet: DiagramGeometry, link: DiagramLink, first: Point) -> Iterator[Text]:
    for number, line in enumerate(link.lines):
        yield Text(Point(first.x, first.y + number * sheet.measure.line), line)


def _corners(points: Iterable[Point]) -> Iterator[Point]:
    """Yield the points without those that are on the way from one to the next anyway."""
    trail: list[Point] = []
    for point in points:
        if trail and point == trail[-1]:
            continue
        if len(trail) > 1 and (
            trail[-2].x == trail[-1].x == point.x or trail[-2].y == trail[-1].y == point.y
        ):
            trail[-1] = point
        else:
            trail.append(point)
    yield from trail
