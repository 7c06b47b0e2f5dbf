"""State diagram of a controller as SVG, drawn from its table."""

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import hypot
from xml.sax.saxutils import escape

from mujoco_ros.controllers.fsm.diagram_layout import (
    BoxPlacement,
    DiagramBox,
    DiagramLayout,
    DiagramLink,
    Measure,
    Point,
    Route,
    lay_out,
)
from mujoco_ros.controllers.fsm.table import (
    CompositeState,
    ParallelState,
    StateDef,
    Table,
    TransitionDef,
    Trigger,
)

_INK, _FAINT, _BLUE, _RED = "#1d2b38", "#51606e", "#2f6fad", "#b8405e"
_GREEN, _PAPER = "#3d8b57", "#ffffff"
_FONT = "Helvetica, Arial, sans-serif"
_SMALL, _LARGE = 10.0, 12.0
"""Font sizes."""
_ROUND = 7.0
"""Corner radius of a box."""
_HEAD = 8.0
"""Length of an arrow head."""
_BOLD = 1.09
_WIDTHS = (
    dict.fromkeys("ijl.,:;'|!", 0.31)
    | dict.fromkeys(" ft()[]/-r", 0.40)
    | dict.fromkeys("mMW@%", 0.96)
    | dict.fromkeys("wABCDEGHKNOPQRSUVXYZ", 0.74)
)
_HEIGHT, _TITLE, _PAD, _MARGIN, _LINE = 38.0, 24.0, 14.0, 14.0, 12.0
_START = 22.0
"""Height of the initial dot above the initial state [px]."""
_WRAP = 26
"""Characters in a line on an arrow."""
_ANY = "any state"
_STROKES: dict[str, tuple[str, bool]] = {
    "outcome": (_INK, False),
    "strict": (_INK, True),
    "request": (_BLUE, True),
    "failure": (_RED, False),
    "strict failure": (_RED, True),
}


def draw(table: Table) -> str:
    """Return the diagram of a table as SVG; without the extra ``diagrams`` it has no arrows."""
    composite = table.root.kind
    assert isinstance(composite, CompositeState)
    figure = _composite(composite)
    width, height = figure.width + 2.0 * _MARGIN, figure.height + 2.0 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{_FONT}">',
            f"<title>{escape(table.name)}</title>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="{_PAPER}"/>',
            *figure.at(_MARGIN, _MARGIN),
            "</svg>",
            "",
        ]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Figure:
    """A part of the diagram with its upper left corner at 0, 0."""

    width: float
    height: float
    lines: tuple[str, ...]

    def at(self, x: float, y: float) -> Iterator[str]:
        """Yield the figure, moved to a position."""
        yield f'<g transform="translate({x:.1f} {y:.1f})">'
        yield from self.lines
        yield "</g>"


def _composite(composite: CompositeState) -> _Figure:
    states, initial = composite.states, composite.initial
    order = [initial, *(name for name in states if name != initial)]
    contents = {name: _content(states[name]) for name in order}
    boxes = [
        DiagramBox(name=name, width=content.width, height=content.height)
        for name, content in contents.items()
    ]
    links = list(_links(states))
    for goal in dict.fromkeys(link.goal for link in links if link.start.startswith(_ANY)):
        width = _text_width(_ANY) + 2.0 * _PAD
        boxes.append(DiagramBox(name=f"{_ANY} {goal}", width=width, height=20.0))
    return _drawn(lay_out(boxes, links, Measure(width=_text_width)), composite, contents)


def _links(states: Mapping[str, StateDef]) -> Iterator[DiagramLink]:
    """Yield one link for all transitions of one kind between two states, or from any state."""
    labels: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for state in states.values():
        for it in state.transitions.values():
            is_any = it.from_any and it.trigger is Trigger.REQUEST
            known = labels[f"{_ANY} {it.goal}" if is_any else state.name, it.goal, _kind(it)]
            if it.label not in known:
                known.append(it.label)
    for (start, goal, kind), listed in labels.items():
        lines = tuple(textwrap.wrap(", ".join(listed), _WRAP, break_long_words=False))
        yield DiagramLink(start=start, goal=goal, lines=lines, kind=kind, aside="failure" in kind)


