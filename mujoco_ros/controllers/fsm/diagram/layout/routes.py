"""Corners and texts of the arrows."""

from collections.abc import Iterable, Iterator

from mujoco_ros.controllers.fsm.diagram.layout.geometry import PAD, DiagramGeometry
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    ENTRY,
    BoxPlacement,
    DiagramLink,
    Group,
    Point,
    Route,
    Side,
    Text,
)

_RAISED = 4.0
"""Distance of a text above its line [px]."""


def routes(geometry: DiagramGeometry) -> Iterator[Route]:
    """Yield the routes of all arrows."""
    for link in geometry.plan.direct:
        yield _direct(geometry, link)
    for group, links in geometry.plan.lanes.items():
        for link in links:
            yield _along_a_lane(geometry, group, link)


def _direct(geometry: DiagramGeometry, link: DiagramLink) -> Route:
    start, goal = geometry.places[link.start], geometry.places[link.goal]
    into = goal.middle.x
    out = into if geometry.is_straight(link) else start.middle.x
    if link.start in geometry.plan.aside:
        text = Point(into + PAD, start.bottom + geometry.measure.line + PAD)
    elif geometry.is_fan(link.start):
        labels = geometry.labels_above(link.goal)
        before = sum(len(other.lines) for other in labels[: labels.index(link)])
        text = Point(into + PAD, geometry.below(link.start).under + before * geometry.measure.line)
    else:
        text = Point(out + PAD, geometry.below(link.start).over)
    points = [Point(out, start.bottom)]
    if not geometry.is_straight(link):
        track = geometry.below(link.start).tracks[link.start]
        points += [Point(out, track), Point(into, track)]
    points.append(Point(into, goal.y))
    return Route(link=link, points=tuple(points), texts=tuple(_down(geometry, link, text)))


def _along_a_lane(geometry: DiagramGeometry, group: Group, link: DiagramLink) -> Route:
    lane, up, down = geometry.lanes[group], geometry.exit(link), geometry.entry(group)
    points = [*_leaving(geometry, link, up), Point(lane, up), Point(lane, down)]
    points += _entering(geometry, group, down)
    first = points[1] if points[0].y != up else points[0]
    to_left = lane < first.x
    at = Point(first.x + (-PAD if to_left else PAD), up - _RAISED)
    texts = [
        Text(Point(at.x, at.y - geometry.measure.line * above), line, to_left)
        for above, line in enumerate(reversed(link.lines))
    ]
    return Route(link=link, points=tuple(_corners(points)), texts=tuple(reversed(texts)))


def _leaving(geometry: DiagramGeometry, link: DiagramLink, height: float) -> list[Point]:
    place = geometry.places[link.start]
    side = geometry.plan.edge(link.start, geometry.side(link), Side.BOTTOM)
    if side is Side.BOTTOM:
        x = geometry.stub(link)
        return [Point(x, place.bottom), Point(x, height)]
    return [Point(_edge(place, side), height)]


def _entering(geometry: DiagramGeometry, group: Group, height: float) -> list[Point]:
    place = geometry.places[group.goal]
    side = geometry.plan.edge(group.goal, group.side, Side.TOP)
    if side is not Side.TOP:
        return [Point(_edge(place, side), height)]
    entries = [x for x in geometry.ports(group.goal, side).entries if x.side is group.side]
    offset = ENTRY * (0.7 + entries.index(group))
    x = place.x + offset if group.side is Side.LEFT else place.right - offset
    return [Point(x, height), Point(x, place.y)]


def _edge(place: BoxPlacement, side: Side) -> float:
    return place.x if side is Side.LEFT else place.right


def _down(geometry: DiagramGeometry, link: DiagramLink, first: Point) -> Iterator[Text]:
    for number, line in enumerate(link.lines):
        yield Text(Point(first.x, first.y + number * geometry.measure.line), line)


def _corners(points: Iterable[Point]) -> Iterator[Point]:
    """Yield the points without those on a straight line between their neighbours."""
    found: list[Point] = []
    for point in points:
        if found and point == found[-1]:
            continue
        if len(found) > 1 and (
            found[-2].x == found[-1].x == point.x or found[-2].y == found[-1].y == point.y
        ):
            found[-1] = point
        else:
            found.append(point)
    yield from found
