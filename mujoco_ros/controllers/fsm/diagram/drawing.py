"""The picture of a controller, drawn from its table, as SVG."""

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape

from mujoco_ros.controllers.fsm.diagram.layout.layout import lay_out
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    BoxPlacement,
    DiagramBox,
    DiagramLayout,
    DiagramLink,
    Measure,
    Point,
    Route,
)
from mujoco_ros.controllers.fsm.diagram.svg import (
    BLUE,
    FAINT,
    FONT,
    GREEN,
    HEAD,
    INK,
    LARGE,
    PAPER,
    RED,
    ROUND,
    Stroke,
    arrows,
    head,
    rect,
    text,
    text_width,
)
from mujoco_ros.controllers.fsm.table import (
    CompositeState,
    Parallel,
    StateDef,
    Table,
    TransitionDef,
)
from mujoco_ros.controllers.fsm.transition import Trigger

_HEIGHT, _TITLE, _PAD, _MARGIN = 38.0, 24.0, 14.0, 14.0
_START = 22.0
"""So far above its state the dot is where a machine begins [px]."""
_WRAP = 26
"""Letters of a line on an arrow."""
_ANY = "any state"
_MEASURE = Measure(width=text_width, head=HEAD)
_STROKES = {
    "outcome": Stroke(INK, False),
    "strict": Stroke(INK, True),
    "request": Stroke(BLUE, True),
    "failure": Stroke(RED, False),
    "strict failure": Stroke(RED, True),
}


def draw(table: Table) -> str:
    """Return the picture of a table as SVG."""
    level = table.root.work
    assert isinstance(level, CompositeState)
    figure = _level(level)
    width, height = figure.width + 2.0 * _MARGIN, figure.height + 2.0 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}">',
            f"<title>{escape(table.name)}</title>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="{PAPER}"/>',
            *figure.at(_MARGIN, _MARGIN),
            "</svg>",
            "",
        ]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Figure:
    """A part of the picture, drawn with its upper left corner at 0, 0."""

    width: float
    height: float
    lines: tuple[str, ...]

    def at(self, x: float, y: float) -> Iterator[str]:
        """Yield it, put somewhere."""
        yield f'<g transform="translate({x:.1f} {y:.1f})">'
        yield from self.lines
        yield "</g>"


def _level(level: CompositeState) -> _Figure:
    """Draw a machine or sub-machine."""
    rows = level.rows
    main = _main(level)
    rest = [name for name in rows if name not in main]
    order = [level.initial, *(n for n in rows if n in main and n != level.initial), *rest]
    inside = {name: _inside(rows[name]) for name in order}
    boxes = [
        DiagramBox(
            name=name, width=inside[name].width, height=inside[name].height, aside=name in rest
        )
        for name in order
    ]
    links = list(_links(rows))
    for goal in dict.fromkeys(link.goal for link in links if link.start.startswith(_ANY)):
        width = text_width(_ANY) + 2.0 * _PAD
        boxes.append(DiagramBox(name=f"{_ANY} {goal}", width=width, height=20.0, aside=True))
    layout = lay_out(boxes, links, _MEASURE)
    return _drawn(layout, level, inside)


def _main(level: CompositeState) -> set[str]:
    """Return the states that one comes to without a failure."""
    found, edge = {level.initial}, [level.initial]
    while edge:
        for arrow in level.rows[edge.pop()].arrows.values():
            if arrow.goal not in found and not (arrow.failure or arrow.from_any):
                found.add(arrow.goal)
                edge.append(arrow.goal)
    return {n for n in found if n == level.initial or not level.rows[n].failure}


def _links(rows: Mapping[str, StateDef]) -> Iterator[DiagramLink]:
    """Yield the arrows: those of one kind between two states are one; so are those from any."""
    labels: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in rows.values():
        for arrow in row.arrows.values():
            is_any = arrow.from_any and arrow.trigger is Trigger.REQUEST
            start = f"{_ANY} {arrow.goal}" if is_any else row.name
            known = labels[start, arrow.goal, _kind(arrow)]
            if arrow.label not in known:
                known.append(arrow.label)
    for (start, goal, kind), said in labels.items():
        lines = tuple(textwrap.wrap(", ".join(said), _WRAP, break_long_words=False))
        yield DiagramLink(start=start, goal=goal, lines=lines, kind=kind, aside="failure" in kind)


def _kind(arrow: TransitionDef) -> str:
    if arrow.trigger is Trigger.REQUEST:
        return "request"
    strict = arrow.trigger is Trigger.STRICT
    if arrow.failure:
        return "strict failure" if strict else "failure"
    return "strict" if strict else "outcome"


def _inside(row: StateDef) -> _Figure:
    """Draw what is in a state's box, which may grow."""
    match row.work:
        case CompositeState() as level:
            return _framed(row, _level(level))
        case Parallel() as parallel:
            return _framed(row, _branches(parallel))
    width = max(text_width(row.name, LARGE, bold=True), text_width(_note(row))) + 2.0 * _PAD
    return _Figure(width=max(width, 64.0), height=_HEIGHT, lines=())


def _note(row: StateDef) -> str:
    """Return what the second line of a state says."""
    cls = getattr(row.work, "cls", None)
    parts = [cls.__name__] if cls is not None else []
    parts += [f"≤ {row.timeout:g} s"] if row.timeout else []
    parts += [f"ends: {row.outcome}"] if row.outcome else []
    return " · ".join(parts)