def _kind(definition: TransitionDef) -> str:
    """Return the key of the transition in `_STROKES`."""
    if definition.trigger is Trigger.REQUEST:
        return "request"
    is_strict = definition.trigger is Trigger.STRICT
    if definition.failure:
        return "strict failure" if is_strict else "failure"
    return "strict" if is_strict else "outcome"


def _content(state: StateDef) -> _Figure:
    """Draw the content of a state's box; its size is the minimum size of the box."""
    match state.kind:
        case CompositeState() as composite:
            return _framed(state, _composite(composite))
        case ParallelState() as parallel:
            return _framed(state, _branches(parallel))
    width = max(_text_width(state.name, _LARGE, bold=True), _text_width(_note(state))) + 2.0 * _PAD
    return _Figure(width=max(width, 64.0), height=_HEIGHT, lines=())


def _note(state: StateDef) -> str:
    """Return the second line of a state: its class, robot, timeout and outcome."""
    cls = getattr(state.kind, "cls", None)
    notes = [cls.__name__] if cls is not None else []
    notes += [state.robot] if state.robot else []
    notes += [f"≤ {state.timeout:g} s"] if state.timeout else []
    notes += [f"ends: {state.outcome}"] if state.outcome else []
    return " · ".join(notes)


def _framed(state: StateDef, figure: _Figure) -> _Figure:
    title = _text_width(state.name, _LARGE, bold=True) + _text_width(_note(state)) + 20
    width = max(figure.width, title)
    return _Figure(
        width=width + 2.0 * _PAD,
        height=figure.height + _TITLE + 1.5 * _PAD,
        lines=tuple(figure.at(_PAD + 0.5 * (width - figure.width), _TITLE + 0.5 * _PAD)),
    )


