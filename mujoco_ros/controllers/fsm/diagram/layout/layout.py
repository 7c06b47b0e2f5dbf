"""Layout of a diagram of boxes and arrows."""

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
from mujoco_ros.controllers.fsm.diagram.layout.ports import plan_ports
from mujoco_ros.controllers.fsm.diagram.layout.routes import routes


def lay_out(
    boxes: Sequence[DiagramBox], links: Sequence[DiagramLink], measure: Measure
) -> DiagramLayout:
    """Return positions of all boxes and arrows, the first box on top.

    Boxes are arranged in rows, so that most arrows lead to the next row. All other arrows leave a
    box at its left side, or its right side if they are `aside`, follow a lane shared by arrows to
    the same goal, and enter the goal at that side. Boxes `aside` form a column beyond the lanes; at
    least one box is not `aside`.
    """
    main = {box.name: None for box in boxes if not box.aside}
    inner = [(x.start, x.goal) for x in links if {x.start, x.goal} <= main.keys() and not x.aside]
    known = {box.name: box for box in boxes}
    port_plan = plan_ports(known, links, layers(list(main), inner))
    geometry = DiagramGeometry(known, port_plan, measure)
    return _shifted(geometry.places, list(routes(geometry)), measure)


def _shifted(
    places: Mapping[str, BoxPlacement], found: Sequence[Route], measure: Measure
) -> DiagramLayout:
    """Return the layout with its upper left corner at 0, 0."""
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
