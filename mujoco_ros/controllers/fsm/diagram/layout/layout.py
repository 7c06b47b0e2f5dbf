"""Layout of a diagram of boxes and arrows, in rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from mujoco_ros.controllers.fsm.diagram.layout.geometry import DiagramGeometry
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    BoxPlacement,
    DiagramBox,
    DiagramLayout,
    DiagramLink,
    Measure,
    Point,
    Route,
    Text,
    plan_ports,
)
from mujoco_ros.controllers.fsm.diagram.layout.routes import routes

_SWEEPS = 4


def layers(names: Sequence[str], arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the rows, the first name on top; boxes of a row are near their predecessors.

    Boxes are given in their preferred order; arrows that close a loop are ignored.
    """
    onward = _without_loops(names, arrows)
    depth = dict.fromkeys(names, 0)
    for name in reversed([*TopologicalSorter(onward).static_order()]):
        for goal in onward[name]:
            depth[goal] = max(depth[goal], depth[name] + 1)
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        rows[depth[name]].append(name)
    _untangle(rows, onward)
    return rows


def _without_loops(names: Sequence[str], arrows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the successors of each box, without the arrows that close a loop."""
    goals: dict[str, list[str]] = {name: [] for name in names}
    for start, goal in arrows:
        goals[start].append(goal)
    onward: dict[str, list[str]] = {name: [] for name in names}
    done: set[str] = set()
    for first in names:
        if first in done:
            continue
        trail, rest = [first], [iter(goals[first])]
        while trail:
            goal = next(rest[-1], "")
            if not goal:
                done.add(trail.pop())
                rest.pop()
            elif goal not in trail:
                onward[trail[-1]].append(goal)
                if goal not in done:
                    trail.append(goal)
                    rest.append(iter(goals[goal]))
    return onward


def _untangle(rows: list[list[str]], onward: Mapping[str, Sequence[str]]) -> None:
    """Order each row by the mean position of its neighbours, in sweeps down and up."""
    above: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for start, goals in onward.items():
        for goal in goals:
            above[goal].append(start)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            at = {n: i - 0.5 * len(r) for r in rows for i, n in enumerate(r)}
            near = above if down else onward
            key = {n: sum(at[o] for o in near[n]) / len(near[n]) if near[n] else at[n] for n in row}
            row.sort(key=key.__getitem__)


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