def _branches(parallel: ParallelState) -> _Figure:
    """Draw branches side by side, with the joins below."""
    figures = {name: _content(branch) for name, branch in parallel.branches.items()}
    lines: list[str] = []
    x, height = 0.0, max(figure.height for figure in figures.values())
    for number, (name, figure) in enumerate(figures.items()):
        if number:
            lines.append(
                f'<path d="M{x:.1f} 0V{height:.1f}" stroke="{_FAINT}" stroke-dasharray="2 3"/>'
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
        lines.append(_text(Point(0.0, y), join, _FAINT))
    width = max(x - _PAD, *map(_text_width, joins)) if joins else x - _PAD
    return _Figure(width=width, height=y + (4.0 if joins else 0.0), lines=tuple(lines))


def _drawn(
    layout: DiagramLayout, composite: CompositeState, contents: Mapping[str, _Figure]
) -> _Figure:
    initial = layout.places[composite.initial]
    lines = list(_initial_arrow(initial))
    for route in layout.routes:
        lines += _arrow(route)
    for name, place in layout.places.items():
        if name in composite.states:
            state = composite.states[name]
            is_failure = _is_failure(state, composite)
            lines += _state(state, place, contents[name], is_failure=is_failure)
        else:
            lines += _any_state(place)
    for route in layout.routes:
        colour, _ = _STROKES[route.link.kind]
        for number, line in enumerate(route.link.lines, 1):
            at = Point(route.text.x, route.text.y + _LINE * number - 3.0)
            lines.append(_text(at, line, colour, halo=True))
    top = max(0.0, _START - initial.y)
    figure = _Figure(width=layout.width, height=layout.height, lines=tuple(lines))
    return replace(figure, height=figure.height + top, lines=tuple(figure.at(0.0, top)))


def _is_failure(state: StateDef, composite: CompositeState) -> bool:
    """Return whether a state ends in failure, or is reached only by failures."""
    failures = [
        it.failure
        for other in composite.states.values()
        for it in other.transitions.values()
        if it.goal == state.name and it.trigger is not Trigger.REQUEST
    ]
    is_reached_by_failures = bool(failures) and all(failures) and state.name != composite.initial
    return state.failure or is_reached_by_failures


def _state(
    state: StateDef, place: BoxPlacement, figure: _Figure, *, is_failure: bool
) -> Iterator[str]:
    is_end = state.outcome is not None
    edge = _RED if is_failure else _GREEN if is_end else _BLUE
    fill = "#fbeef1" if is_failure else "#edf6f0" if is_end else "#eef4fa"
    if figure.lines:
        fill = "#fbfcfd"
    yield _rect(place, fill, edge, 1.4)
    if is_end:
        inset = BoxPlacement(
            x=place.x + 3, y=place.y + 3, width=place.width - 6, height=place.height - 6
        )
        yield _rect(inset, "none", edge, 0.8, _ROUND - 2.5)
    middle, note = place.middle, _note(state)
    if figure.lines:
        at = Point(place.x + _PAD, place.y + 18.0)
        yield _text(at, state.name, _INK, size=_LARGE, bold=True)
        if note:
            x = at.x + _text_width(state.name, _LARGE, bold=True) + 8.0
            yield _text(Point(x, at.y), note, _FAINT)
        # The box may be larger than its content, because of its arrows.
        yield from figure.at(
            place.x + 0.5 * (place.width - figure.width),
            place.y + 0.5 * (place.height - figure.height),
        )
        return
    up = -2.0 if note else 4.0
    yield _text(Point(middle.x, middle.y + up), state.name, _INK, "middle", size=_LARGE, bold=True)
    if note:
        yield _text(Point(middle.x, middle.y + 12.0), note, _FAINT, "middle")


def _any_state(place: BoxPlacement) -> Iterator[str]:
    yield _rect(place, _PAPER, _BLUE, 1.0, 0.5 * place.height, dashed=True)
    yield _text(Point(place.middle.x, place.middle.y + 3.5), _ANY, _BLUE, "middle")


def _initial_arrow(place: BoxPlacement) -> Iterator[str]:
    """Draw the dot and the arrow that mark the initial state."""
    x, y = place.middle.x, place.y
    yield f'<circle cx="{x:.1f}" cy="{y - _START + 4:.1f}" r="4" fill="{_INK}"/>'
    yield f'<path d="M{x:.1f} {y - _START:.1f}V{y - 6:.1f}" stroke="{_INK}" stroke-width="1.3"/>'
    yield _head(Point(x, y), Point(x, y - _HEAD + 1.0), _INK)


def _text_width(text: str, size: float = _SMALL, *, bold: bool = False) -> float:
    """Return the approximate width of a text in the wider of the common fonts."""
    width = size * sum(_WIDTHS.get(letter, 0.62) for letter in text)
    return width * _BOLD if bold else width


def _arrow(route: Route) -> Iterator[str]:
    """Yield an arrow on a white outline, and its head."""
    colour, is_dashed = _STROKES[route.link.kind]
    start, *controls = (f"{x:.1f} {y:.1f}" for x, y in route.points)
    path = f"M{start}C{' '.join(controls)}"
    dash = ' stroke-dasharray="5 3"' if is_dashed else ""
    yield f'<path d="{path}" fill="none" stroke="{_PAPER}" stroke-width="4"/>'
    yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.3"{dash}/>'
    yield _head(route.tip, route.points[-1], colour)


def _head(tip: Point, foot: Point, colour: str) -> str:
    """Return an arrow head."""
    dx, dy = tip.x - foot.x, tip.y - foot.y
    length = hypot(dx, dy) or 1.0
    wide = 0.45 * length
    across = Point(-dy / length * wide, dx / length * wide)
    return (
        f'<path d="M{tip.x:.1f} {tip.y:.1f}L{foot.x + across.x:.1f} {foot.y + across.y:.1f}'
        f'L{foot.x - across.x:.1f} {foot.y - across.y:.1f}Z" fill="{colour}"/>'
    )


def _rect(
    place: BoxPlacement,
    fill: str,
    edge: str,
    width: float,
    radius: float = _ROUND,
    dashed: bool = False,
) -> str:
    """Return a box with rounded corners."""
    dash = ' stroke-dasharray="3 2"' if dashed else ""
    return (
        f'<rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="{radius:g}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{width:g}"{dash}/>'
    )


def _text(
    at: Point,
    text: str,
    colour: str,
    anchor: str = "start",
    *,
    size: float = _SMALL,
    bold: bool = False,
    halo: bool = False,
) -> str:
    """Return a line of text; `halo` draws a white outline around it."""
    weight = ' font-weight="bold"' if bold else ""
    outline = ' stroke="#ffffff" stroke-width="3" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{at.x:.1f}" y="{at.y:.1f}" font-size="{size:g}" fill="{colour}" '
        f'text-anchor="{anchor}"{weight}{outline}>{escape(text)}</text>'
    )
