"""A picture of boxes and arrows, laid out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mujoco_ros.controllers.fsm.diagram.layout.geometry import DiagramGeometry
from mujoco_ros.controllers.fsm.diagram.layout.layers import layers
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    BoxPlacement,
    DiagramBox,
    DiagramLayout,
    DiagramLink,
    Measure,
    Point,
    Route,
    Text,
)
from mujoco_ros.controllers.fsm.diagram.layout.ports import plan
from mujoco_ros.controllers.fsm.diagram.layout.routes import routes


def lay_out(
    boxes: Sequence[DiagramBox], links: Sequence[DiagramLink], measure: Measure
) -> DiagramLayout:
    """Return where all goes, the first box on top.

    Boxes stand in rows, so that most arrows lead straight to the next. Others leave at the side,
    to the left or, if they are `aside`, to the right, run along a lane that those to the same
    goal share, and enter at that side. Boxes `aside` stand in a column beyond the lanes.

    Args:
        boxes: At least one that is not `aside`.
        links: Between these.
        measure: How large texts are.
    """
    main = {box.name: None for box in boxes if not box.aside}
    inner = [(x.start, x.goal) for x in links if {x.start, x.goal} <= main.keys() and not x.aside]
    known = {box.name: box for box in boxes}
    sheet = DiagramGeometry(known, plan(known, links, layers(list(main), inner)), measure)
    return _fitted(sheet.places, list(routes(sheet)), measure)


def _fitted(
    places: Mapping[str, BoxPlacement], found: Sequence[Route], measure: Measure
) -> DiagramLayout:
    """Return it all with the upper left corner at 0, 0."""
    corners = list(_extent(places, found, measure))
    left, top = (min(values) for values in zip(*corners, strict=True))
    right, bottom = (max(values) for values in zip(*corners, strict=True))
    return DiagramLayout(
        width=right - left,
        height=bottom - top,
        places={
            n: replace(place, x=place.x - left, y=place.y - top) for n, place in places.items()
        },
        routes=tuple(
            Route(
                link=route.link,
                points=tuple(Point(x - left, y - top) for x, y in route.points),
                texts=tuple(
                    Text(Point(at.x - left, at.y - top), text, ends)
                    for at, text, ends in route.texts
                ),
            )
            for route in found
        ),
    )


def _extent(
    places: Mapping[str, BoxPlacement], found: Sequence[Route], measure: Measure
) -> Iterator[Point]:
    for place in places.values():
        yield from (Point(place.x, place.y), Point(place.right, place.bottom))
    for route in found:
        yield from route.points
        for at, text, ends in route.texts:
            width = measure.width(text)
            yield Point(at.x - width if ends else at.x + width, at.y - measure.line)