def _framed(row: StateDef, figure: _Figure) -> _Figure:
    width = max(figure.width, text_width(row.name, LARGE, bold=True) + text_width(_note(row)) + 20)
    return _Figure(
        width=width + 2.0 * _PAD,
        height=figure.height + _TITLE + 1.5 * _PAD,
        lines=tuple(figure.at(_PAD + 0.5 * (width - figure.width), _TITLE + 0.5 * _PAD)),
    )


def _branches(parallel: Parallel) -> _Figure:
    """Draw states side by side, and below them how they end."""
    figures = {name: _inside(row) for name, row in parallel.branches.items()}
    lines: list[str] = []
    x, height = 0.0, max(figure.height for figure in figures.values())
    for number, (name, figure) in enumerate(figures.items()):
        if number:
            lines.append(
                f'<path d="M{x:.1f} 0V{height:.1f}" stroke="{FAINT}" stroke-dasharray="2 3"/>'
            )
            x += _PAD
        place = BoxPlacement(
            x=x, y=0.5 * (height - figure.height), width=figure.width, height=figure.height
        )
        lines += _state(parallel.branches[name], place, figure, is_failure=False)
        x += figure.width + _PAD
    y = height
    joins = [
        " and ".join(f"{n} {outcome}" for n, outcome in join.when.items()) + f" → {join.outcome}"
        for join in parallel.joins
    ]
    for join in joins:
        y += 14.0
        lines.append(text(Point(0.0, y), join, FAINT))
    width = max(x - _PAD, *map(text_width, joins)) if joins else x - _PAD
    return _Figure(width=width, height=y + (4.0 if joins else 0.0), lines=tuple(lines))


def _drawn(layout: DiagramLayout, level: CompositeState, inside: Mapping[str, _Figure]) -> _Figure:
    lines: list[str] = []
    lines += _begin(layout.places[level.initial])
    shared: dict[tuple[str, str], list[Route]] = defaultdict(list)
    for route in layout.routes:
        shared[route.link.goal, route.link.kind].append(route)
    for (_, kind), routes in shared.items():
        lines += arrows([route.points for route in routes], _STROKES[kind])
    for name, place in layout.places.items():
        if name in level.rows:
            row = level.rows[name]
            lines += _state(row, place, inside[name], is_failure=_is_failure(row, level))
        else:
            lines += _pill(place)
    for route in layout.routes:
        colour = _STROKES[route.link.kind].colour
        lines += [
            text(at, line, colour, "end" if ends else "start", halo=True)
            for at, line, ends in route.texts
        ]
    figure = _Figure(width=layout.width, height=layout.height, lines=tuple(lines))
    top = max(0.0, _START - layout.places[level.initial].y)
    return replace(figure, height=figure.height + top, lines=tuple(figure.at(0.0, top)))


def _is_failure(row: StateDef, level: CompositeState) -> bool:
    """Return whether a state is one of failure, or what only failures lead to."""
    leading = [
        arrow.failure
        for other in level.rows.values()
        for arrow in other.arrows.values()
        if arrow.goal == row.name and arrow.trigger is not Trigger.REQUEST
    ]
    return row.failure or (bool(leading) and all(leading) and row.name != level.initial)


def _state(
    row: StateDef, place: BoxPlacement, figure: _Figure, *, is_failure: bool
) -> Iterator[str]:
    is_end = row.outcome is not None
    edge = RED if is_failure else GREEN if is_end else BLUE
    fill = "#fbeef1" if is_failure else "#edf6f0" if is_end else "#eef4fa"
    if figure.lines:
        fill = "#fbfcfd"
    yield rect(place, fill, edge, 1.4)
    if is_end:
        inset = BoxPlacement(
            x=place.x + 3, y=place.y + 3, width=place.width - 6, height=place.height - 6
        )
        yield rect(inset, "none", edge, 0.8, ROUND - 2.5)
    middle, note = place.middle, _note(row)
    if figure.lines:
        at = Point(place.x + _PAD, place.y + 18.0)
        yield text(at, row.name, INK, size=LARGE, bold=True)
        if note:
            x = at.x + text_width(row.name, LARGE, bold=True) + 8.0
            yield text(Point(x, at.y), note, FAINT)
        # The box may have grown with its arrows; what is in it stays in its middle.
        yield from figure.at(
            place.x + 0.5 * (place.width - figure.width),
            place.y + 0.5 * (place.height - figure.height),
        )
        return
    up = -2.0 if note else 4.0
    yield text(Point(middle.x, middle.y + up), row.name, INK, "middle", size=LARGE, bold=True)
    if note:
        yield text(Point(middle.x, middle.y + 12.0), note, FAINT, "middle")


def _pill(place: BoxPlacement) -> Iterator[str]:
    yield rect(place, PAPER, BLUE, 1.0, 0.5 * place.height, dashed=True)
    yield text(Point(place.middle.x, place.middle.y + 3.5), _ANY, BLUE, "middle")


def _begin(place: BoxPlacement) -> Iterator[str]:
    """Draw where the machine begins, above the first state."""
    x, y = place.middle.x, place.y
    yield f'<circle cx="{x:.1f}" cy="{y - _START + 4:.1f}" r="4" fill="{INK}"/>'
    yield f'<path d="M{x:.1f} {y - _START:.1f}V{y - 6:.1f}" stroke="{INK}" stroke-width="1.3"/>'
    yield head(Point(x, y), Point(x, y - HEAD + 1.0), INK)
